package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.placement.Booking;
import io.quartermaster.engine.placement.PlacementRequest;
import io.quartermaster.engine.placement.PoolCapacity;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Tells without a search on which nodes moving work away cannot make room: where less could leave for another node, as things are, than is
 * missing there. Of one node's work only what has a place elsewhere already can leave it, since nobody is moved with it but who is on it too; gangs are left to
 * the search.
 */
final class MoveFeasibility {
    private final PoolCapacity poolCapacity;
    private final Map<Asked, Elsewhere> places = new HashMap<>();
    private final Map<Together, Boolean> together = new HashMap<>();

    private record Asked(Shape shape, String tenant) {}

    private record Together(Asked each, int count) {}

    /**
     * Where work of a shape could go.
     *
     * @param node the first node that would take it; absent = none
     * @param another whether one beside that would
     */
    private record Elsewhere(Optional<NodeId> node, boolean another) {
        boolean than(NodeId from) {
            return node.isPresent() && (!node.get().equals(from) || another);
        }
    }

    MoveFeasibility(PoolCapacity poolCapacity) {
        this.poolCapacity = poolCapacity;
    }

    /**
     * Whether so much of those on a node could leave it as a request of one worker misses there; or, where enough is free, whether it could be brought
     * together. For a part of one GPU: whether one of the GPUs could be emptied, or be shared.
     *
     * @param onNode whoever may be moved
     */
    boolean couldMakeRoom(PlacementRequest placementRequest, NodeId node, List<EvictionUnit> onNode) {
        boolean plain = isPlain(placementRequest);
        if (plain && isPartOfOne(placementRequest.shape())) {
            return couldGiveAPart(placementRequest, onNode);
        }
        long missing = placementRequest.leastGpuMilli() - poolCapacity.freeGpuMilli(node, Availability.AFTER_RELEASES);
        return missing > 0 ? couldLeave(missing, node, onNode) : couldBringTogether(plain, node, onNode);
    }

    /** Whether nothing but GPUs decides where it may be: where others of its tenant go, it could go as well. */
    private boolean isPlain(PlacementRequest placementRequest) {
        Shape shape = placementRequest.shape();
        return shape.isPlain()
                && shape.labels().isEmpty()
                && shape.cpuMilli() == 0
                && shape.memoryMiB() == 0
                && poolCapacity.pool().sharing() == Pool.Sharing.TENANT
                && (shape.gpus() instanceof GpuRequest.Whole || isPartOfOne(shape));
    }

    private static boolean isPartOfOne(Shape shape) {
        return shape.gpus() instanceof GpuRequest.Fraction part && part.devices() == 1;
    }

    /** On each GPU, how many alike hold something of it: all of them have to go, or one of them is of the same tenant. */
    private boolean couldGiveAPart(PlacementRequest placementRequest, List<EvictionUnit> onNode) {
        SortedMap<Integer, Map<Asked, Integer>> byDevice = new TreeMap<>();
        for (EvictionUnit evictionUnit : onNode) {
            Booking booking = evictionUnit.candidate().booking();
            boolean plainOne = booking.shape().gpus() instanceof GpuRequest.Whole
                    || booking.shape().gpus() instanceof GpuRequest.Fraction;
            boolean whole = booking.shape().gpus() instanceof GpuRequest.Whole;
            boolean ofTenant =
                    booking.path().tenant().equals(placementRequest.path().tenant());
            boolean smaller = ofTenant && !whole && booking.gpuMilli() < placementRequest.leastGpuMilli();
            if (!plainOne
                    || !booking.shape().isPlain()
                    || evictionUnit.workers().size() > 1
                    || smaller) {
                return true;
            }
            if (evictionUnit.workers().getFirst().place() instanceof Allocation.Place.OnNode on) {
                Asked asked = new Asked(booking.shape(), booking.path().tenant());
                for (Allocation.Share share : on.shares()) {
                    byDevice.computeIfAbsent(share.device(), device -> new LinkedHashMap<>(2))
                            .merge(asked, 1, Integer::sum);
                }
            }
        }
        for (Map<Asked, Integer> alike : byDevice.values()) {
            if (couldAllGo(alike)) {
                return true;
            }
        }
        return false;
    }

    private boolean couldAllGo(Map<Asked, Integer> alike) {
        for (Map.Entry<Asked, Integer> entry : alike.entrySet()) {
            if (!couldGoTogether(entry.getKey(), entry.getValue())) {
                return false;
            }
        }
        return true;
    }

    private boolean couldGoTogether(Asked asked, int count) {
        return together.computeIfAbsent(new Together(asked, count), key -> {
            List<Integer> numbers = IntStream.range(0, count).boxed().toList();
            return poolCapacity
                    .place(
                            new PlacementRequest(asked.shape(), numbers, QuotaPath.of(asked.tenant()), node -> true),
                            Availability.AFTER_RELEASES)
                    .isPresent();
        });
    }

    /** Whoever holds something elsewhere too leaves that as well, and others may go there: then it is left to the search. */
    private boolean couldLeave(long missingGpuMilli, NodeId node, List<EvictionUnit> onNode) {
        long leaving = 0;
        for (EvictionUnit evictionUnit : onNode) {
            if (evictionUnit.workers().size() > 1) {
                return true;
            }
            leaving += couldLeave(evictionUnit.candidate(), node)
                    ? evictionUnit.tenure().gpuMilli()
                    : 0;
        }
        return leaving >= missingGpuMilli;
    }

    /**
     * Parts of GPUs come together where somebody leaves, or where a part goes on another GPU of the node on which its tenant has one. GPUs of
     * different tenants only change places, which helps nobody.
     */
    private boolean couldBringTogether(boolean plain, NodeId node, List<EvictionUnit> onNode) {
        for (EvictionUnit evictionUnit : onNode) {
            if (!plain
                    || !evictionUnit.candidate().booking().shape().isPlain()
                    || couldLeave(evictionUnit.candidate(), node)
                    || couldJoinAnother(evictionUnit)) {
                return true;
            }
        }
        return false;
    }

    /** Whether it could join another part of its tenant on the node, or is a part that thousandths do not tell. */
    private boolean couldJoinAnother(EvictionUnit evictionUnit) {
        Booking booking = evictionUnit.candidate().booking();
        return switch (booking.shape().gpus()) {
            case GpuRequest.Whole whole -> false;
            case GpuRequest.Fraction fraction -> {
                Allocation.Place place = evictionUnit.workers().getFirst().place();
                yield fraction.devices() > 1
                        || !(place instanceof Allocation.Place.OnNode on)
                        || poolCapacity.isSharedBeside(
                                on.node(),
                                on.shares().getFirst().device(),
                                booking.path().tenant());
            }
            case GpuRequest.Memory memory -> true;
            case GpuRequest.Mig mig -> true;
        };
    }

    private boolean couldLeave(EvictionCandidate evictionCandidate, NodeId node) {
        // A gang has other nodes to go to and from: it is left to the search.
        return evictionCandidate.allocation().workers().size() > 1
                || !evictionCandidate.booking().shape().isPlain()
                || places.computeIfAbsent(
                                new Asked(
                                        evictionCandidate.booking().shape(),
                                        evictionCandidate.booking().path().tenant()),
                                asked -> elsewhere(evictionCandidate))
                        .than(node);
    }

    private Elsewhere elsewhere(EvictionCandidate evictionCandidate) {
        Optional<NodeId> first = node(evictionCandidate, anywhere -> true);
        boolean another = first.isPresent()
                && node(evictionCandidate, node -> !node.id().equals(first.get()))
                        .isPresent();
        return new Elsewhere(first, another);
    }

    private Optional<NodeId> node(EvictionCandidate evictionCandidate, Predicate<Node> nodes) {
        PlacementRequest placementRequest = new PlacementRequest(
                evictionCandidate.booking().shape(),
                List.of(1),
                evictionCandidate.booking().path(),
                nodes);
        return poolCapacity
                .place(placementRequest, Availability.AFTER_RELEASES)
                .map(place -> place.workers().getFirst().place())
                .flatMap(place ->
                        place instanceof Allocation.Place.OnNode on ? Optional.of(on.node()) : Optional.empty());
    }
}
