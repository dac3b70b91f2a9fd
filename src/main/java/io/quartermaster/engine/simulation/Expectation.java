package io.quartermaster.engine.simulation;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.WorkloadId;
import java.util.List;
import java.util.Optional;

/** What must be true at a moment, after the plans of that instant. */
public record Expectation(long atMillis, List<Claim> claims) {

    public Expectation {
        claims = List.copyOf(claims);
    }

    /** One thing that must be true. */
    public sealed interface Claim {
        record Running(WorkloadId workload) implements Claim {}

        /** These run and no others. */
        record OnlyRunning(List<WorkloadId> workloads) implements Claim {
            public OnlyRunning {
                workloads = List.copyOf(workloads);
            }
        }

        /** Its workers are on these nodes, each named as often as it has a worker there; one name: all are on that node, or in that pool. */
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

        /** So many of {@code prefix-1}, {@code prefix-2} ... run. */
        record CountRunning(String prefix, int count) implements Claim {}

        record SameDomain(WorkloadId workload, String level) implements Claim {}
    }
}
