package io.quartermaster.governance;

import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.governance.rules.Queue;
import io.quartermaster.governance.rules.QueueState;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.governance.rules.WaitingWorkPolicy;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.UUID;
import org.hibernate.reactive.mutiny.Mutiny;

/**
 * The effect of a change of rules on work. It cancels or moves the work that waits in retired queues: it writes the
 * desired state, and the leader then acts on it. It only counts running work. Queues are retired first, so that no
 * submission can enter them after this step.
 */
@ApplicationScoped
class WaitingStore {

    /** A refusal names only the oldest few waiting workloads. */
    private static final int MAX_LISTED = 5;

    private static final String WAITS =
            " tenant_id = :tenant and queue_id in (:queues) and state in ('held', 'waiting', 'paused') and wish "
                    + "<> 'cancel'";

    private final WaitingMoveGuard guard;

    WaitingStore(WaitingMoveGuard guard) {
        this.guard = guard;
    }

    /** Returns the number of workloads cancelled or moved. */
    Uni<Long> apply(
            Mutiny.Session session, TenantRules after, List<Queue> retired, WaitingWorkPolicy waitingWorkPolicy) {
        if (retired.isEmpty()) {
            return Uni.createFrom().item(0L);
        }
        return switch (waitingWorkPolicy) {
            case WaitingWorkPolicy.Refuse refuse -> refuseIfAny(session, after.tenant(), retired);
            case WaitingWorkPolicy.Cancel cancel -> update(session, after.tenant(), retired, "wish = 'cancel'");
            case WaitingWorkPolicy.Move move -> move(session, after, retired, move);
        };
    }

    private static Uni<Long> refuseIfAny(Mutiny.Session session, TenantId tenant, List<Queue> retired) {
        return session.createNativeQuery("select count(*) from workload where" + WAITS, Long.class)
                .setParameter("tenant", tenant.value())
                .setParameter("queues", ids(retired))
                .getSingleResult()
                .chain(count -> count == 0 ? Uni.createFrom().item(0L) : refuse(session, tenant, retired, count));
    }

    private static Uni<Long> refuse(Mutiny.Session session, TenantId tenant, List<Queue> retired, long count) {
        return session.createNativeQuery("select name from workload where" + WAITS + " order by id", String.class)
                .setParameter("tenant", tenant.value())
                .setParameter("queues", ids(retired))
                .setMaxResults(MAX_LISTED)
                .getResultList()
                .map(names -> {
                    String more = count > names.size() ? " and " + (count - names.size()) + " more" : "";
                    throw new ProblemException(Problem.of(
                            409,
                            "work-is-waiting",
                            GpuFormat.count(count, "workload", "wait") + " in queues that this call would retire: "
                                    + String.join(", ", names) + more,
                            List.of(new Problem.Field(
                                    "onWaiting",
                                    "choose what the service does with them",
                                    WaitingWorkPolicy.ACCEPTED))));
                });
    }

    private Uni<Long> move(
            Mutiny.Session session, TenantRules after, List<Queue> retired, WaitingWorkPolicy.Move move) {
        Queue target = after.queue(move.queue())
                .orElseThrow(() -> ProblemException.invalid(
                        "moveTo",
                        "there is no queue " + move.queue() + ", or this call retires it",
                        "the name of a queue that this call does not retire"));
        if (target.terms().state() == QueueState.DRAINING) {
            throw new ProblemException(Problem.of(
                    409,
                    "queue-draining",
                    "queue " + target.name() + " is draining: it accepts no more work",
                    List.of(new Problem.Field(
                            "moveTo", "is draining", "the name of a queue that accepts submissions"))));
        }
        return guard.check(session, after.tenant(), retired, target)
                .chain(() -> update(
                        session,
                        after.tenant(),
                        retired,
                        "version = version + 1, place = null, at_head_since = null, queue_id = '" + target.id()
                                + "', policy_id = '" + target.policy() + "', profile_id = '" + target.profile() + "'"));
    }

    private static Uni<Long> update(Mutiny.Session session, TenantId tenant, List<Queue> retired, String change) {
        return session.createNativeQuery("with touched as (update workload set " + change + " where" + WAITS
                        + " returning id) insert into inbox (tenant_id, kind, ref)"
                        + " select :tenant, 'workload', cast(id as text) from touched")
                .setParameter("tenant", tenant.value())
                .setParameter("queues", ids(retired))
                .executeUpdate()
                .map(Integer::longValue);
    }

    private static List<UUID> ids(List<Queue> queues) {
        return queues.stream().map(Queue::id).toList();
    }

    /** The allocations of the tenant's workloads, ordered by start. */
    Uni<List<ChangeImpact.HeldAmount>> heldAmounts(Mutiny.Session session, TenantId tenant) {
        return session.createNativeQuery("""
                        select a.pool_id, w.policy_id, a.gpu_milli, w.preemptible
                        from attempt a join workload w on w.tenant_id = a.tenant_id and w.id = a.workload_id
                        where a.tenant_id = :tenant and a.state <> 'ended' order by a.bound_at, a.id
                        """, Object[].class)
                .setParameter("tenant", tenant.value())
                .getResultList()
                .map(rows -> rows.stream()
                        .map(row -> new ChangeImpact.HeldAmount(
                                new PoolId(String.valueOf(row[0])),
                                (UUID) row[1],
                                ((Number) row[2]).longValue(),
                                Boolean.TRUE.equals(row[3])))
                        .toList());
    }
}
