package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.View;
import java.util.List;
import java.util.Optional;

/**
 * All requests in one pool that the devices treat alike, whoever asks. What did not fit does not fit until something of
 * use to it came free; a kind remembers that, and the space that it asks tells it otherwise.
 */
public final class RequestSignature {
    private final int number;
    private final PoolCapacity poolCapacity;
    private final PlacementRequest placementRequest;
    private final long gpuMilli;
    private final List<QuotaNode> roots;
    private boolean knownUnplaceableNow;
    private boolean knownUnplaceableIgnoringNominations;

    /**
     * @param tenant whose GPUs it may share; empty where it does not matter who asks
     * @param workers how many places it needs
     */
    record Key(PoolId pool, Shape shape, int workers, String tenant) {}

    RequestSignature(
            int number,
            PoolCapacity poolCapacity,
            PlacementRequest placementRequest,
            long gpuMilli,
            List<QuotaNode> roots) {
        this.number = number;
        this.poolCapacity = poolCapacity;
        this.placementRequest = placementRequest;
        this.gpuMilli = gpuMilli;
        this.roots = List.copyOf(roots);
    }

    /** Kinds are numbered from 0. */
    public int number() {
        return number;
    }

    /** Whether a start at once is known to be impossible for everybody: for want of places, or of capacity at all. */
    public boolean cannotStart() {
        return knownUnplaceableNow || lacksCapacity(View.CURRENT) || lacksCapacity(View.PROJECTED);
    }

    /** Whether a pool or all of them together would hold more than there is. */
    public boolean lacksCapacity(View view) {
        for (QuotaNode root : roots) {
            if (root.used().at(view) + gpuMilli > root.tree().capacityGpuMilli()) {
                return true;
            }
        }
        return false;
    }

    /** Whether it would not fit even when all who were told to stop have left and what is held then were rearranged. */
    public boolean neverFitsEvenRepacked() {
        return !poolCapacity.couldFitRearranged(placementRequest);
    }

    /** Whether less than it counts as is free. */
    public boolean lacksRoom() {
        return poolCapacity.freeGpuMilli(Availability.NOW) < gpuMilli;
    }

    /** Whether it would fit now if nothing were promised to anybody, whatever quotas say. */
    public boolean fitsIgnoringNominations() {
        if (knownUnplaceableIgnoringNominations) {
            return false;
        }
        boolean fits = poolCapacity
                .place(placementRequest, Availability.IGNORING_NOMINATIONS)
                .isPresent();
        if (!fits) {
            cacheMiss(Availability.IGNORING_NOMINATIONS);
        }
        return fits;
    }

    /** Whether it would fit at once if the nodes that are up were open to new work. */
    public boolean wouldFitIfNodesWereOpen() {
        return poolCapacity.wouldFitIfNodesWereOpen(placementRequest);
    }

    /** Notes that there is no place for it. */
    public void didNotFitNow() {
        cacheMiss(Availability.NOW);
    }

    private void cacheMiss(Availability availability) {
        switch (availability) {
            case NOW -> knownUnplaceableNow = true;
            case IGNORING_NOMINATIONS -> knownUnplaceableIgnoringNominations = true;
            case AFTER_RELEASES -> throw new IllegalArgumentException("nothing is remembered of later");
        }
    }

    boolean knownUnplaceable(Availability availability) {
        return switch (availability) {
            case NOW -> knownUnplaceableNow;
            case IGNORING_NOMINATIONS -> knownUnplaceableIgnoringNominations;
            case AFTER_RELEASES -> false;
        };
    }

    /** Something came free: it may fit again. */
    void forget(Availability availability) {
        switch (availability) {
            case NOW -> knownUnplaceableNow = false;
            case IGNORING_NOMINATIONS -> knownUnplaceableIgnoringNominations = false;
            case AFTER_RELEASES -> throw new IllegalArgumentException("nothing is remembered of later");
        }
    }

    /** Forgets what does not hold any more since a node has more free, or anything where no node is named. */
    void capacityFreed(Optional<NodeCapacity> node, Availability availability) {
        boolean useful = node.isEmpty()
                || (placementRequest.shape().isPlain()
                        ? offers(node.get(), placementRequest.shape(), availability)
                        : placementRequest.shape().sets().stream()
                                .anyMatch(set -> offers(node.get(), set.set(), availability)));
        if (useful) {
            forget(availability);
        }
    }

    private boolean offers(NodeCapacity node, Shape shape, Availability availability) {
        return node.offer(shape, placementRequest.tenant(), availability).isPresent();
    }
}
