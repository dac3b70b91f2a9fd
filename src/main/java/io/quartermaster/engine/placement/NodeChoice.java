package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.quota.When;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * Chooses the best of a pool's nodes for a worker, as the pool packs or spreads. Looks into indexes where these know the order, which it must
 * be told of every change for.
 */
final class NodeChoice {
    private final Pool pool;
    private final List<NodeSpace> byPosition;
    /** Those that are up and take no new work, or that of one tenant only. */
    private final List<NodeSpace> closed = new ArrayList<>();

    private final Map<Horizon, NodeIndex> indexes = new EnumMap<>(Horizon.class);
    private final Optional<Fragmentation> fragmentation;

    /** @param byPosition all nodes of the pool, each at its own position */
    NodeChoice(Pool pool, List<NodeSpace> byPosition) {
        this.pool = pool;
        this.byPosition = byPosition;
        for (NodeSpace node : byPosition) {
            boolean isOpen = node.takesWork() && node.node().onlyTenant().isEmpty();
            if (node.node().up() && !isOpen) {
                closed.add(node);
            }
        }
        for (Horizon horizon : Horizon.values()) {
            indexes.put(horizon, new NodeIndex(horizon, pool.placement() == Pool.Placement.PACK, byPosition));
        }
        fragmentation = packsByMix(pool)
                ? Optional.of(new Fragmentation(pool.mix().orElseThrow(), byPosition))
                : Optional.empty();
    }

    private static boolean packsByMix(Pool pool) {
        return pool.mix().isPresent() && pool.placement() == Pool.Placement.PACK;
    }

    private NodeIndex index(Horizon horizon) {
        return Objects.requireNonNull(indexes.get(horizon));
    }

    /** Of all nodes that take work. */
    long freeGpuMilli(Horizon horizon) {
        return index(horizon).freeGpuMilli();
    }

    /** How many GPUs of all nodes that take work nobody holds a part of. */
    long untouchedGpus(Horizon horizon) {
        return index(horizon).untouchedGpus();
    }

    /** Whether a request might fit if all that is held were rearranged; says no only where it could not. */
    boolean couldFitRearranged(Request request, Horizon horizon) {
        NodeIndex index = index(horizon);
        return !index.isAllOfUse()
                || switch (request.gpus()) {
                    case GpuRequest.Whole whole ->
                        index.couldFitRearranged((long) whole.count() * request.workers(), request.tenant(), 0);
                    case GpuRequest.Fraction fraction ->
                        index.couldFitRearranged(0, sharer(request), request.leastGpuMilli());
                    case GpuRequest.Memory memory -> true;
                    case GpuRequest.Mig mig -> true;
                };
    }

    /** Whose parts may be on one GPU with those that are asked for. */
    private String sharer(Request request) {
        return pool.sharing() == Pool.Sharing.ANY ? DeviceSpace.ANYBODY : request.tenant();
    }

    /** Keeps the indexes right, those that look at the state of the world that changed. */
    void changed(NodeSpace node, When when) {
        index(when == When.NOW ? Horizon.IGNORING_PROMISES : Horizon.LATER).changed(node);
        index(Horizon.AT_ONCE).changed(node);
        if (fragmentation.isPresent()) {
            fragmentation.get().changed(node);
        }
    }

    /** Has all nodes that are up take work, until {@link #closeAgain}, to see what would fit then. */
    void openAll() {
        for (NodeSpace node : closed) {
            boolean indexed = node.takesWork();
            node.opened(true);
            if (!indexed) {
                indexes.values().forEach(index -> index.admit(node));
            }
        }
    }

    /** Undoes {@link #openAll}. */
    void closeAgain() {
        for (NodeSpace node : closed) {
            node.opened(false);
            if (!node.takesWork()) {
                indexes.values().forEach(index -> index.dismiss(node));
            }
        }
    }

    /** The best offer of the pool: of the indexes where they know it, else of all nodes. */
    Optional<NodeOffer> bestInPool(Request request, Horizon horizon) {
        if (fragmentation.isPresent()) {
            return leastFragmenting(byPosition, request, horizon);
        }
        return switch (request.gpus()) {
            case GpuRequest.Whole whole -> firstWithUntouched(whole.count(), request, horizon);
            case GpuRequest.Fraction fraction
            when fraction.devices() == 1 -> {
                // Who opens no untouched GPU is better than all who do.
                Optional<NodeOffer> onShared = tightest(fraction.gpuMilliEach(), request, horizon);
                yield onShared.isPresent() ? onShared : firstWithUntouched(1, request, horizon);
            }
            case GpuRequest.Fraction several -> bestOf(byPosition, request, horizon);
            case GpuRequest.Memory memory -> bestOf(byPosition, request, horizon);
            case GpuRequest.Mig mig -> bestOf(byPosition, request, horizon);
        };
    }

    /** The best of those on which a GPU in parts is filled best by so much. */
    private Optional<NodeOffer> tightest(int gpuMilli, Request request, Horizon horizon) {
        for (List<NodeSpace> alike : index(horizon).withPartLeft(sharer(request), gpuMilli)) {
            Optional<NodeOffer> best = bestOf(alike, request, horizon);
            if (best.isPresent()) {
                return best;
            }
        }
        return Optional.empty();
    }

    /** The first in the index that makes an offer, of the nodes with so many untouched GPUs. */
    private Optional<NodeOffer> firstWithUntouched(int count, Request request, Horizon horizon) {
        return Optional.ofNullable(index(horizon)
                .first(count, node -> offer(node, request, horizon).orElse(null)));
    }

    /** The node on which the least is left that the pool's mix of work cannot use; ties go to the first. */
    private Optional<NodeOffer> leastFragmenting(Collection<NodeSpace> candidates, Request request, Horizon horizon) {
        Function<NodeSpace, Optional<Fragmentation.Choice>> choices =
                fragmentation.orElseThrow().choices(request, horizon);
        NodeSpace best = null;
        Fragmentation.Choice chosen = null;
        for (NodeSpace node : candidates) {
            if (suits(node, request)) {
                Optional<Fragmentation.Choice> choice = choices.apply(node);
                if (choice.isPresent() && (chosen == null || choice.get().cost() < chosen.cost())) {
                    best = node;
                    chosen = choice.get();
                }
            }
        }
        return best == null || chosen == null
                ? Optional.empty()
                : Optional.of(NodeOffer.of(best, chosen.shares(), horizon));
    }

    /** The best offer of these nodes; ties go to the first. */
    Optional<NodeOffer> bestOf(Collection<NodeSpace> candidates, Request request, Horizon horizon) {
        if (fragmentation.isPresent()) {
            return leastFragmenting(candidates, request, horizon);
        }
        NodeOffer best = null;
        for (NodeSpace node : candidates) {
            Optional<NodeOffer> offer = offer(node, request, horizon);
            if (offer.isPresent() && (best == null || offer.get().betterThan(best, pool.placement()))) {
                best = offer.get();
            }
        }
        return Optional.ofNullable(best);
    }

    /** Whether the node takes work of this shape at all, full or not. */
    static boolean suits(NodeSpace node, Request request) {
        return node.takesWorkOf(request.tenant())
                && node.suits(request.shape())
                && request.within().test(node.node());
    }

    private static Optional<NodeOffer> offer(NodeSpace node, Request request, Horizon horizon) {
        return suits(node, request)
                ? node.offer(request.shape(), request.tenant(), horizon)
                        .map(shares -> NodeOffer.of(node, shares, horizon))
                : Optional.empty();
    }
}
