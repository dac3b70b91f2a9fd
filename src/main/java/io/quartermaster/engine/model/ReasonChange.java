package io.quartermaster.engine.model;

import java.util.List;

/** Workloads whose reasons changed to the given ones: one reason per pool, in their common order of pools. */
public record ReasonChange(List<Reason> perPool, List<Workload> workloads) {

    public ReasonChange {
        perPool = List.copyOf(perPool);
        workloads = List.copyOf(workloads);
        if (perPool.isEmpty() || workloads.isEmpty()) {
            throw new IllegalArgumentException("a change of reasons must have a workload and a reason");
        }
    }
}
