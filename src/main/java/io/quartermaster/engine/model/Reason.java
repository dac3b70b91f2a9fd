package io.quartermaster.engine.model;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * Reason why a workload does not start in a pool.
 *
 * @param path the node of the workload's path whose bound prevents the start; empty if none does
 * @param sentence the obstacle, in words and numbers
 * @param remedy what the reader can do about the obstacle
 */
public record Reason(
        Code code, PoolId pool, Optional<QuotaPath> path, Numbers numbers, String sentence, String remedy) {

    /**
     * The numbers behind the code.
     *
     * @param requestedGpuMilli the amount that the workload asks for
     * @param usedGpuMilli the amount in use: by the node of the path, or in the pool if no path is named
     * @param boundGpuMilli the limit or the reservation that use must not exceed; empty if it prevents nothing
     * @param freeGpuMilli the free amount on nodes that accept new work, without nominated devices; it includes
     *     capacity that other groups and tenants do not lend
     */
    public record Numbers(long requestedGpuMilli, long usedGpuMilli, OptionalLong boundGpuMilli, long freeGpuMilli) {}

    /**
     * The code of a reason. Per pool the engine reports the first that applies, in this order.
     */
    public enum Code {
        /** The tenant is suspended. */
        SUSPENDED,
        /**
         * The pool has no executor: it is a plain count without one, or its kind of cluster is not connected.
         */
        NO_EXECUTOR,
        /** The time is outside the hours of the pool or the window of the capacity reservation. */
        CLOSED,
        /** The GPU-hours of the group or tenant for the period are used up. */
        BUDGET,
        /** The workload has a nomination and waits until its victims have left. */
        NOMINATED,
        /** The workload does not fit even if every known node of the pool is up and empty. */
        NO_SUCH_NODE,
        /**
         * The workload would fit, but the nodes that could take it are cordoned, or dedicated to another tenant.
         */
        NODES_CLOSED,
        /** A node of the workload's path would exceed its limit. */
        LIMIT,
        /** The workload would use more than is reserved, and the policy allows no over-quota. */
        OVER_QUOTA_OFF,
        /** The workload is not preemptible, and such work runs only within the reservation. */
        NOT_PREEMPTIBLE,
        /** Idle GPUs exist, but their owner does not lend them. */
        HELD_FOR_OTHERS,
        /** The workload would fit, but the devices are kept for a workload that comes first. */
        BEHIND,
        /** Too few GPUs are free. */
        NO_CAPACITY,
        /** Enough GPUs are free, but not together on one node or in the required domain. */
        FRAGMENTED
    }
}
