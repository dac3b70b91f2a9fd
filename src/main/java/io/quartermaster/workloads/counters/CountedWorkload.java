package io.quartermaster.workloads.counters;

import io.quartermaster.platform.TenantId;
import java.util.List;
import java.util.UUID;

/**
 * One workload as the live counters see it.
 *
 * @param pools that it may use; while it waits it counts in each of them
 * @param gpuMilli what it asks for, all workers together, as it counts in each of these pools while it waits
 */
public record CountedWorkload(
        TenantId tenant, UUID id, UUID queue, UUID policy, List<UUID> pools, List<Long> gpuMilli, Place place) {

    public CountedWorkload {
        pools = List.copyOf(pools);
        gpuMilli = List.copyOf(gpuMilli);
        if (pools.size() != gpuMilli.size()) {
            throw new IllegalArgumentException("an amount for each pool");
        }
    }

    /** Where it counts. */
    public sealed interface Place {

        /** Among what is queued: it holds no devices and is not over. */
        record Queued() implements Place {}

        /** Among what is used, with what it holds in that pool. */
        record Holding(UUID pool, long gpuMilli) implements Place {}

        /** Nowhere any more. */
        record Over() implements Place {}
    }
}
