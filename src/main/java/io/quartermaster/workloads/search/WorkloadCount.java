package io.quartermaster.workloads.search;

import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** The number of workloads that match a filter. */
@Schema(name = "WorkloadCount")
public record WorkloadCount(
        @Schema(description = "The number of workloads that match. It stops at 10000.")
        long count,

        @Schema(description = "False if the count has stopped at 10000, so that more workloads may match.")
        boolean complete,

        @Schema(description = "The counted workloads by their state. A state without a workload is absent.")
        Map<String, Long> states) {

    /** The most matching workloads that a count reads. */
    static final int MOST = 10_000;

    public WorkloadCount {
        states = Map.copyOf(states);
    }

    static WorkloadCount of(Map<String, Long> states) {
        long count = states.values().stream().mapToLong(Long::longValue).sum();
        return new WorkloadCount(count, count < MOST, states);
    }
}
