package io.quartermaster.engine.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reasons why a workload waits: one per pool that it may use, in its order of pools. */
public record WaitReasons(WorkloadId workload, List<Reason> perPool) {

    public WaitReasons {
        perPool = List.copyOf(perPool);
        if (perPool.isEmpty()) {
            throw new IllegalArgumentException("workload " + workload + " waits without a reason");
        }
    }

    /** Identity of a reason: its code, its pool and the path that it names, but not its numbers. */
    public record Kind(Reason.Code code, PoolId pool, Optional<QuotaPath> path) {}

    public static List<Kind> kinds(List<Reason> reasons) {
        List<Kind> kinds = new ArrayList<>(reasons.size());
        reasons.forEach(reason -> kinds.add(new Kind(reason.code(), reason.pool(), reason.path())));
        return kinds;
    }

    /** The reason of the first pool. */
    public Reason reason() {
        return perPool.getFirst();
    }
}
