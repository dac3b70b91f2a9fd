package io.quartermaster.engine.preemption;

import io.quartermaster.engine.WorkloadId;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How often each workload was told to stop since something last came from outside. The rights to reclaim compare
 * shares, but devices are not divisible: where GPUs are in the wrong pieces, two groups can each have a right to what
 * the other was just given. This bound ends such a to and fro: whoever was stopped so often is let alone until there
 * is news, so the plans of one instant always come to an end.
 */
public final class Stops {
    private static final int MOST = 3;

    private final SortedMap<WorkloadId, Integer> counts = new TreeMap<>();

    /** Counts a stop. */
    public void add(WorkloadId workload) {
        counts.merge(workload, 1, Integer::sum);
    }

    /** Something came from outside: everybody may be stopped again. */
    public void forget() {
        counts.clear();
    }

    /** Takes over what a snapshot says. */
    public void restore(SortedMap<WorkloadId, Integer> from) {
        counts.putAll(from);
    }

    public SortedMap<WorkloadId, Integer> counts() {
        return Collections.unmodifiableSortedMap(counts);
    }

    boolean mayStop(WorkloadId workload) {
        return counts.getOrDefault(workload, 0) < MOST;
    }
}
