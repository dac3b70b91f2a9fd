package io.quartermaster.engine.model;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Nodes of like kind, or a plain count.
 *
 * @param profileOrder whose work goes first in this pool; profiles not named come after all that are
 * @param topologyLevels names of the levels of its nodes' topology paths, the widest first
 * @param open false: nothing starts, what runs goes on
 * @param mix the work that it is meant for; absent = packing looks at what a node has left only
 * @param hours outside which it is not open either; absent = it always is
 * @param hasExecutor false: nothing runs work in it, so nothing starts; what is held stays held
 * @param waitBeforePreemptingMillis nothing that runs in it is stopped for work that has waited less: so long it has a chance to grow
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
            throw new IllegalArgumentException("durations are not negative");
        }
    }

    /** A pool that knows no mix. */
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

    /** The same pool, open at these hours only. */
    public Pool withHours(Hours kept) {
        return with(open, mix, Optional.of(kept), waitBeforePreemptingMillis, hasExecutor);
    }

    /** The same pool, in which nothing is stopped for work that has waited less. */
    public Pool waitingBeforePreempting(long millis) {
        return with(open, mix, hours, millis, hasExecutor);
    }

    /** The same pool, in which nothing runs work. */
    public Pool withoutExecutor() {
        return with(open, mix, hours, waitBeforePreemptingMillis, false);
    }

    /** Whether new work may start in it, whatever its nodes say. */
    public boolean takesWork() {
        return open && hasExecutor;
    }

    /** The pool as it is at a moment: open or not. */
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

    /** The same pool; where it is a plain count, of so many more. */
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

    /** The same pool, meant for this work. */
    public Pool withMix(WorkloadMix work) {
        return with(open, Optional.of(work), hours, waitBeforePreemptingMillis, hasExecutor);
    }

    /** A pool of nodes with the defaults: packed, GPUs shared within one tenant, open. */
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

    /** A pool that is only a number, such as a cloud quota or licences. */
    public static Pool ofCount(PoolId id, long gpuMilli) {
        return new Pool(id, new Capacity.Count(gpuMilli), Placement.PACK, Sharing.TENANT, List.of(), List.of(), true);
    }

    /** Where a pool's capacity comes from. */
    public sealed interface Capacity {

        /** Its nodes that are up; at most the cap, if there is one. */
        record Nodes(OptionalLong maxGpuMilli) implements Capacity {}

        /** A plain count. */
        record Count(long gpuMilli) implements Capacity {
            public Count {
                if (gpuMilli < 0) {
                    throw new IllegalArgumentException("a capacity is not negative: " + gpuMilli);
                }
            }
        }
    }

    /** Fill nodes up, or keep them evenly empty. */
    public enum Placement {
        PACK,
        SPREAD
    }

    /** Who may hold fractions of one GPU together. */
    public enum Sharing {
        TENANT,
        ANY,
        NONE
    }
}
