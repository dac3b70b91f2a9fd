package io.quartermaster.workloads;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quarkus.scheduler.Scheduled;
import io.quartermaster.platform.SystemDatabase;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.TenantTransactions;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.OptionalLong;

/** Reads the feed that the leader writes, and drops of it what is too old to be resumed. */
@ApplicationScoped
class FeedStore {

    /** Entries read in one go. */
    static final int MAX_PAGE = 500;
    /** Old entries dropped in one go. */
    private static final int MAX_DROPPED = 20_000;

    private static final String AFTER = """
            select cast(json_strip_nulls(json_build_object('seq', f.seq, 'kind', f.kind, 'event', json_build_object(
                       'workload', f.ref, 'at', f.at, 'state', f.body -> 'state', 'reason', f.body -> 'reason', 'message', f.body -> 'message', 'attempt', f.body -> 'attempt',
                       'pool', f.body -> 'pool', 'rule', f.body -> 'rule', 'cause', f.body -> 'cause', 'forWorkload', f.body -> 'for',
                       'endReason', f.body -> 'end_reason'))) as text)
              from feed f where f.tenant_id = :tenant and f.seq > :after order by f.seq limit :most
            """;

    private final TenantTransactions transactions;
    private final SystemDatabase system;
    private final ObjectMapper json;
    private final WorkloadsConfig config;

    FeedStore(TenantTransactions transactions, SystemDatabase system, ObjectMapper json, WorkloadsConfig config) {
        this.transactions = transactions;
        this.system = system;
        this.json = json;
        this.config = config;
    }

    /** One entry; its number is the id of the event. */
    record Entry(long seq, String kind, WatchApi.Event event) {}

    /** In the order of their numbers. */
    Uni<List<Entry>> after(TenantId tenant, long seq) {
        return transactions.in(tenant, session -> session.createNativeQuery(AFTER, String.class)
                .setParameter("tenant", tenant.value())
                .setParameter("after", seq)
                .setParameter("most", MAX_PAGE)
                .getResultList()
                .map(rows -> rows.stream().map(this::read).toList()));
    }

    /** The number of the newest entry; zero when there is none. */
    Uni<Long> newest(TenantId tenant) {
        return transactions.in(tenant, session -> session.createNativeQuery(
                        "select coalesce(max(seq), 0) from feed where tenant_id = :tenant", Long.class)
                .setParameter("tenant", tenant.value())
                .getSingleResult());
    }

    /**
     * Whether everything after this number is still there: the entry itself is, or an older one. Empty when the tenant's feed holds nothing
     * as old, else the number to go on from.
     */
    Uni<OptionalLong> resumable(TenantId tenant, long seq) {
        return transactions
                .in(tenant, session -> session.createNativeQuery(
                                "select count(*) from (select 1 from feed where tenant_id = :tenant and seq <= :seq limit 1) f",
                                Long.class)
                        .setParameter("tenant", tenant.value())
                        .setParameter("seq", seq)
                        .getSingleResult())
                .map(older -> older > 0 || seq == 0 ? OptionalLong.of(seq) : OptionalLong.empty());
    }

    /** The newest entry of each tenant stays, so that a view of a quiet tenant can always be resumed. */
    @Scheduled(every = "10m", delayed = "1m", concurrentExecution = Scheduled.ConcurrentExecution.SKIP)
    Uni<Void> dropOld() {
        OffsetDateTime before = OffsetDateTime.now(ZoneOffset.UTC).minus(config.feedKept());
        return system.on(connection -> connection
                .preparedQuery("""
                        delete from feed where (tenant_id, seq) in (
                            select f.tenant_id, f.seq from feed f
                             where f.at < $1 and f.seq < (select max(g.seq) from feed g where g.tenant_id = f.tenant_id) limit $2)
                        """)
                .execute(Tuple.of(before, MAX_DROPPED))
                .replaceWithVoid());
    }

    private Entry read(String row) {
        try {
            return json.readValue(row, Entry.class);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("an entry of the feed cannot be read", e);
        }
    }
}
