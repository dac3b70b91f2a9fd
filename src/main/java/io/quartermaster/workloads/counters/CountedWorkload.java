package io.quartermaster.workloads.counters;

import io.quartermaster.platform.TenantId;
import java.util.List;
import java.util.UUID;

/**
 * One workload in the live counters.
 *
 * @param pools the pools that it may use; while it waits, it counts in each of them
 * @param gpuMilli the amount of all workers together in each of these pools while it waits
 */
public record CountedWorkload(
        TenantId tenant, UUID id, UUID queue, UUID policy, List<UUID> pools, List<Long> gpuMilli, Place place) {

    public CountedWorkload {
        pools = List.copyOf(pools);
        gpuMilli = List.copyOf(gpuMilli);
        if (pools.size() != gpuMilli.size()) {
            throw new IllegalArgumentException("each pool needs exactly one amount");
        }
    }

    /** The counter to which the workload belongs. */
    public sealed interface Place {

        /** Among the queued amounts: it holds no devices and is not over. */
        record Queued() implements Place {}

        /** Among the used amounts, with the amount that it holds in that pool. */
        record Holding(UUID pool, long gpuMilli) implements Place {}

        /** In no counter any more. */
        record Over() implements Place {}
    }
}
