package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.placement.Horizon;
import io.quartermaster.engine.placement.Request;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.placement.Tenure;
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
final class Leavers {
    private final Space space;
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

    Leavers(Space space) {
        this.space = space;
    }

    /**
     * Whether so much of those on a node could leave it as a request of one worker misses there; or, where enough is free, whether it could be brought
     * together. For a part of one GPU: whether one of the GPUs could be emptied, or be shared.
     *
     * @param onNode whoever may be moved
     */
    boolean couldMakeRoom(Request request, NodeId node, List<Unit> onNode) {
        boolean plain = isPlain(request);
        if (plain && isPartOfOne(request.shape())) {
            return couldGiveAPart(request, onNode);
        }
        long missing = request.leastGpuMilli() - space.freeGpuMilli(node, Horizon.LATER);
        return missing > 0 ? couldLeave(missing, node, onNode) : couldBringTogether(plain, node, onNode);
    }

    /** Whether nothing but GPUs decides where it may be: where others of its tenant go, it could go as well. */
    private boolean isPlain(Request request) {
        Shape shape = request.shape();
        return shape.isPlain()
                && shape.labels().isEmpty()
                && shape.cpuMilli() == 0
                && shape.memoryMiB() == 0
                && space.pool().sharing() == Pool.Sharing.TENANT
                && (shape.gpus() instanceof GpuRequest.Whole || isPartOfOne(shape));
    }

    private static boolean isPartOfOne(Shape shape) {
        return shape.gpus() instanceof GpuRequest.Fraction part && part.devices() == 1;
    }

    /** On each GPU, how many alike hold something of it: all of them have to go, or one of them is of the same tenant. */
    private boolean couldGiveAPart(Request request, List<Unit> onNode) {
        SortedMap<Integer, Map<Asked, Integer>> byDevice = new TreeMap<>();
        for (Unit unit : onNode) {
            Tenure tenure = unit.holder().tenure();
            boolean plainOne = tenure.shape().gpus() instanceof GpuRequest.Whole
                    || tenure.shape().gpus() instanceof GpuRequest.Fraction;
            boolean whole = tenure.shape().gpus() instanceof GpuRequest.Whole;
            boolean ofTenant = tenure.path().tenant().equals(request.path().tenant());
            boolean smaller = ofTenant && !whole && tenure.gpuMilli() < request.leastGpuMilli();
            if (!plainOne || !tenure.shape().isPlain() || unit.workers().size() > 1 || smaller) {
                return true;
            }
            if (unit.workers().getFirst().place() instanceof Allocation.Place.OnNode on) {
                Asked asked = new Asked(tenure.shape(), tenure.path().tenant());
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
            return space.place(
                            new Request(asked.shape(), numbers, QuotaPath.of(asked.tenant()), node -> true),
                            Horizon.LATER)
                    .isPresent();
        });
    }

    /** Whoever holds something elsewhere too leaves that as well, and others may go there: then it is left to the search. */
    private boolean couldLeave(long missingGpuMilli, NodeId node, List<Unit> onNode) {
        long leaving = 0;
        for (Unit unit : onNode) {
            if (unit.workers().size() > 1) {
                return true;
            }
            leaving += couldLeave(unit.holder(), node) ? unit.tenure().gpuMilli() : 0;
        }
        return leaving >= missingGpuMilli;
    }

    /**
     * Parts of GPUs come together where somebody leaves, or where a part goes on another GPU of the node on which its tenant has one. GPUs of
     * different tenants only change places, which helps nobody.
     */
    private boolean couldBringTogether(boolean plain, NodeId node, List<Unit> onNode) {
        for (Unit unit : onNode) {
            if (!plain
                    || !unit.holder().tenure().shape().isPlain()
                    || couldLeave(unit.holder(), node)
                    || couldJoinAnother(unit)) {
                return true;
            }
        }
        return false;
    }

    /** Whether it could join another part of its tenant on the node, or is a part that thousandths do not tell. */
    private boolean couldJoinAnother(Unit unit) {
        Tenure tenure = unit.holder().tenure();
        return switch (tenure.shape().gpus()) {
            case GpuRequest.Whole whole -> false;
            case GpuRequest.Fraction fraction -> {
                Allocation.Place place = unit.workers().getFirst().place();
                yield fraction.devices() > 1
                        || !(place instanceof Allocation.Place.OnNode on)
                        || space.isSharedBeside(
                                on.node(),
                                on.shares().getFirst().device(),
                                tenure.path().tenant());
            }
            case GpuRequest.Memory memory -> true;
            case GpuRequest.Mig mig -> true;
        };
    }

    private boolean couldLeave(Holder holder, NodeId node) {
        // A gang has other nodes to go to and from: it is left to the search.
        return holder.allocation().workers().size() > 1
                || !holder.tenure().shape().isPlain()
                || places.computeIfAbsent(
                                new Asked(
                                        holder.tenure().shape(),
                                        holder.tenure().path().tenant()),
                                asked -> elsewhere(holder))
                        .than(node);
    }

    private Elsewhere elsewhere(Holder holder) {
        Optional<NodeId> first = node(holder, anywhere -> true);
        boolean another = first.isPresent()
                && node(holder, node -> !node.id().equals(first.get())).isPresent();
        return new Elsewhere(first, another);
    }

    private Optional<NodeId> node(Holder holder, Predicate<Node> nodes) {
        Request request =
                new Request(holder.tenure().shape(), List.of(1), holder.tenure().path(), nodes);
        return space.place(request, Horizon.LATER)
                .map(place -> place.workers().getFirst().place())
                .flatMap(place ->
                        place instanceof Allocation.Place.OnNode on ? Optional.of(on.node()) : Optional.empty());
    }
}
