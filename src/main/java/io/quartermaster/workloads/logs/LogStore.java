package io.quartermaster.workloads.logs;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads the output that agents reported. */
@ApplicationScoped
class LogStore {

    /** The most workers of one attempt whose output a stream follows. */
    static final int MOST_FOLLOWED = 256;

    /** The most outputs of one read: each has up to 16 KiB. */
    static final int MOST_OUTPUTS = 32;

    /** Outputs of which the reader has everything are left out before their text is read. */
    private static final String READ = """
            select cast(json_build_object('state', w.state, 'attempts', w.attempts,
                       'attempt', (select json_build_object('ended', t.state = 'ended')
                             from attempt t where t.tenant_id = w.tenant_id and t.workload_id = w.id
                                 and t.number = :number and t.worker is null),
                       'workers', (select count(*) from newest),
                       'outputs', (select coalesce(json_agg(o order by o.worker <= :after, o.worker), '[]') from (
                           select f.worker, f.id as attempt, f.at, f.bytes, r.log_tail as tail, f.ended
                             from (select n.* from newest n order by n.worker limit :followed) f
                             join report r on r.ctid = f.stored
                            where coalesce(cast(cast(cast(:settled as text) as jsonb) ->> (cast(f.id as text) || ':'
                                  || cast(f.worker as text)) as bigint) <> f.bytes, true)
                            order by f.worker <= :after, f.worker limit :most) o)) as text)
              from workload w where w.tenant_id = :tenant and w.id = :id
            """;

    /** A surplus worker that came again has a newer output. */
    private static final String NEWEST = """
            with newest as materialized (
                select distinct on (k.worker) k.worker, a.id, r.reported_at as at, r.log_bytes as bytes,
                       a.state = 'ended' as ended, r.ctid as stored
                  from attempt a
                  join report r on r.tenant_id = a.tenant_id and r.attempt_id = a.id
                  join lateral (select coalesce(a.worker, (select min(d.worker) from allocation_device d
                            where d.tenant_id = r.tenant_id and d.attempt_id = r.attempt_id
                              and d.node_id = r.node_id), 0) as worker) k on true
                 where a.tenant_id = :tenant and a.workload_id = :id and a.number = :number
                   and r.log_tail is not null and r.log_bytes > 0
                 order by k.worker, a.bound_at desc)
            """;

    private final TenantTransactions transactions;
    private final ObjectMapper json;

    LogStore(TenantTransactions transactions, ObjectMapper json) {
        this.transactions = transactions;
        this.json = json;
    }

    /**
     * The output of an attempt.
     *
     * @param state of the workload
     * @param attempts the number of its newest attempt; 0 if there is none
     * @param attempt the attempt that was asked for; null if there is none
     * @param workers the number of its workers that have any output
     * @param outputs of the first {@link #MOST_FOLLOWED} workers, at most {@link #MOST_OUTPUTS}
     */
    record Outputs(String state, int attempts, @Nullable OneAttempt attempt, int workers, List<Output> outputs) {

        /** Whether more outputs may have something new. */
        boolean isFull() {
            return outputs.size() >= MOST_OUTPUTS;
        }
    }

    record OneAttempt(boolean ended) {}

    /**
     * The stored end of one output.
     *
     * @param attempt of the worker: a surplus worker that came again has another
     * @param at when it was reported
     * @param bytes the length of the whole output
     */
    record Output(int worker, UUID attempt, Instant at, long bytes, String tail, boolean ended) {

        /** Names the output among those of the workload. */
        String key() {
            return attempt + ":" + worker;
        }
    }

    /**
     * Empty if there is no such workload.
     *
     * @param after the outputs of later workers come first, so that a loud worker does not keep others from being read
     * @param settled the lengths of the outputs of which the reader has everything, by their keys
     */
    Uni<Optional<Outputs>> read(TenantId tenant, UUID workload, int attempt, int after, Map<String, Long> settled) {
        String known = json.valueToTree(settled).toString();
        return transactions.in(tenant, session -> session.createNativeQuery(NEWEST + READ, String.class)
                .setParameter("tenant", tenant.value())
                .setParameter("id", workload)
                .setParameter("number", attempt)
                .setParameter("after", after)
                .setParameter("settled", known)
                .setParameter("followed", MOST_FOLLOWED)
                .setParameter("most", MOST_OUTPUTS)
                .getSingleResultOrNull()
                .map(row -> Optional.ofNullable(row).map(this::read)));
    }

    private Outputs read(String row) {
        try {
            return json.readValue(row, Outputs.class);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("could not read the output of a workload", e);
        }
    }
}
