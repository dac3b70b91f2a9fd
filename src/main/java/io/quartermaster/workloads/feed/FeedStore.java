package io.quartermaster.workloads.feed;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.workloads.WorkloadsConfig;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.OptionalLong;

/** Reads the feed that the leader writes. */
@ApplicationScoped
class FeedStore {

    /** Entries read in one go. */
    static final int MAX_PAGE = 500;

    private static final String AFTER = """
            select cast(json_strip_nulls(json_build_object('seq', f.seq, 'kind', f.kind, 'event', json_build_object(
                       'workload', f.ref, 'at', f.at, 'state', f.body -> 'state', 'reason', f.body -> 'reason', 'message', f.body -> 'message', 'attempt', f.body -> 'attempt',
                       'pool', f.body -> 'pool', 'rule', f.body -> 'rule', 'cause', f.body -> 'cause', 'forWorkload', f.body -> 'for',
                       'endReason', f.body -> 'end_reason'))) as text)
              from feed f where f.tenant_id = :tenant and f.seq > :after order by f.seq limit :most
            """;

    private final TenantTransactions transactions;
    private final ObjectMapper json;
    private final WorkloadsConfig config;

    FeedStore(TenantTransactions transactions, ObjectMapper json, WorkloadsConfig config) {
        this.transactions = transactions;
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
     * Whether everything after this number is still there: the entry itself is, or an older one, or the tenant is so new that nothing of its
     * feed was dropped. Empty when the tenant's feed holds nothing
     * as old, else the number to go on from.
     */
    Uni<OptionalLong> resumable(TenantId tenant, long seq) {
        return transactions
                .in(tenant, session -> session.createNativeQuery("""
                                select exists (select 1 from feed where tenant_id = :tenant and seq <= :seq)
                                    or exists (select 1 from tenant where id = :tenant
                                                  and created_at > clock_timestamp() - :kept * interval '1 millisecond')
                                """, Boolean.class)
                        .setParameter("tenant", tenant.value())
                        .setParameter("seq", seq)
                        .setParameter("kept", config.feedKept().toMillis())
                        .getSingleResult())
                .map(whole -> whole || seq == 0 ? OptionalLong.of(seq) : OptionalLong.empty());
    }

    private Entry read(String row) {
        try {
            return json.readValue(row, Entry.class);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("an entry of the feed cannot be read", e);
        }
    }
}
