package io.quartermaster.workloads.logs;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads the output that agents reported. */
@ApplicationScoped
class LogStore {

    /** The most outputs of one attempt that a stream follows: one per node, and one per surplus worker. */
    static final int MOST_OUTPUTS = 256;

    /** The outputs of one attempt that were reported lately, so that a quiet output is not read each time. */
    private static final String READ = """
            select cast(json_build_object('state', w.state, 'attempts', w.attempts,
                       'attempt', (select json_build_object('ended', t.state = 'ended')
                             from attempt t where t.tenant_id = w.tenant_id and t.workload_id = w.id
                                 and t.number = :number and t.worker is null),
                       'outputs', (select coalesce(json_agg(o order by o.worker), '[]') from (
                           -- A surplus worker that came again has a newer output.
                           select distinct on (k.worker) k.worker, r.reported_at as at, r.log_bytes as bytes,
                                  r.log_tail as tail, a.state = 'ended' as ended
                             from attempt a
                             join report r on r.tenant_id = a.tenant_id and r.attempt_id = a.id
                             join lateral (select coalesce(a.worker, (select min(d.worker) from allocation_device d
                                       where d.tenant_id = r.tenant_id and d.attempt_id = r.attempt_id
                                         and d.node_id = r.node_id), 0) as worker) k on true
                            where a.tenant_id = w.tenant_id and a.workload_id = w.id and a.number = :number
                              and r.log_tail is not null and r.log_bytes > 0
                              and r.reported_at >= :since
                            order by k.worker, a.bound_at desc limit :most) o)) as text)
              from workload w where w.tenant_id = :tenant and w.id = :id
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
     */
    record Outputs(String state, int attempts, @Nullable OneAttempt attempt, List<Output> outputs) {}

    record OneAttempt(boolean ended) {}

    /**
     * The stored end of one output.
     *
     * @param at when it was reported
     * @param bytes the length of the whole output
     */
    record Output(int worker, Instant at, long bytes, String tail, boolean ended) {}

    /**
     * Empty if there is no such workload.
     *
     * @param since outputs that were reported before this time are left out
     */
    Uni<Optional<Outputs>> read(TenantId tenant, UUID workload, int attempt, Instant since) {
        return transactions.in(tenant, session -> session.createNativeQuery(READ, String.class)
                .setParameter("tenant", tenant.value())
                .setParameter("id", workload)
                .setParameter("number", attempt)
                .setParameter("since", since.atOffset(ZoneOffset.UTC))
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
