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
 * Decides without a search on which nodes moves cannot make room: those on which too little work could leave for
 * another node. Work can leave a node only if it already has a place elsewhere, since only work on that node is moved.
 * Gangs are left to the search.
 */
final class MoveFeasibility {
    private final PoolCapacity poolCapacity;
    private final Map<DestinationKey, Destinations> destinations = new HashMap<>();
    private final Map<JointMoveKey, Boolean> jointMoves = new HashMap<>();

    private record DestinationKey(Shape shape, String tenant) {}

    private record JointMoveKey(DestinationKey each, int count) {}

    /**
     * The nodes that would take work of a shape.
     *
     * @param node the first node that would take it; absent = none
     * @param another whether a second node would take it, too
     */
    private record Destinations(Optional<NodeId> node, boolean another) {
        boolean includesOtherThan(NodeId from) {
            return node.isPresent() && (!node.get().equals(from) || another);
        }
    }

    MoveFeasibility(PoolCapacity poolCapacity) {
        this.poolCapacity = poolCapacity;
    }

    /**
     * Whether moves could make room on a node for a request of one worker. Either enough work could leave the node, or
     * its free capacity could be brought together if enough is free. For a part of one GPU: whether one of the GPUs
     * could be emptied or shared.
     *
     * @param onNode all movable work on the node
     */
    boolean couldMakeRoom(PlacementRequest placementRequest, NodeId node, List<EvictionUnit> onNode) {
        boolean plain = isPlain(placementRequest);
        if (plain && isPartOfOne(placementRequest.shape())) {
            return couldGiveAPart(placementRequest, onNode);
        }
        long missing = placementRequest.leastGpuMilli() - poolCapacity.freeGpuMilli(node, Availability.AFTER_RELEASES);
        return missing > 0 ? couldLeave(missing, node, onNode) : couldBringTogether(plain, node, onNode);
    }

    /** Whether GPUs alone decide where the request fits. Then it fits wherever other work of its tenant would. */
    private boolean isPlain(PlacementRequest placementRequest) {
        Shape shape = placementRequest.shape();
        return shape.isPlain()
                && shape.labels().isEmpty()
                && shape.cpuMilli() == 0
                && shape.memoryMiB() == 0
                && poolCapacity.pool().sharing() == Pool.Sharing.TENANT
                && (shape.gpus() instanceof GpuRequest.Whole || isPartOfOne(shape));
    }

    /**
     * Whether a unit may find a place at which it makes room for a request of one worker: elsewhere than on a node, or
     * beside other parts on that node. A part that moves to an empty GPU of the node helps a request of several parts,
     * which then shares both GPUs. It also helps a request of memory, because GPUs have different amounts.
     */
    boolean couldGiveWay(PlacementRequest placementRequest, EvictionUnit evictionUnit, NodeId node) {
        boolean needsMoreThanFreeGpus =
                switch (placementRequest.shape().gpus()) {
                    case GpuRequest.Whole whole -> false;
                    case GpuRequest.Fraction fraction -> fraction.devices() > 1;
                    case GpuRequest.Memory memory -> true;
                    case GpuRequest.Mig mig -> false;
                };
        return needsMoreThanFreeGpus || couldLeave(evictionUnit.candidate(), node) || couldJoinAnother(evictionUnit);
    }

    private static boolean isPartOfOne(Shape shape) {
        return shape.gpus() instanceof GpuRequest.Fraction part && part.devices() == 1;
    }

    /**
     * Whether some GPU of the node could be emptied or shared for a part. Of the workloads on a GPU, either all must be
     * able to leave, or one belongs to the same tenant.
     */
    private boolean couldGiveAPart(PlacementRequest placementRequest, List<EvictionUnit> onNode) {
        SortedMap<Integer, Map<DestinationKey, Integer>> byDevice = new TreeMap<>();
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
                DestinationKey destinationKey =
                        new DestinationKey(booking.shape(), booking.path().tenant());
                for (Allocation.Share share : on.shares()) {
                    byDevice.computeIfAbsent(share.device(), device -> new LinkedHashMap<>(2))
                            .merge(destinationKey, 1, Integer::sum);
                }
            }
        }
        for (Map<DestinationKey, Integer> alike : byDevice.values()) {
            if (couldAllGo(alike)) {
                return true;
            }
        }
        return false;
    }

    private boolean couldAllGo(Map<DestinationKey, Integer> alike) {
        for (Map.Entry<DestinationKey, Integer> entry : alike.entrySet()) {
            if (!couldGoTogether(entry.getKey(), entry.getValue())) {
                return false;
            }
        }
        return true;
    }

    private boolean couldGoTogether(DestinationKey destinationKey, int count) {
        return jointMoves.computeIfAbsent(new JointMoveKey(destinationKey, count), key -> {
            List<Integer> numbers = IntStream.range(0, count).boxed().toList();
            return poolCapacity
                    .place(
                            new PlacementRequest(
                                    destinationKey.shape(),
                                    numbers,
                                    QuotaPath.of(destinationKey.tenant()),
                                    node -> true),
                            Availability.AFTER_RELEASES)
                    .isPresent();
        });
    }

    /**
     * Whether work of the missing amount could leave the node. A workload of several workers also leaves other nodes,
     * to which other work may move; such cases are left to the search.
     */
    private boolean couldLeave(long missingGpuMilli, NodeId node, List<EvictionUnit> onNode) {
        long leaving = 0;
        for (EvictionUnit evictionUnit : onNode) {
            if (evictionUnit.workers().size() > 1) {
                return true;
            }
            leaving += couldLeave(evictionUnit.candidate(), node)
                    ? evictionUnit.booking().gpuMilli()
                    : 0;
        }
        return leaving >= missingGpuMilli;
    }

    /**
     * Whether free parts of GPUs could be brought together: by a workload that leaves, or by a part that joins another
     * GPU of its tenant on the node. Exchanging GPUs between tenants gains nothing.
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

    /**
     * Whether the unit could join another part of its tenant on the node. Always true if GPU thousandths do not decide
     * this.
     */
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
        // A gang uses several nodes; it is left to the search.
        return evictionCandidate.allocation().workers().size() > 1
                || !evictionCandidate.booking().shape().isPlain()
                || destinations
                        .computeIfAbsent(
                                new DestinationKey(
                                        evictionCandidate.booking().shape(),
                                        evictionCandidate.booking().path().tenant()),
                                destinationKey -> findDestinations(evictionCandidate))
                        .includesOtherThan(node);
    }

    private Destinations findDestinations(EvictionCandidate evictionCandidate) {
        Optional<NodeId> first = node(evictionCandidate, anywhere -> true);
        boolean another = first.isPresent()
                && node(evictionCandidate, node -> !node.id().equals(first.get()))
                        .isPresent();
        return new Destinations(first, another);
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
