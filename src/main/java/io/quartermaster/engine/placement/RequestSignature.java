package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.RequestKey;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.UsageView;
import java.util.List;
import java.util.Optional;

/**
 * All requests in one pool that the devices treat alike, whichever workload makes them. A request that did not fit
 * cannot fit until useful capacity is freed. The signature caches such misses until the {@link PoolCapacity} reports
 * freed capacity to it.
 */
public final class RequestSignature {
    private final int number;
    private final PoolCapacity poolCapacity;
    private final PlacementRequest placementRequest;
    private final long gpuMilli;
    private final List<QuotaNode> roots;
    private final RequestKey key;
    private final MoveSearches moveSearches;
    private boolean knownUnplaceableNow;
    private boolean knownUnplaceableIgnoringNominations;
    private boolean knownUnplaceableAfterReleases;
    /** For each availability, how often capacity was freed that may serve the request. */
    private final long[] freed = new long[Availability.values().length];
    /** For each availability, whether some class remembers a miss since capacity was last freed. */
    private final boolean[] isRemembered = new boolean[Availability.values().length];

    RequestSignature(
            RequestKey key,
            int number,
            PoolCapacity poolCapacity,
            PlacementRequest placementRequest,
            long gpuMilli,
            List<QuotaNode> roots,
            MoveSearches moveSearches) {
        this.key = key;
        this.moveSearches = moveSearches;
        this.number = number;
        this.poolCapacity = poolCapacity;
        this.placementRequest = placementRequest;
        this.gpuMilli = gpuMilli;
        this.roots = List.copyOf(roots);
    }

    /** The number of this signature; numbers start from 0. */
    public int number() {
        return number;
    }

    /**
     * Whether an immediate start is known to be impossible for every workload, because places or capacity are missing.
     */
    public boolean cannotStart() {
        return knownUnplaceableNow || lacksCapacity(UsageView.CURRENT) || lacksCapacity(UsageView.PROJECTED);
    }

    /** Whether the start would exceed the capacity of the pool or of all pools together. */
    public boolean lacksCapacity(UsageView view) {
        for (QuotaNode root : roots) {
            if (root.used().at(view) + gpuMilli > root.tree().capacityGpuMilli(view)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether only an eviction could still make room: it does not fit after all evicted work has left, and moves are
     * known to make no room or certainly cannot.
     */
    public boolean onlyEvictionsHelp() {
        return knownUnplaceableAfterReleases && areMovesKnownToFail()
                || poolCapacity.isFreeOfReservations() && !poolCapacity.couldFitRearranged(placementRequest);
    }

    /** Whether moves are not to be tried for it, because they made no room since work last left. */
    public boolean areMovesKnownToFail() {
        return moveSearches.isKnownToFail(key);
    }

    /** Whether moves are not tried for it before the next round, although they may make room by now. */
    public boolean isLeftToNextRound() {
        return moveSearches.isLeftToNextRound(key);
    }

    /** Records that moves make no room for it. */
    public void recordMovesFailure() {
        moveSearches.recordFailure(key);
    }

    /** Whether it is known not to fit after all evicted work has left. */
    public boolean cannotStartAfterReleases() {
        return knownUnplaceableAfterReleases;
    }

    /** Records that there is no place for it after all evicted work has left. */
    public void recordMissAfterReleases() {
        cacheMiss(Availability.AFTER_RELEASES);
    }

    /** Whether it is known not to fit now. */
    public boolean isKnownNotToFitNow() {
        return knownUnplaceableNow;
    }

    /** Whether less than its amount is free. */
    public boolean lacksRoom() {
        return poolCapacity.freeGpuMilli(Availability.NOW) < gpuMilli;
    }

    /** Whether it would fit now without any nominations, regardless of quotas. */
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

    /** Whether it would fit now if the nodes that are up were open to new work. */
    public boolean wouldFitIfNodesWereOpen() {
        return poolCapacity.wouldFitIfNodesWereOpen(placementRequest);
    }

    /** Records that there is no place for it now. */
    public void recordMissNow() {
        cacheMiss(Availability.NOW);
    }

    private void cacheMiss(Availability availability) {
        switch (availability) {
            case NOW -> knownUnplaceableNow = true;
            case IGNORING_NOMINATIONS -> knownUnplaceableIgnoringNominations = true;
            case AFTER_RELEASES -> knownUnplaceableAfterReleases = true;
        }
    }

    /**
     * How often capacity was freed that may serve the request, counted for callers that remember a miss with this
     * number. Until it has changed, the miss remains valid.
     */
    public long freed(Availability availability) {
        isRemembered[availability.ordinal()] = true;
        return freed[availability.ordinal()];
    }

    /** Whether a miss is known, here or by a caller. */
    boolean hasMissed(Availability availability) {
        return isRemembered[availability.ordinal()] || knownUnplaceable(availability);
    }

    private boolean knownUnplaceable(Availability availability) {
        return switch (availability) {
            case NOW -> knownUnplaceableNow;
            case IGNORING_NOMINATIONS -> knownUnplaceableIgnoringNominations;
            case AFTER_RELEASES -> knownUnplaceableAfterReleases;
        };
    }

    /** Discards a cached miss. */
    void forget(Availability availability) {
        freed[availability.ordinal()]++;
        isRemembered[availability.ordinal()] = false;
        switch (availability) {
            case NOW -> knownUnplaceableNow = false;
            case IGNORING_NOMINATIONS -> knownUnplaceableIgnoringNominations = false;
            case AFTER_RELEASES -> knownUnplaceableAfterReleases = false;
        }
    }

    /** Discards a cached miss if the freed capacity may serve the request. Without a node, any freed capacity may. */
    void recordFreedCapacity(Optional<NodeCapacity> node, Availability availability) {
        boolean useful = node.isEmpty()
                || !poolCapacity.isFreeOfReservations()
                || (placementRequest.shape().isPlain()
                        ? offers(node.get(), placementRequest.shape(), availability)
                        : placementRequest.shape().sets().stream()
                                .anyMatch(set -> offers(node.get(), set.set(), availability)));
        if (useful) {
            forget(availability);
        }
    }

    private boolean offers(NodeCapacity node, Shape shape, Availability availability) {
        return node.findShares(shape, placementRequest.tenant(), availability).isPresent();
    }
}
