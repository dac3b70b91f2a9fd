package io.quartermaster.workloads;

import io.quartermaster.access.AccessRule;
import io.quartermaster.access.QueueAccessRules;
import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.governance.WaitingMoveGuard;
import io.quartermaster.governance.rules.Queue;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether a queue can take the waiting workloads of retired queues. It checks the queue's free places, and the
 * type, GPUs, priority and submitters of the workloads, as for submissions. A submitter's groups are known only during
 * the submitter's own calls. So a submitter counts as admitted in two cases: the queue's access rules admit everyone
 * that the rules of the present queue admit, or they name the submitter.
 */
@ApplicationScoped
class MovedWorkValidator implements WaitingMoveGuard {

    private static final String FIELD = "moveTo";
    /** The most submitters that a refusal names. */
    private static final int MAX_LISTED = 5;

    private static final String WAITS =
            " from workload where tenant_id = :tenant and queue_id in (:queues) and state in ('held', 'waiting', "
                    + "'paused') and wish <> 'cancel'";

    private final QueueDirectory queues;
    private final SubmissionAdmission submissionAdmission;

    MovedWorkValidator(QueueDirectory queues, SubmissionAdmission submissionAdmission) {
        this.queues = queues;
        this.submissionAdmission = submissionAdmission;
    }

    /**
     * Workloads with the same requirements for the target's profile and policy.
     *
     * @param underPolicy whether they are under the target's policy already, so that the move gives them no other
     *     rights
     */
    private record WorkloadKind(
            WorkloadType type,
            OptionalInt gpus,
            OptionalInt minGpus,
            int priority,
            boolean preemptible,
            boolean underPolicy,
            int count) {}

    @Override
    public Uni<Void> check(Mutiny.Session session, TenantId tenant, List<Queue> sources, Queue target) {
        List<UUID> ids = sources.stream().map(Queue::id).toList();
        return queues.read(session, tenant, Set.of(target.name()))
                .map(terms -> {
                    QueueTerms found = terms.get(target.name());
                    if (found == null) {
                        throw new IllegalStateException("queue " + target.name() + " no longer exists");
                    }
                    return found;
                })
                .chain(terms -> readKinds(session, tenant, ids, target.policy())
                        .invoke(kinds -> kinds.forEach(kind -> requireFits(kind, terms)))
                        .chain(kinds -> requireRoom(session, tenant, terms, kinds))
                        .chain(() -> readSubmitters(session, tenant, ids))
                        .chain(submitters -> readRules(session, tenant, ids)
                                .invoke(rules -> requireAdmitted(submitters, rules, terms))))
                .replaceWithVoid();
    }

    private Uni<Void> requireRoom(
            Mutiny.Session session, TenantId tenant, QueueTerms target, List<WorkloadKind> kinds) {
        int moved = kinds.stream().mapToInt(WorkloadKind::count).sum();
        return moved == 0
                ? Uni.createFrom().voidItem()
                : submissionAdmission.requireRoom(
                        session,
                        tenant,
                        target.id(),
                        new SubmissionAdmission.Room(target.name(), target.maxWaiting(), moved));
    }

    private static void requireFits(WorkloadKind kind, QueueTerms target) {
        if (!kind.type().fits(target.gpus().any())) {
            throw refused(
                    "type-does-not-fit",
                    "a waiting workload has type " + kind.type().word() + ", which uses no GPU, but queue "
                            + target.name() + " has a profile with GPUs",
                    "a queue whose profile has no GPUs");
        }
        if (!target.gpus().allows(kind.gpus())) {
            throw refused(
                    "gpus-out-of-range",
                    "a waiting workload asks for " + GpuFormat.count(kind.gpus().getAsInt(), "GPU")
                            + " per worker, but queue " + target.name() + " does not give a worker that many",
                    "a queue whose profile allows "
                            + GpuFormat.count(kind.gpus().getAsInt(), "GPU") + " per worker");
        }
        if (!target.gpus().allowsAtLeast(kind.minGpus(), kind.gpus())) {
            throw refused(
                    "gpus-out-of-range",
                    "a waiting workload starts with "
                            + GpuFormat.count(kind.minGpus().getAsInt(), "GPU") + " per worker, but queue "
                            + target.name() + " does not give a worker that few",
                    "a queue whose profile allows "
                            + GpuFormat.count(kind.minGpus().getAsInt(), "GPU") + " per worker");
        }
        List<Problem.Field> objections = kind.underPolicy()
                ? List.of()
                : target.rights().objections("", kind.type(), kind.priority(), kind.preemptible());
        if (!objections.isEmpty()) {
            throw refused(
                    SubmissionRightsValidator.CODE,
                    objections.getFirst().message(),
                    "a queue whose policy allows it, or a change of this policy");
        }
    }

    private static void requireAdmitted(
            Map<UUID, Set<String>> submitters, Map<UUID, QueueAccessRules> rules, QueueTerms target) {
        Set<String> strangers = new TreeSet<>();
        submitters.forEach((queue, names) -> {
            QueueAccessRules own = rules.get(queue);
            if (own == null || !target.rules().include(own)) {
                names.stream().filter(name -> !target.rules().admitNamed(name)).forEach(strangers::add);
            }
        });
        if (!strangers.isEmpty()) {
            String more = strangers.size() > MAX_LISTED ? " and " + (strangers.size() - MAX_LISTED) + " more" : "";
            throw refused(
                    "submitter-not-admitted",
                    "no access rule of queue " + target.name() + " admits the submitters of the waiting workloads: "
                            + String.join(
                                    ", ", strangers.stream().limit(MAX_LISTED).toList()) + more,
                    "a queue whose access rules admit them; add a rule to this queue first");
        }
    }

    private static ProblemException refused(String code, String message, String accepted) {
        return new ProblemException(
                Problem.of(422, code, message, List.of(new Problem.Field(FIELD, message, accepted))));
    }

    private static Uni<List<WorkloadKind>> readKinds(
            Mutiny.Session session, TenantId tenant, List<UUID> sources, UUID targetPolicy) {
        return session.createNativeQuery(
                        "select type, gpus, min_gpus, priority, preemptible, policy_id = :policy, count(*)" + WAITS
                                + " group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6",
                        Object[].class)
                .setParameter("tenant", tenant.value())
                .setParameter("queues", sources)
                .setParameter("policy", targetPolicy)
                .getResultList()
                .map(rows -> rows.stream()
                        .map(row -> new WorkloadKind(
                                WorkloadType.of((String) row[0]),
                                optionalInt(row[1]),
                                optionalInt(row[2]),
                                ((Number) row[3]).intValue(),
                                Boolean.TRUE.equals(row[4]),
                                Boolean.TRUE.equals(row[5]),
                                Math.toIntExact(((Number) row[6]).longValue())))
                        .toList());
    }

    private static OptionalInt optionalInt(@Nullable Object column) {
        return column == null ? OptionalInt.empty() : OptionalInt.of(((Number) column).intValue());
    }

    private static Uni<Map<UUID, Set<String>>> readSubmitters(
            Mutiny.Session session, TenantId tenant, List<UUID> sources) {
        return session.createNativeQuery("select distinct queue_id, submitted_by" + WAITS, Object[].class)
                .setParameter("tenant", tenant.value())
                .setParameter("queues", sources)
                .getResultList()
                .map(rows -> {
                    Map<UUID, Set<String>> found = new HashMap<>();
                    rows.forEach(row -> found.computeIfAbsent((UUID) row[0], queue -> new TreeSet<>())
                            .add((String) row[1]));
                    return found;
                });
    }

    private static Uni<Map<UUID, QueueAccessRules>> readRules(
            Mutiny.Session session, TenantId tenant, List<UUID> queues) {
        return session.createNativeQuery(
                        "select queue_id, subject_kind, subject from access_rule where tenant_id = :tenant and "
                                + "queue_id in (:queues)",
                        Object[].class)
                .setParameter("tenant", tenant.value())
                .setParameter("queues", queues)
                .getResultList()
                .map(rows -> {
                    Map<UUID, List<AccessRule>> found = new HashMap<>();
                    for (Object[] row : rows) {
                        found.computeIfAbsent((UUID) row[0], queue -> new ArrayList<>())
                                .add(AccessRule.of(
                                        AccessRule.Kind.of((String) row[1]).orElseThrow(), (String) row[2]));
                    }
                    Map<UUID, QueueAccessRules> all = new HashMap<>();
                    found.forEach((queue, list) -> all.put(queue, new QueueAccessRules(list)));
                    return all;
                });
    }
}
