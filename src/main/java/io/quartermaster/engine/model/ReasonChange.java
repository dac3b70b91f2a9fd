package io.quartermaster.engine.model;

import java.util.List;

/** Work that waits for the same reasons, which were not its reasons before: one per pool, in its order of pools. */
public record ReasonChange(List<Reason> perPool, List<Workload> workloads) {

    public ReasonChange {
        perPool = List.copyOf(perPool);
        workloads = List.copyOf(workloads);
        if (perPool.isEmpty() || workloads.isEmpty()) {
            throw new IllegalArgumentException("news are told to somebody and give a reason");
        }
    }
}
