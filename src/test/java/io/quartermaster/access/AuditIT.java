package io.quartermaster.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.platform.SystemDatabase;
import io.quartermaster.platform.TenantId;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

@QuarkusTest
class AuditIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Caller OPERATOR = new Caller(
            new Realm.Operator(),
            "1",
            "someone",
            Set.of(Role.OPERATOR),
            Set.of(),
            Optional.empty(),
            Optional.empty(),
            "r-1");

    @Inject
    AuditLog log;

    @Inject
    AuditSealer sealer;

    @Inject
    SystemDatabase database;

    @Test
    void entriesAreChainedPerTenantAndAnAlteredOneShows() {
        TenantId a = new TenantId("audit-a");
        TenantId b = new TenantId("audit-b");
        for (int n = 0; n < 3; n++) {
            write(a, n);
            write(b, n);
        }

        sealer.sealAll().await().atMost(PATIENCE);
        write(a, 3);
        sealer.sealAll().await().atMost(PATIENCE);

        assertThat(brokenAt(a)).isZero();
        assertThat(brokenAt(b)).isZero();
        assertThat(entries(a)).extracting(row -> row.getLong("seq")).containsExactly(1L, 2L, 3L, 4L);
        database.on(connection -> connection
                        .preparedQuery("update audit_entry set actor = 'nobody' where tenant_id = $1 and seq = 2")
                        .execute(Tuple.of(a.value())))
                .await()
                .atMost(PATIENCE);
        assertThat(brokenAt(a)).isEqualTo(2);
        assertThat(brokenAt(b)).isZero();
    }

    private void write(TenantId tenant, int n) {
        database.in(connection -> log.record(
                        connection,
                        tenant,
                        OPERATOR,
                        new AuditLog.Change("things:create", "things/" + n, null, Map.of("n", n))))
                .await()
                .atMost(PATIENCE);
    }

    /** Number of the first entry whose hash is not what it should be; 0 when all are. */
    private long brokenAt(TenantId tenant) {
        String previous = "";
        for (Row row : entries(tenant)) {
            String hash = AuditSealer.hash(tenant.value(), row.getLong("seq"), previous, row);
            String stored = HexFormat.of().formatHex(row.getBuffer("hash").getBytes());
            if (!hash.equals(stored)) {
                return row.getLong("seq");
            }
            previous = stored;
        }
        return 0;
    }

    private List<Row> entries(TenantId tenant) {
        return database.on(connection -> connection
                        .preparedQuery("select seq, hash, " + AuditSealer.COLUMNS
                                + " from audit_entry where tenant_id = $1 order by seq")
                        .execute(Tuple.of(tenant.value())))
                .map(rows -> StreamSupport.stream(rows.spliterator(), false).toList())
                .await()
                .atMost(PATIENCE);
    }
}
