package io.quartermaster.engine.model;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Workload as the engine sees it. It is always complete: a newer value replaces the older one.
 *
 * @param path the path of the policy under which it was submitted
 * @param user its submitter, for caps per user: an id that is unique forever, not a name
 * @param queue the queue to which it was submitted, for queues of strict order
 * @param pools its pools in order of preference
 * @param priority a higher priority goes first within its path
 * @param dedicatedOnly whether it runs only while its whole path stays within the reserved amounts
 * @param movesBack whether the engine moves it, if possible, once it fits in a pool that it prefers to its current one
 * @param submittedMillis when it was submitted
 * @param sequence decides between workloads submitted in the same millisecond; unique
 * @param maxRuntimeMillis the upper bound of its run time that the engine may assume
 * @param held whether it must not start
 * @param nomination its nominated place, from a {@link Decision.Nominate} until a {@link Decision.WithdrawNomination};
 *     also set while the workload is stopping in order to move there
 */
public record Workload(
        WorkloadId id,
        QuotaPath path,
        Optional<String> user,
        Optional<ProfileId> profile,
        Optional<QueueId> queue,
        Shape shape,
        List<PoolId> pools,
        int priority,
        boolean preemptible,
        boolean dedicatedOnly,
        boolean movesBack,
        long submittedMillis,
        long sequence,
        OptionalLong maxRuntimeMillis,
        boolean held,
        WorkloadPhase state,
        Optional<Allocation> nomination) {

    /** The priority of work that is submitted without one. */
    public static final int DEFAULT_PRIORITY = 50;

    public Workload {
        pools = List.copyOf(pools);
        if (pools.isEmpty()) {
            throw new IllegalArgumentException("workload " + id + " has no pool");
        }
    }

    /** Creates a waiting, preemptible workload of default priority. */
    public static Workload waiting(
            WorkloadId id, QuotaPath path, Shape shape, List<PoolId> pools, long submittedMillis, long sequence) {
        return new Workload(
                id,
                path,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                shape,
                pools,
                DEFAULT_PRIORITY,
                true,
                false,
                false,
                submittedMillis,
                sequence,
                OptionalLong.empty(),
                false,
                WorkloadPhase.waiting(),
                Optional.empty());
    }

    /** The one node on which it may start; empty if it may start on any node or already holds devices. */
    public Optional<NodeId> pinnedNode() {
        return state instanceof WorkloadPhase.Waiting waiting ? waiting.pinnedNode() : Optional.empty();
    }

    /**
     * The beginning of its wait. A wait for a start begins with the submission, or with the return to the queue after
     * an interruption. A wait for more workers begins with the start.
     */
    public long waitsSinceMillis() {
        return switch (state) {
            case WorkloadPhase.Waiting waiting -> waiting.atHeadSinceMillis().orElse(submittedMillis);
            case WorkloadPhase.Holding holding -> holding.startedMillis();
        };
    }

    public Workload withState(WorkloadPhase next) {
        return new Workload(
                id,
                path,
                user,
                profile,
                queue,
                shape,
                pools,
                priority,
                preemptible,
                dedicatedOnly,
                movesBack,
                submittedMillis,
                sequence,
                maxRuntimeMillis,
                held,
                next,
                nomination);
    }

    public Workload withNomination(Optional<Allocation> place) {
        return new Workload(
                id,
                path,
                user,
                profile,
                queue,
                shape,
                pools,
                priority,
                preemptible,
                dedicatedOnly,
                movesBack,
                submittedMillis,
                sequence,
                maxRuntimeMillis,
                held,
                state,
                place);
    }

    /** A copy that is held: it must neither start nor grow. */
    public Workload asHeld() {
        return new Workload(
                id,
                path,
                user,
                profile,
                queue,
                shape,
                pools,
                priority,
                preemptible,
                dedicatedOnly,
                movesBack,
                submittedMillis,
                sequence,
                maxRuntimeMillis,
                true,
                state,
                nomination);
    }
}
