package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.When;
import java.util.List;
import java.util.Optional;

/**
 * All requests in one pool that the devices treat alike, whoever asks. What did not fit does not fit until something of
 * use to it came free; a kind remembers that, and the space that it asks tells it otherwise.
 */
public final class Kind {
    private final int number;
    private final Space space;
    private final Request request;
    private final long gpuMilli;
    private final List<QuotaNode> roots;
    private boolean misfitAtOnce;
    private boolean misfitIgnoringPromises;

    /**
     * @param tenant whose GPUs it may share; empty where it does not matter who asks
     * @param workers how many places it needs
     */
    record Key(PoolId pool, Shape shape, int workers, String tenant) {}

    Kind(int number, Space space, Request request, long gpuMilli, List<QuotaNode> roots) {
        this.number = number;
        this.space = space;
        this.request = request;
        this.gpuMilli = gpuMilli;
        this.roots = List.copyOf(roots);
    }

    /** Kinds are numbered from 0. */
    public int number() {
        return number;
    }

    /** Whether a start at once is known to be impossible for everybody: for want of places, or of capacity at all. */
    public boolean cannotStart() {
        return misfitAtOnce || lacksCapacity(When.NOW) || lacksCapacity(When.NEXT);
    }

    /** Whether a pool or all of them together would hold more than there is. */
    public boolean lacksCapacity(When when) {
        for (QuotaNode root : roots) {
            if (root.used().at(when) + gpuMilli > root.tree().capacityGpuMilli()) {
                return true;
            }
        }
        return false;
    }

    /** Whether it would not fit even when all who were told to stop have left and what is held then were rearranged. */
    public boolean lacksRoomLater() {
        return !space.couldFitRearranged(request);
    }

    /** Whether less than it counts as is free. */
    public boolean lacksRoom() {
        return space.freeGpuMilli(Horizon.AT_ONCE) < gpuMilli;
    }

    /** Whether it would fit now if nothing were promised to anybody, whatever quotas say. */
    public boolean fitsIgnoringPromises() {
        if (misfitIgnoringPromises) {
            return false;
        }
        boolean fits = space.place(request, Horizon.IGNORING_PROMISES).isPresent();
        if (!fits) {
            remember(Horizon.IGNORING_PROMISES);
        }
        return fits;
    }

    /** Whether it would fit at once if the nodes that are up were open to new work. */
    public boolean wouldFitIfNodesWereOpen() {
        return space.wouldFitIfNodesWereOpen(request);
    }

    /** Notes that there is no place for it. */
    public void didNotFitAtOnce() {
        remember(Horizon.AT_ONCE);
    }

    private void remember(Horizon horizon) {
        switch (horizon) {
            case AT_ONCE -> misfitAtOnce = true;
            case IGNORING_PROMISES -> misfitIgnoringPromises = true;
            case LATER -> throw new IllegalArgumentException("nothing is remembered of later");
        }
    }

    boolean misfit(Horizon horizon) {
        return switch (horizon) {
            case AT_ONCE -> misfitAtOnce;
            case IGNORING_PROMISES -> misfitIgnoringPromises;
            case LATER -> false;
        };
    }

    /** Something came free: it may fit again. */
    void forget(Horizon horizon) {
        switch (horizon) {
            case AT_ONCE -> misfitAtOnce = false;
            case IGNORING_PROMISES -> misfitIgnoringPromises = false;
            case LATER -> throw new IllegalArgumentException("nothing is remembered of later");
        }
    }

    /** Forgets what does not hold any more since a node has more free, or anything where no node is named. */
    void cameFree(Optional<NodeSpace> node, Horizon horizon) {
        boolean useful = node.isEmpty()
                || (request.shape().isPlain()
                        ? offers(node.get(), request.shape(), horizon)
                        : request.shape().sets().stream().anyMatch(set -> offers(node.get(), set.set(), horizon)));
        if (useful) {
            forget(horizon);
        }
    }

    private boolean offers(NodeSpace node, Shape shape, Horizon horizon) {
        return node.offer(shape, request.tenant(), horizon).isPresent();
    }
}
