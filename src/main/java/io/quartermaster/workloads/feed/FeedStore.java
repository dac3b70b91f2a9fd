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

    /** The most entries that one call reads. */
    static final int MAX_PAGE = 500;

    private static final String AFTER = """
            select cast(json_strip_nulls(json_build_object('seq', f.seq, 'kind', f.kind, 'event', json_build_object(
                       'workload', f.ref, 'at', f.at, 'state', f.body -> 'state', 'reason', f.body -> 'reason', 'message', f.body -> 'message',
                        'attempt', f.body -> 'attempt',
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

    /** Reads the entries after a number, in the order of their numbers. */
    Uni<List<Entry>> readAfter(TenantId tenant, long seq) {
        return transactions.in(tenant, session -> session.createNativeQuery(AFTER, String.class)
                .setParameter("tenant", tenant.value())
                .setParameter("after", seq)
                .setParameter("most", MAX_PAGE)
                .getResultList()
                .map(rows -> rows.stream().map(this::read).toList()));
    }

    /** The number of the newest entry; zero if there is none. */
    Uni<Long> newestSeq(TenantId tenant) {
        return transactions.in(tenant, session -> session.createNativeQuery(
                        "select coalesce(max(seq), 0) from feed where tenant_id = :tenant", Long.class)
                .setParameter("tenant", tenant.value())
                .getSingleResult());
    }

    /**
     * Whether every entry after this number still exists: the entry itself or an older one exists, or no entry of the
     * tenant's new feed was deleted yet. Empty if entries are missing, otherwise the number from which to continue.
     */
    Uni<OptionalLong> resumableSeq(TenantId tenant, long seq) {
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
            throw new IllegalStateException("could not read an entry of the feed", e);
        }
    }
}
