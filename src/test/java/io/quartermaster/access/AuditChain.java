package io.quartermaster.access;

import io.quartermaster.platform.SystemDatabase;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.Tuple;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.StreamSupport;

/** The chain of a tenant's audit entries, worked out anew. */
public final class AuditChain {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private AuditChain() {}

    /** Number of the first entry whose hash is not what it should be; 0 when all are. */
    public static long brokenAt(SystemDatabase database, String tenant) {
        String previous = "";
        for (Row row : sealed(database, tenant)) {
            String hash = AuditSealer.hash(tenant, row.getLong("seq"), previous, row);
            String stored = HexFormat.of().formatHex(row.getBuffer("hash").getBytes());
            if (!hash.equals(stored)) {
                return row.getLong("seq");
            }
            previous = stored;
        }
        return 0;
    }

    /** The sealed entries in the order of the chain. */
    static List<Row> sealed(SystemDatabase database, String tenant) {
        return database.on(connection -> connection
                        .preparedQuery("select seq, hash, " + AuditSealer.COLUMNS
                                + " from audit_entry where tenant_id = $1 and seq is not null order by seq")
                        .execute(Tuple.of(tenant)))
                .map(rows -> StreamSupport.stream(rows.spliterator(), false).toList())
                .await()
                .atMost(PATIENCE);
    }
}
