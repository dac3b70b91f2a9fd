package io.quartermaster.engine.model;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * Why a workload does not start in a pool.
 *
 * @param path the node of its path that is in the way, where one is
 * @param sentence what is so, in words and numbers
 * @param remedy what would have to happen
 */
public record Reason(
        Code code, PoolId pool, Optional<QuotaPath> path, Numbers numbers, String sentence, String remedy) {

    /**
     * The numbers behind the code.
     *
     * @param requestedGpuMilli what the workload asks for
     * @param usedGpuMilli what is held now: by the node of the path, or in the pool where no path is named
     * @param boundGpuMilli what must not be passed: the limit or the reservation; absent where none is in the way
     * @param freeGpuMilli what nobody holds in the pool, for whomever it is kept
     */
    public record Numbers(long requestedGpuMilli, long usedGpuMilli, OptionalLong boundGpuMilli, long freeGpuMilli) {}

    /**
     * The kinds of reasons. Per pool the first that applies is given, in this order.
     */
    public enum Code {
        /** The tenant is suspended. */
        SUSPENDED,
        /** Nothing runs work in the pool: a plain count without an executor, or a kind of cluster that is not connected. */
        NO_EXECUTOR,
        /** Outside the pool's or reservation's hours. */
        CLOSED,
        /** The group's or tenant's GPU-hours for the period are used up. */
        BUDGET,
        /** It waits for its victims to leave. */
        NOMINATED,
        /** Even with every known node up and empty the pool could not take it: it never will run. */
        NO_SUCH_NODE,
        /** It would fit, but the nodes that could take it are cordoned, drained, in maintenance, or for one other tenant only. */
        NODES_CLOSED,
        /** A node of its path would pass its limit. */
        LIMIT,
        /** Beyond what is reserved, and the policy allows no over-quota. */
        OVER_QUOTA_OFF,
        /** Non-preemptible work runs only within what is reserved. */
        NOT_PREEMPTIBLE,
        /** Idle GPUs exist that their owner does not lend. */
        HELD_FOR_OTHERS,
        /** It would fit, but the room is kept for an earlier one. */
        BEHIND,
        /** Too few GPUs are free. */
        NO_CAPACITY,
        /** Enough are free, not together on one node or in the required domain. */
        FRAGMENTED
    }
}
