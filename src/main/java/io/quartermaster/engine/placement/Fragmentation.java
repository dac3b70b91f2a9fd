package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.WorkloadMix;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The free capacity that a placement would make useless for the expected work. It is fragmentation gradient descent
 * (Weng et al., "Beware of Fragmentation", USENIX ATC 2023), which asks whether one more workload of each kind would
 * fit. Three terms are added. The first counts GPUs for which a node has too few processors left as unusable, long
 * before the last workload no longer fits. The second adds a cost for GPU models that some of the expected work cannot
 * do without; it grows with the demand for them. The third prefers to leave less on a node.
 */
final class Fragmentation {
    private static final long PARTS_OF_WHOLE = 1_000_000;
    /** Weights of the additional terms, in thousandths of a GPU; found on the OpenB trace. */
    private static final long LEFT_CPU_WEIGHT = 50;

    private static final long LEFT_GPU_WEIGHT = 50;
    /** The weight of a GPU for which the demand of work that can use no other equals the supply. */
    private static final long SCARCITY_WEIGHT = 500;

    private final List<Kind> kinds = new ArrayList<>();
    private final long largestCpuMilli;
    private final long largestGpuMilli;
    private final long cpuMilliPerGpu;
    private final Map<NodeCapacity, Long> scarcity;
    private final Map<ChoiceKey, Map<NodeCapacity, Optional<Choice>>> knownChoices = new LinkedHashMap<>();

    /** The inputs of a choice, besides the node. */
    private record ChoiceKey(Shape shape, String tenant) {}

    /** A kind of expected work with its part of all work. */
    private record Kind(int devices, int gpuMilliEach, WorkloadMix.Kind work, long part) {
        long gpuMilli() {
            return (long) devices * gpuMilliEach;
        }
    }

    /** The best devices of a node for one worker, with their cost. */
    record Choice(List<Allocation.Share> shares, long cost) {}

    Fragmentation(WorkloadMix workloadMix, Collection<NodeCapacity> nodes) {
        long weights = 0;
        for (WorkloadMix.Kind kind : workloadMix.kinds()) {
            weights += kind.weight();
        }
        for (WorkloadMix.Kind kind : workloadMix.kinds()) {
            kinds.add(
                    new Kind(devices(kind.gpus()), each(kind.gpus()), kind, kind.weight() * PARTS_OF_WHOLE / weights));
        }
        long cpuMilli = 1;
        long gpuMilli = 1;
        for (NodeCapacity node : nodes) {
            cpuMilli = Math.max(cpuMilli, node.node().cpuMilli().orElse(0));
            gpuMilli = Math.max(gpuMilli, (long) node.devices().size() * GpuCapacity.WHOLE_GPU_MILLI);
        }
        largestCpuMilli = cpuMilli;
        largestGpuMilli = gpuMilli;
        cpuMilliPerGpu = cpuMilliPerGpu(nodes);
        scarcity = scarcity(nodes);
    }

    /**
     * The processors that each GPU needs for the expected work: normally the demand of the work on GPUs. If all work
     * together asks for more than there is, it is the demand of all work. Work without GPUs then takes processors that
     * the GPUs need.
     */
    private long cpuMilliPerGpu(Collection<NodeCapacity> nodes) {
        long gpuMilli = 0;
        long besideGpus = 0;
        long all = 0;
        for (Kind kind : kinds) {
            gpuMilli += kind.part * kind.gpuMilli();
            besideGpus += kind.devices > 0 ? kind.part * kind.work.cpuMilli() : 0;
            all += kind.part * kind.work.cpuMilli();
        }
        long gpus = gpuMilli / GpuCapacity.WHOLE_GPU_MILLI;
        if (gpus == 0) {
            return 0;
        }
        long devicesThere = 0;
        long cpuMilliThere = 0;
        for (NodeCapacity node : nodes) {
            if (node.node().cpuMilli().isPresent()) {
                devicesThere += node.devices().size();
                cpuMilliThere += node.node().cpuMilli().getAsLong();
            }
        }
        return (all / gpus * devicesThere > cpuMilliThere ? all : besideGpus) / gpus;
    }

    /**
     * The demand for each node's GPUs by work that can use only some models; {@link #PARTS_OF_WHOLE} means that demand
     * equals supply.
     */
    private Map<NodeCapacity, Long> scarcity(Collection<NodeCapacity> nodes) {
        long allDevices = 0;
        for (NodeCapacity node : nodes) {
            allDevices += node.devices().size();
        }
        long allWanted = 0;
        for (Kind kind : kinds) {
            allWanted += kind.part * kind.gpuMilli();
        }
        Map<NodeCapacity, Long> scarcity = new HashMap<>();
        for (Kind kind : kinds) {
            long suitable = 0;
            for (NodeCapacity node : nodes) {
                suitable += node.hasModel(kind.work.models()) ? node.devices().size() : 0;
            }
            if (kind.devices > 0 && suitable > 0 && !kind.work.models().isEmpty()) {
                long part = PARTS_OF_WHOLE * kind.part * kind.gpuMilli() / allWanted;
                long wanted = part * allDevices / suitable;
                for (NodeCapacity node : nodes) {
                    if (node.hasModel(kind.work.models())) {
                        scarcity.merge(node, wanted, Long::sum);
                    }
                }
            }
        }
        return scarcity;
    }

    private static int devices(GpuRequest gpus) {
        return switch (gpus) {
            case GpuRequest.Whole whole -> whole.count();
            case GpuRequest.Fraction fraction -> fraction.devices();
            case GpuRequest.Memory memory -> memory.devices();
            case GpuRequest.Mig mig -> 1;
        };
    }

    private static int each(GpuRequest gpus) {
        return switch (gpus) {
            case GpuRequest.Whole whole -> GpuCapacity.WHOLE_GPU_MILLI;
            case GpuRequest.Fraction fraction -> fraction.gpuMilliEach();
            case GpuRequest.Memory memory -> GpuCapacity.WHOLE_GPU_MILLI;
            case GpuRequest.Mig mig -> mig.computeSlices() * GpuCapacity.WHOLE_GPU_MILLI / 7;
        };
    }

    /** Discards the cached choices of a node. */
    void markChanged(NodeCapacity node) {
        knownChoices.values().forEach(ofShape -> ofShape.remove(node));
    }

    /** The best devices of a node for one worker of the request, if it fits; cached for {@link Availability#NOW}. */
    Function<NodeCapacity, Optional<Choice>> choices(PlacementRequest placementRequest, Availability availability) {
        if (availability != Availability.NOW) {
            return node -> choose(node, placementRequest, availability);
        }
        Map<NodeCapacity, Optional<Choice>> ofShape = knownChoices.computeIfAbsent(
                new ChoiceKey(placementRequest.shape(), placementRequest.tenant()), wanted -> new HashMap<>());
        return node -> ofShape.computeIfAbsent(node, one -> choose(one, placementRequest, availability));
    }

    private Optional<Choice> choose(NodeCapacity node, PlacementRequest placementRequest, Availability availability) {
        Optional<List<Allocation.Share>> usual =
                node.findShares(placementRequest.shape(), placementRequest.tenant(), availability);
        if (usual.isEmpty()) {
            return Optional.empty();
        }
        int[] left = node.left(availability);
        long cpuLeft = node.freeCpuMilli(availability);
        long before = lost(node, left, cpuLeft);
        long scarce = SCARCITY_WEIGHT * scarcity.getOrDefault(node, 0L);
        long cpuAfter = cpuLeft - placementRequest.shape().cpuMilli();
        Choice best = null;
        for (List<Allocation.Share> shares : alternatives(node, placementRequest, availability, usual.get(), left)) {
            int[] after = left.clone();
            shares.forEach(share -> after[node.position(share.device())] -= share.gpuMilli());
            long taken = 0;
            for (Allocation.Share share : shares) {
                taken += share.gpuMilli();
            }
            long cost = lost(node, after, cpuAfter)
                    - before
                    + scarce * taken / GpuCapacity.WHOLE_GPU_MILLI
                    + beside(node, after, cpuAfter);
            best = best == null || cost < best.cost ? new Choice(shares, cost) : best;
        }
        return Optional.ofNullable(best);
    }

    /**
     * The GPUs to consider for a part of one GPU. Of several GPUs with the same free amount, only the first is
     * considered.
     */
    private static List<List<Allocation.Share>> alternatives(
            NodeCapacity node,
            PlacementRequest placementRequest,
            Availability availability,
            List<Allocation.Share> usual,
            int[] left) {
        if (!(placementRequest.gpus() instanceof GpuRequest.Fraction fraction) || fraction.devices() > 1) {
            return List.of(usual);
        }
        List<List<Allocation.Share>> found = new ArrayList<>();
        List<Integer> seen = new ArrayList<>();
        for (GpuCapacity device : node.devices()) {
            int here = left[node.position(device.index())];
            if (!seen.contains(here)) {
                device.findShare(fraction, placementRequest.tenant(), availability)
                        .ifPresent(share -> {
                            seen.add(here);
                            found.add(List.of(share));
                        });
            }
        }
        return found;
    }

    /** The capacity that is free now and that the expected work could not use, on average over its kinds. */
    long unusableGpuMilli(Collection<NodeCapacity> nodes) {
        long unusable = 0;
        for (NodeCapacity node : nodes) {
            unusable += unusable(node, node.left(Availability.NOW), node.freeCpuMilli(Availability.NOW));
        }
        return unusable / PARTS_OF_WHOLE;
    }

    /**
     * The free capacity of a node that the expected work could not use, in thousandths of a GPU times
     * {@link #PARTS_OF_WHOLE}.
     */
    private long unusable(NodeCapacity node, int[] left, long cpuLeft) {
        long total = total(left);
        long unusable = 0;
        for (Kind kind : total == 0 ? List.<Kind>of() : kinds) {
            unusable += kind.part * unusableFor(kind, node, left, cpuLeft, total);
        }
        return unusable;
    }

    private static long unusableFor(Kind kind, NodeCapacity node, int[] left, long cpuLeft, long total) {
        boolean suits = kind.devices > 0 && kind.work.cpuMilli() <= cpuLeft && node.hasModel(kind.work.models());
        int places = 0;
        long tooSmall = 0;
        for (int free : left) {
            if (free >= kind.gpuMilliEach) {
                places++;
            } else {
                tooSmall += free;
            }
        }
        return suits && places >= kind.devices ? tooSmall : total;
    }

    /** The free capacity of a node that will hardly be used, in thousandths of a GPU times {@link #PARTS_OF_WHOLE}. */
    private long lost(NodeCapacity node, int[] left, long cpuLeft) {
        return unusable(node, left, cpuLeft) + PARTS_OF_WHOLE * withoutProcessors(node, left, cpuLeft);
    }

    private long withoutProcessors(NodeCapacity node, int[] left, long cpuLeft) {
        if (node.node().cpuMilli().isEmpty() || cpuMilliPerGpu == 0) {
            return 0;
        }
        return Math.max(0, total(left) - cpuLeft * GpuCapacity.WHOLE_GPU_MILLI / cpuMilliPerGpu);
    }

    private static long total(int[] left) {
        long total = 0;
        for (int free : left) {
            total += free;
        }
        return total;
    }

    private long beside(NodeCapacity node, int[] after, long cpuAfter) {
        boolean cpuLimits = node.node().cpuMilli().isPresent();
        long cpuLeft = cpuLimits ? LEFT_CPU_WEIGHT * PARTS_OF_WHOLE * cpuAfter / largestCpuMilli : 0;
        return cpuLeft + LEFT_GPU_WEIGHT * PARTS_OF_WHOLE * total(after) / largestGpuMilli;
    }
}
