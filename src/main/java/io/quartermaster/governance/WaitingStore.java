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
 * What the change of a rule means for work: what waits in queues that are retired is cancelled or moved, by wishes that the leader then
 * fulfils; what is held is only counted. Queues are retired before this is asked, so that no submission can slip in behind it.
 */
@ApplicationScoped
class WaitingStore {

    /** However many wait, a refusal names the oldest few. */
    private static final int MAX_NAMED = 5;

    private static final String WAITS =
            " tenant_id = :tenant and queue_id in (:queues) and state in ('held', 'waiting', 'paused') and wish <> 'cancel'";

    private final WaitingMoveGuard guard;

    WaitingStore(WaitingMoveGuard guard) {
        this.guard = guard;
    }

    /** Answers how many were touched. */
    Uni<Long> settle(Mutiny.Session session, TenantRules after, List<Queue> retired, WaitingWorkPolicy how) {
        if (retired.isEmpty()) {
            return Uni.createFrom().item(0L);
        }
        return switch (how) {
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
                .setMaxResults(MAX_NAMED)
                .getResultList()
                .map(names -> {
                    String more = count > names.size() ? " and " + (count - names.size()) + " more" : "";
                    throw new ProblemException(Problem.of(
                            409,
                            "work-is-waiting",
                            GpuFormat.count(count, "workload", "wait") + " in what would be retired: "
                                    + String.join(", ", names) + more,
                            List.of(new Problem.Field(
                                    "onWaiting", "say what becomes of them", WaitingWorkPolicy.ACCEPTED))));
                });
    }

    private Uni<Long> move(
            Mutiny.Session session, TenantRules after, List<Queue> retired, WaitingWorkPolicy.Move move) {
        Queue target = after.queue(move.queue())
                .orElseThrow(() -> ProblemException.invalid(
                        "moveTo",
                        "there is no queue " + move.queue() + " that stays",
                        "the name of a queue that is not retired"));
        if (target.terms().state() == QueueState.DRAINING) {
            throw new ProblemException(Problem.of(
                    409,
                    "queue-draining",
                    "queue " + target.name() + " is draining: it takes no more work",
                    List.of(new Problem.Field("moveTo", "is draining", "the name of a queue that takes work"))));
        }
        return guard.check(session, after.tenant(), retired, target)
                .chain(() -> update(
                        session,
                        after.tenant(),
                        retired,
                        "place = null, queue_id = '" + target.id() + "', policy_id = '" + target.policy()
                                + "', profile_id = '" + target.profile() + "'"));
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

    /** What the tenant's work holds, in the order of its start. */
    Uni<List<ChangeImpact.Held>> held(Mutiny.Session session, TenantId tenant) {
        return session.createNativeQuery("""
                        select a.pool_id, w.policy_id, a.gpu_milli, w.preemptible
                        from attempt a join workload w on w.tenant_id = a.tenant_id and w.id = a.workload_id
                        where a.tenant_id = :tenant and a.state <> 'ended' order by a.bound_at, a.id
                        """, Object[].class)
                .setParameter("tenant", tenant.value())
                .getResultList()
                .map(rows -> rows.stream()
                        .map(row -> new ChangeImpact.Held(
                                new PoolId(String.valueOf(row[0])),
                                (UUID) row[1],
                                ((Number) row[2]).longValue(),
                                Boolean.TRUE.equals(row[3])))
                        .toList());
    }
}
