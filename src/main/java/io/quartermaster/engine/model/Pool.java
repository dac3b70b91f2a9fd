package io.quartermaster.engine.model;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Pool of nodes of like kind, or of a plain count.
 *
 * @param profileOrder the profiles whose work goes first in this pool, in order; other profiles come after them
 * @param topologyLevels names of the levels of its nodes' topology paths, the widest first
 * @param open false: no work starts, and running work continues
 * @param mix the work that the pool is meant for; empty = packing considers only the free part of a node
 * @param hours the hours outside which the pool is closed; empty = it has no hours
 * @param hasExecutor false: the pool has no executor, so no work starts in it; existing allocations stay
 * @param waitBeforePreemptingMillis how long work must have waited before the planner evicts work of the pool for it;
 *     in this time the pool has a chance to grow
 */
public record Pool(
        PoolId id,
        Capacity capacity,
        Placement placement,
        Sharing sharing,
        List<ProfileId> profileOrder,
        List<String> topologyLevels,
        boolean open,
        Optional<WorkloadMix> mix,
        Optional<Hours> hours,
        long waitBeforePreemptingMillis,
        boolean hasExecutor) {

    public Pool {
        profileOrder = List.copyOf(profileOrder);
        topologyLevels = List.copyOf(topologyLevels);
        if (waitBeforePreemptingMillis < 0) {
            throw new IllegalArgumentException("durations must not be negative");
        }
    }

    /** Creates a pool without mix, hours or wait before preempting, and with an executor. */
    public Pool(
            PoolId id,
            Capacity capacity,
            Placement placement,
            Sharing sharing,
            List<ProfileId> profileOrder,
            List<String> topologyLevels,
            boolean open) {
        this(
                id,
                capacity,
                placement,
                sharing,
                profileOrder,
                topologyLevels,
                open,
                Optional.empty(),
                Optional.empty(),
                0,
                true);
    }

    /** A copy that is open at these hours only. */
    public Pool withHours(Hours kept) {
        return with(open, mix, Optional.of(kept), waitBeforePreemptingMillis, hasExecutor);
    }

    /** A copy in which the planner evicts work only for work that has waited this long. */
    public Pool waitingBeforePreempting(long millis) {
        return with(open, mix, hours, millis, hasExecutor);
    }

    /** A copy without an executor. */
    public Pool withoutExecutor() {
        return with(open, mix, hours, waitBeforePreemptingMillis, false);
    }

    /** Whether the pool accepts new work, regardless of its nodes. */
    public boolean takesWork() {
        return open && hasExecutor;
    }

    /** A copy that is open or closed as its hours require at a moment. */
    public Pool at(long millis) {
        return hours.isEmpty()
                ? this
                : with(open && hours.get().isOpenAt(millis), mix, hours, waitBeforePreemptingMillis, hasExecutor);
    }

    private Pool with(
            boolean nowOpen,
            Optional<WorkloadMix> work,
            Optional<Hours> kept,
            long waitMillis,
            boolean nowHasExecutor) {
        return new Pool(
                id,
                capacity,
                placement,
                sharing,
                profileOrder,
                topologyLevels,
                nowOpen,
                work,
                kept,
                waitMillis,
                nowHasExecutor);
    }

    /** A copy whose plain count is higher; equal to this pool if it is a pool of nodes. */
    public Pool withHigherCount(long gpuMilli) {
        Capacity raised =
                switch (capacity) {
                    case Capacity.Count count -> new Capacity.Count(count.gpuMilli() + gpuMilli);
                    case Capacity.Nodes ofNodes -> ofNodes;
                };
        return new Pool(
                id,
                raised,
                placement,
                sharing,
                profileOrder,
                topologyLevels,
                open,
                mix,
                hours,
                waitBeforePreemptingMillis,
                hasExecutor);
    }

    /** A copy that is meant for this mix of work. */
    public Pool withMix(WorkloadMix work) {
        return with(open, Optional.of(work), hours, waitBeforePreemptingMillis, hasExecutor);
    }

    /** Creates a pool of nodes with the defaults: packed, GPUs shared within one tenant, open. */
    public static Pool ofNodes(PoolId id) {
        return new Pool(
                id,
                new Capacity.Nodes(OptionalLong.empty()),
                Placement.PACK,
                Sharing.TENANT,
                List.of(),
                List.of(),
                true);
    }

    /** Creates a pool that is a plain count, such as a cloud quota or licences. */
    public static Pool ofCount(PoolId id, long gpuMilli) {
        return new Pool(id, new Capacity.Count(gpuMilli), Placement.PACK, Sharing.TENANT, List.of(), List.of(), true);
    }

    /** The source of a pool's capacity. */
    public sealed interface Capacity {

        /** The nodes that are up; at most the cap, if there is one. */
        record Nodes(OptionalLong maxGpuMilli) implements Capacity {}

        /** A plain count. */
        record Count(long gpuMilli) implements Capacity {
            public Count {
                if (gpuMilli < 0) {
                    throw new IllegalArgumentException("a capacity must not be negative: " + gpuMilli);
                }
            }
        }
    }

    /** Whether placement fills one node after the other, or spreads work evenly. */
    public enum Placement {
        PACK,
        SPREAD
    }

    /** Whether work of one tenant, of any tenants, or no work may share one GPU. */
    public enum Sharing {
        TENANT,
        ANY,
        NONE
    }
}
