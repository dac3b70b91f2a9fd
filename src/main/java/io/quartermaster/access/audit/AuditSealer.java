package io.quartermaster.access.audit;

import io.quarkus.scheduler.Scheduled;
import io.quartermaster.platform.Fingerprint;
import io.quartermaster.platform.db.SystemDatabase;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.vertx.core.buffer.Buffer;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Seals audit entries into one hash chain per tenant, after they have been committed:
 * {@code hash = SHA-256(content of the entry, its number in the chain, the hash before it)}. An entry that commits late
 * is sealed late; the chain's order is the order of sealing. An advisory lock per tenant makes sure that only one
 * replica adds to a chain.
 */
@ApplicationScoped
public class AuditSealer {

    static final int BATCH_SIZE = 500;
    static final int MAX_TENANTS_PER_ROUND = 200;
    private static final Logger LOG = Logger.getLogger(AuditSealer.class);
    static final String HASH_BEFORE_FIRST = "";

    private record ChainEnd(long seq, String hash) {}

    private final SystemDatabase database;

    AuditSealer(SystemDatabase database) {
        this.database = database;
    }

    @Scheduled(
            every = "${quartermaster.access.seal-every:2s}",
            concurrentExecution = Scheduled.ConcurrentExecution.SKIP)
    Uni<Void> sealRegularly() {
        return sealAll()
                .onFailure()
                .invoke(e -> LOG.warnf("audit entries could not be sealed: %s", e.getMessage()))
                .onFailure()
                .recoverWithNull();
    }

    /** Seals one batch of each tenant that has unsealed entries. */
    public Uni<Void> sealAll() {
        return database.on(connection -> connection
                        .preparedQuery("select distinct tenant_id from audit_entry where seq is null limit $1")
                        .execute(Tuple.of(MAX_TENANTS_PER_ROUND)))
                .onItem()
                .transformToMulti(rows -> Multi.createFrom().iterable(rows))
                .onItem()
                .transformToUniAndConcatenate(
                        row -> database.in(connection -> seal(connection, row.getString("tenant_id"))))
                .collect()
                .last()
                .replaceWithVoid();
    }

    private Uni<Void> seal(SqlConnection connection, String tenant) {
        return connection
                .preparedQuery("select pg_try_advisory_xact_lock(hashtextextended('audit:' || $1, 0)) as mine")
                .execute(Tuple.of(tenant))
                .chain(rows -> rows.iterator().next().getBoolean("mine")
                        ? readChainEnd(connection, tenant).chain(end -> seal(connection, tenant, end))
                        : Uni.createFrom().voidItem());
    }

    private static Uni<ChainEnd> readChainEnd(SqlConnection connection, String tenant) {
        return connection
                .preparedQuery(
                        "select seq, hash from audit_entry where tenant_id = $1 and seq is not null order by seq "
                                + "desc limit 1")
                .execute(Tuple.of(tenant))
                .map(rows -> {
                    for (Row row : rows) {
                        return new ChainEnd(
                                row.getLong("seq"),
                                HexFormat.of().formatHex(row.getBuffer("hash").getBytes()));
                    }
                    return new ChainEnd(0, HASH_BEFORE_FIRST);
                });
    }

    private static Uni<Void> seal(SqlConnection connection, String tenant, ChainEnd end) {
        return connection
                .preparedQuery("select " + COLUMNS
                        + " from audit_entry where tenant_id = $1 and seq is null order by id limit $2")
                .execute(Tuple.of(tenant, BATCH_SIZE))
                .chain(rows -> rows.size() == 0 ? Uni.createFrom().voidItem() : write(connection, tenant, end, rows));
    }

    public static final String COLUMNS =
            "id, to_char(at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US') as at, actor, actor_realm, "
                    + "action, resource, cast(before as text) as before, cast(after as text) as after, request_id, format";

    private static Uni<Void> write(SqlConnection connection, String tenant, ChainEnd end, RowSet<Row> rows) {
        List<UUID> ids = new ArrayList<>();
        List<Long> seqs = new ArrayList<>();
        List<Buffer> previous = new ArrayList<>();
        List<Buffer> hashes = new ArrayList<>();
        ChainEnd last = end;
        for (Row row : rows) {
            ChainEnd next = new ChainEnd(last.seq() + 1, hash(tenant, last.seq() + 1, last.hash(), row));
            ids.add(row.getUUID("id"));
            seqs.add(next.seq());
            previous.add(bytes(last.hash()));
            hashes.add(bytes(next.hash()));
            last = next;
        }
        return connection
                .preparedQuery("update audit_entry e set seq = s.seq, prev_hash = s.prev, hash = s.hash from "
                        + "unnest($2::uuid[], $3::bigint[], $4::bytea[], $5::bytea[]) as s(id, seq, prev, hash) "
                        + "where e.tenant_id = $1 and e.id = s.id")
                .execute(Tuple.tuple()
                        .addString(tenant)
                        .addValue(ids.toArray(UUID[]::new))
                        .addValue(seqs.toArray(Long[]::new))
                        .addValue(previous.toArray(Buffer[]::new))
                        .addValue(hashes.toArray(Buffer[]::new)))
                .replaceWithVoid();
    }

    /** The hash of format 1. {@code row} has {@link #COLUMNS}. */
    static String hash(String tenant, long seq, String previous, Row row) {
        return Fingerprint.of(
                String.valueOf(row.getInteger("format")),
                tenant,
                String.valueOf(seq),
                previous,
                row.getUUID("id").toString(),
                row.getString("at"),
                row.getString("actor"),
                row.getString("actor_realm"),
                row.getString("action"),
                row.getString("resource"),
                present(row.getString("before")),
                present(row.getString("after")),
                present(row.getString("request_id")));
    }

    /** An absent value and an empty one must give different texts. */
    private static String present(@Nullable String text) {
        return text == null ? "-" : "+" + text;
    }

    private static Buffer bytes(String hex) {
        return Buffer.buffer(HexFormat.of().parseHex(hex));
    }
}
