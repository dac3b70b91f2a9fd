package io.quartermaster.engine.simulation;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.WorkloadId;
import java.util.List;
import java.util.Optional;

/** Expectation of a scenario: claims that must hold at a moment, after the plans of that moment. */
public record Expectation(long atMillis, List<Claim> claims) {

    public Expectation {
        claims = List.copyOf(claims);
    }

    /** Claim that must hold. */
    public sealed interface Claim {
        record Running(WorkloadId workload) implements Claim {}

        /** Exactly these workloads run. */
        record OnlyRunning(List<WorkloadId> workloads) implements Claim {
            public OnlyRunning {
                workloads = List.copyOf(workloads);
            }
        }

        /**
         * The workers are on these nodes; each node occurs once per worker on it. A single name means that all workers
         * are on that node, or in that pool.
         */
        record On(WorkloadId workload, List<String> places) implements Claim {
            public On {
                places = List.copyOf(places);
            }
        }

        record Pending(WorkloadId workload, Optional<Reason.Code> code) implements Claim {}

        record Preempted(WorkloadId workload) implements Claim {}

        record NotPreempted(WorkloadId workload) implements Claim {}

        record UsedByPath(QuotaPath path, long gpuMilli) implements Claim {}

        record UsedInPool(PoolId pool, long gpuMilli) implements Claim {}

        record Free(PoolId pool, long gpuMilli) implements Claim {}

        /** This number of the workloads {@code prefix-1}, {@code prefix-2} ... run. */
        record CountRunning(String prefix, int count) implements Claim {}

        record SameDomain(WorkloadId workload, String level) implements Claim {}
    }
}
