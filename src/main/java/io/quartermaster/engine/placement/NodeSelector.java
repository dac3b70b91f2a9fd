package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.quota.UsageView;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * Chooses the best node of a pool for a worker, as the pool packs or spreads. It uses indexes where they define the
 * order. The pool must report every change to it, so that the indexes stay correct.
 */
final class NodeSelector {
    private final Pool pool;
    private final List<NodeCapacity> byPosition;
    /** The nodes that are up and take no new work, or new work of one tenant only. */
    private final List<NodeCapacity> closed = new ArrayList<>();

    private final Map<Availability, NodeIndex> indexes = new EnumMap<>(Availability.class);
    private final Optional<Fragmentation> fragmentation;

    /** @param byPosition all nodes of the pool, each at its own position */
    NodeSelector(Pool pool, List<NodeCapacity> byPosition) {
        this.pool = pool;
        this.byPosition = byPosition;
        for (NodeCapacity node : byPosition) {
            boolean isOpen = node.takesWork() && node.node().onlyTenant().isEmpty();
            if (node.node().up() && !isOpen) {
                closed.add(node);
            }
        }
        for (Availability availability : Availability.values()) {
            indexes.put(availability, new NodeIndex(availability, pool.placement() == Pool.Placement.PACK, byPosition));
        }
        fragmentation = packsByMix(pool)
                ? Optional.of(new Fragmentation(pool.mix().orElseThrow(), byPosition))
                : Optional.empty();
    }

    private static boolean packsByMix(Pool pool) {
        return pool.mix().isPresent() && pool.placement() == Pool.Placement.PACK;
    }

    private NodeIndex index(Availability availability) {
        return Objects.requireNonNull(indexes.get(availability));
    }

    /** The free amount of all nodes that take work. */
    long freeGpuMilli(Availability availability) {
        return index(availability).freeGpuMilli();
    }

    /** The number of GPUs without any holder on all nodes that take work. */
    long untouchedGpus(Availability availability) {
        return index(availability).untouchedGpus();
    }

    /** Whether a request might fit if all work were rearranged. False only if it certainly cannot. */
    boolean couldFitRearranged(PlacementRequest placementRequest, Availability availability) {
        NodeIndex index = index(availability);
        return !index.isAllOfUse()
                || switch (placementRequest.gpus()) {
                    case GpuRequest.Whole whole ->
                        index.couldFitRearranged(
                                (long) whole.count() * placementRequest.workers(), placementRequest.tenant(), 0);
                    case GpuRequest.Fraction fraction ->
                        index.couldFitRearranged(0, bestSharedGpu(placementRequest), placementRequest.leastGpuMilli());
                    case GpuRequest.Memory memory -> true;
                    case GpuRequest.Mig mig -> true;
                };
    }

    /** The tenant whose parts may be on one GPU with the requested parts. */
    private String bestSharedGpu(PlacementRequest placementRequest) {
        return pool.sharing() == Pool.Sharing.ANY ? GpuCapacity.ANY_TENANT : placementRequest.tenant();
    }

    /** Updates the indexes that depend on the changed view. */
    void markChanged(NodeCapacity node, UsageView view) {
        index(view == UsageView.CURRENT ? Availability.IGNORING_NOMINATIONS : Availability.AFTER_RELEASES)
                .markChanged(node);
        index(Availability.NOW).markChanged(node);
        if (fragmentation.isPresent()) {
            fragmentation.get().markChanged(node);
        }
    }

    /** Makes all nodes that are up take work until {@link #closeAgain}, to see what would fit then. */
    void openAll() {
        for (NodeCapacity node : closed) {
            boolean indexed = node.takesWork();
            node.setOpened(true);
            if (!indexed) {
                indexes.values().forEach(index -> index.includeNode(node));
            }
        }
    }

    /** Undoes {@link #openAll}. */
    void closeAgain() {
        for (NodeCapacity node : closed) {
            node.setOpened(false);
            if (!node.takesWork()) {
                indexes.values().forEach(index -> index.excludeNode(node));
            }
        }
    }

    /** The best score in the pool, from the indexes where they have the order, otherwise from all nodes. */
    Optional<PlacementScore> bestInPool(PlacementRequest placementRequest, Availability availability) {
        if (fragmentation.isPresent()) {
            return leastFragmenting(byPosition, placementRequest, availability);
        }
        return switch (placementRequest.gpus()) {
            case GpuRequest.Whole whole -> firstWithUntouched(whole.count(), placementRequest, availability);
            case GpuRequest.Fraction fraction
            when fraction.devices() == 1 -> {
                // A part on a shared GPU, which opens no untouched GPU, is better than any part that opens one.
                Optional<PlacementScore> onShared = tightest(fraction.gpuMilliEach(), placementRequest, availability);
                yield onShared.isPresent() ? onShared : firstWithUntouched(1, placementRequest, availability);
            }
            case GpuRequest.Fraction several -> bestOf(byPosition, placementRequest, availability);
            case GpuRequest.Memory memory -> bestOf(byPosition, placementRequest, availability);
            case GpuRequest.Mig mig -> bestOf(byPosition, placementRequest, availability);
        };
    }

    /** The best among the nodes on which the requested part leaves the least of a shared GPU. */
    private Optional<PlacementScore> tightest(
            int gpuMilli, PlacementRequest placementRequest, Availability availability) {
        for (List<NodeCapacity> alike : index(availability).withPartLeft(bestSharedGpu(placementRequest), gpuMilli)) {
            Optional<PlacementScore> best = bestOf(alike, placementRequest, availability);
            if (best.isPresent()) {
                return best;
            }
        }
        return Optional.empty();
    }

    /** The first node of the index that fits, among the nodes with so many untouched GPUs. */
    private Optional<PlacementScore> firstWithUntouched(
            int count, PlacementRequest placementRequest, Availability availability) {
        return Optional.ofNullable(index(availability).first(count, node -> score(node, placementRequest, availability)
                .orElse(null)));
    }

    /**
     * The node on which the placement leaves the least capacity that the pool's mix of work cannot use; ties go to the
     * first.
     */
    private Optional<PlacementScore> leastFragmenting(
            Collection<NodeCapacity> candidates, PlacementRequest placementRequest, Availability availability) {
        Function<NodeCapacity, Optional<Fragmentation.Choice>> choices =
                fragmentation.orElseThrow().choices(placementRequest, availability);
        NodeCapacity best = null;
        Fragmentation.Choice chosen = null;
        for (NodeCapacity node : candidates) {
            if (suits(node, placementRequest)) {
                Optional<Fragmentation.Choice> choice = choices.apply(node);
                if (choice.isPresent() && (chosen == null || choice.get().cost() < chosen.cost())) {
                    best = node;
                    chosen = choice.get();
                }
            }
        }
        return best == null || chosen == null
                ? Optional.empty()
                : Optional.of(PlacementScore.of(best, chosen.shares(), availability));
    }

    /** The best score of the given nodes; ties go to the first. */
    Optional<PlacementScore> bestOf(
            Collection<NodeCapacity> candidates, PlacementRequest placementRequest, Availability availability) {
        if (fragmentation.isPresent()) {
            return leastFragmenting(candidates, placementRequest, availability);
        }
        PlacementScore best = null;
        for (NodeCapacity node : candidates) {
            Optional<PlacementScore> offer = score(node, placementRequest, availability);
            if (offer.isPresent() && (best == null || offer.get().betterThan(best, pool.placement()))) {
                best = offer.get();
            }
        }
        return Optional.ofNullable(best);
    }

    /** Whether the node takes work of this shape, regardless of free capacity. */
    static boolean suits(NodeCapacity node, PlacementRequest placementRequest) {
        return node.takesWorkOf(placementRequest.tenant())
                && node.suits(placementRequest.shape())
                && placementRequest.within().test(node.node());
    }

    private static Optional<PlacementScore> score(
            NodeCapacity node, PlacementRequest placementRequest, Availability availability) {
        return suits(node, placementRequest)
                ? node.findShares(placementRequest.shape(), placementRequest.tenant(), availability)
                        .map(shares -> PlacementScore.of(node, shares, availability))
                : Optional.empty();
    }
}
