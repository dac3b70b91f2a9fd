package io.quartermaster.engine.model;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A unit of work as the engine sees it. Always stated in full: the newest statement replaces the one before.
 *
 * @param path the policy it was submitted under
 * @param user whose it is, for caps per user: an id that is nobody else's ever, not a name
 * @param queue in which it was submitted, for queues of strict order
 * @param pools in order of preference
 * @param priority higher goes first within its path
 * @param dedicatedOnly runs only while its whole path stays within what is reserved
 * @param movesBack moved, where it can be, once there is room for it in a pool that it prefers to the one it runs in
 * @param submittedMillis when it was submitted
 * @param sequence breaks ties among those submitted in one millisecond; unique
 * @param maxRuntimeMillis what may be assumed as an upper bound of its running time
 * @param held not to be started
 * @param nomination the place kept for it, as a {@link Decision.Nominate} said and no {@link Decision.WithdrawNomination} took
 *     back; also for one that is stopping because it moves there
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

    /** The priority of work that states none. */
    public static final int DEFAULT_PRIORITY = 50;

    public Workload {
        pools = List.copyOf(pools);
        if (pools.isEmpty()) {
            throw new IllegalArgumentException("workload " + id + " names no pool");
        }
    }

    /** A waiting, preemptible workload of default priority. */
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

    /** The one node that it may start on; empty for any, and for one that holds devices already. */
    public Optional<NodeId> only() {
        return state instanceof WorkloadPhase.Waiting waiting ? waiting.only() : Optional.empty();
    }

    /**
     * Since when it waits: for its start since it was submitted, or was queued again after it was stopped against its will; for more
     * workers since it runs.
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

    /** The same, not to be started and not to grow. */
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
