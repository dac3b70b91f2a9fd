package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.WorkloadId;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How often each workload was told to stop, and got something again, since something last came from outside. The rights
 * to reclaim compare shares, but devices are not divisible: where GPUs are in the wrong pieces, two groups can each have
 * a right to what the other was just given. This bound ends such a to and fro: whoever was stopped and started again so
 * often is let alone until there is news, so the plans of one instant always come to an end. Who only loses, one worker
 * after the other, goes on losing: that comes to an end by itself.
 */
public final class ChurnGuard {
    private static final int MOST = 3;

    /** Odd while a workload was told to stop and got nothing since; half of it, rounded up, is how often it was told. */
    private final Map<WorkloadId, Integer> turns = new HashMap<>();

    /** It is told to stop, or to let go of some workers. */
    public void recordEviction(WorkloadId workload) {
        turns.compute(workload, (id, turn) -> turn == null ? 1 : turn | 1);
    }

    /** It starts, or grows. */
    public void recordGain(WorkloadId workload) {
        turns.computeIfPresent(workload, (id, turn) -> turn + (turn & 1));
    }

    /** Something came from outside: everybody may be stopped again. */
    public void forget() {
        turns.clear();
    }

    /** Takes over what a snapshot says. */
    public void restore(SortedMap<WorkloadId, Integer> from) {
        turns.putAll(from);
    }

    /** How often each was told to stop and got something again, counted together. */
    public SortedMap<WorkloadId, Integer> turns() {
        return new TreeMap<>(turns);
    }

    boolean mayEvict(WorkloadId workload) {
        return turns.getOrDefault(workload, 0) < 2 * MOST;
    }
}
