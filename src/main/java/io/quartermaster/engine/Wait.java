package io.quartermaster.engine;

import java.util.List;

/** Why a workload waits: one reason per pool that it may use, in its order of pools. */
public record Wait(WorkloadId workload, List<Reason> perPool) {

    public Wait {
        perPool = List.copyOf(perPool);
        if (perPool.isEmpty()) {
            throw new IllegalArgumentException("workload " + workload + " waits without a reason");
        }
    }

    /** The workload's own reason: its first pool's. */
    public Reason reason() {
        return perPool.getFirst();
    }
}
