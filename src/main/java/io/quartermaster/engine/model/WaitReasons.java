package io.quartermaster.engine.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Why a workload waits: one reason per pool that it may use, in its order of pools. */
public record WaitReasons(WorkloadId workload, List<Reason> perPool) {

    public WaitReasons {
        perPool = List.copyOf(perPool);
        if (perPool.isEmpty()) {
            throw new IllegalArgumentException("workload " + workload + " waits without a reason");
        }
    }

    /** What makes a reason another one: its code, its pool, the path it names; not the numbers. */
    public record Kind(Reason.Code code, PoolId pool, Optional<QuotaPath> path) {}

    public static List<Kind> kinds(List<Reason> reasons) {
        List<Kind> kinds = new ArrayList<>(reasons.size());
        reasons.forEach(reason -> kinds.add(new Kind(reason.code(), reason.pool(), reason.path())));
        return kinds;
    }

    /** The workload's own reason: its first pool's. */
    public Reason reason() {
        return perPool.getFirst();
    }
}
