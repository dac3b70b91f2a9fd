package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.WorkloadId;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Counts, for each workload, the evictions and the gains since the last external event. The rights to reclaim compare
 * shares, but GPUs are indivisible. Where free GPUs have the wrong sizes, two groups can each have a right to what the
 * other group has just received. This bound ends such a cycle. A workload that was evicted and has gained again
 * {@link #MAX_EVICTIONS} times is no victim until the next external event. Therefore the plans of one
 * instant always come to an end. A workload that only loses workers may lose more, since that comes to an end by
 * itself.
 */
public final class ChurnGuard {
    private static final int MAX_EVICTIONS = 3;

    /** Odd from an eviction until the next gain. Half of the number, rounded up, is the number of evictions. */
    private final Map<WorkloadId, Integer> turns = new HashMap<>();

    private boolean protectsSome;
    private boolean freedSome;

    /** Records that the workload, or some of its workers, are evicted. */
    public void recordEviction(WorkloadId workload) {
        turns.compute(workload, (id, turn) -> turn == null ? 1 : turn | 1);
    }

    /** Records that the workload starts or grows. */
    public void recordGain(WorkloadId workload) {
        turns.computeIfPresent(workload, (id, turn) -> turn + (turn & 1));
        protectsSome |= !mayEvict(workload);
    }

    /** Forgets all counts after an external event, so that every workload may be evicted again. */
    public void forget() {
        freedSome |= protectsSome;
        protectsSome = false;
        turns.clear();
    }

    /** Whether work may be evicted again that could not be before the last call. */
    public boolean takeFreedSome() {
        boolean freed = freedSome;
        freedSome = false;
        return freed;
    }

    /** Restores the counts of a snapshot. */
    public void restore(SortedMap<WorkloadId, Integer> from) {
        turns.putAll(from);
        from.keySet().forEach(workload -> protectsSome |= !mayEvict(workload));
    }

    /** The evictions and gains of each workload, counted together. */
    public SortedMap<WorkloadId, Integer> turns() {
        return new TreeMap<>(turns);
    }

    boolean mayEvict(WorkloadId workload) {
        return turns.getOrDefault(workload, 0) < 2 * MAX_EVICTIONS;
    }
}
