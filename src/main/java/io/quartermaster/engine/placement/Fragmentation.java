package io.quartermaster.engine.placement;

import io.quartermaster.engine.Allocation;
import io.quartermaster.engine.GpuRequest;
import io.quartermaster.engine.Mix;
import io.quartermaster.engine.Shape;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * What a placement would leave that the expected work cannot use: fragmentation gradient descent (Weng et al., "Beware
 * of Fragmentation", USENIX ATC 2023), with two terms beside it that decide where the gradient hardly does: less left on
 * the node is better, and what is left of processors and of GPUs should be the same part of each.
 */
final class Fragmentation {
    private static final long PARTS = 1_000_000;
    /** Weights of the terms beside the gradient, in thousandths of a GPU; found on the OpenB trace. */
    private static final long LEFT_CPU = 50;

    private static final long LEFT_GPU = 50;
    private static final long UNBALANCED = 200;

    private final List<Kind> kinds = new ArrayList<>();
    private final long largestCpuMilli;
    private final long largestGpuMilli;
    private final Map<Wanted, Map<NodeSpace, Optional<Choice>>> known = new LinkedHashMap<>();

    /** All that a choice depends on beside the node. */
    private record Wanted(Shape shape, String tenant) {}

    /** A kind of work with its part of all. */
    private record Kind(int devices, int gpuMilliEach, Mix.Kind work, long part) {}

    /** The best devices of a node for one worker, and what they cost. */
    record Choice(List<Allocation.Share> shares, long cost) {}

    Fragmentation(Mix mix, Collection<NodeSpace> nodes) {
        long weights = 0;
        for (Mix.Kind kind : mix.kinds()) {
            weights += kind.weight();
        }
        for (Mix.Kind kind : mix.kinds()) {
            kinds.add(new Kind(devices(kind.gpus()), each(kind.gpus()), kind, kind.weight() * PARTS / weights));
        }
        long cpuMilli = 1;
        long gpuMilli = 1;
        for (NodeSpace node : nodes) {
            cpuMilli = Math.max(cpuMilli, node.node().cpuMilli().orElse(0));
            gpuMilli = Math.max(gpuMilli, (long) node.devices().size() * DeviceSpace.WHOLE);
        }
        largestCpuMilli = cpuMilli;
        largestGpuMilli = gpuMilli;
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
            case GpuRequest.Whole whole -> DeviceSpace.WHOLE;
            case GpuRequest.Fraction fraction -> fraction.gpuMilliEach();
            case GpuRequest.Memory memory -> DeviceSpace.WHOLE;
            case GpuRequest.Mig mig -> mig.computeSlices() * DeviceSpace.WHOLE / 7;
        };
    }

    /** What was worked out for a node holds no longer. */
    void changed(NodeSpace node) {
        known.values().forEach(ofShape -> ofShape.remove(node));
    }

    /** A node's best devices for one worker of the request, if it fits; remembered for what is free at once. */
    Function<NodeSpace, Optional<Choice>> choices(Request request, Horizon horizon) {
        if (horizon != Horizon.AT_ONCE) {
            return node -> choose(node, request, horizon);
        }
        Map<NodeSpace, Optional<Choice>> ofShape =
                known.computeIfAbsent(new Wanted(request.shape(), request.tenant()), wanted -> new HashMap<>());
        return node -> ofShape.computeIfAbsent(node, one -> choose(one, request, horizon));
    }

    private Optional<Choice> choose(NodeSpace node, Request request, Horizon horizon) {
        Optional<List<Allocation.Share>> usual = node.offer(request.shape(), request.tenant(), horizon);
        if (usual.isEmpty()) {
            return Optional.empty();
        }
        int[] left = node.left(horizon);
        long cpuLeft = node.freeCpuMilli(horizon);
        long before = unusable(node, left, cpuLeft);
        long cpuAfter = cpuLeft - request.shape().cpuMilli();
        Choice best = null;
        for (List<Allocation.Share> shares : alternatives(node, request, horizon, usual.get(), left)) {
            int[] after = left.clone();
            shares.forEach(share -> after[node.position(share.device())] -= share.gpuMilli());
            long cost = unusable(node, after, cpuAfter) - before + beside(node, after, cpuAfter);
            best = best == null || cost < best.cost ? new Choice(shares, cost) : best;
        }
        return Optional.ofNullable(best);
    }

    /** A part of one GPU may go on any that it fits on; of those with the same left, the first stands for all. */
    private static List<List<Allocation.Share>> alternatives(
            NodeSpace node, Request request, Horizon horizon, List<Allocation.Share> usual, int[] left) {
        if (!(request.gpus() instanceof GpuRequest.Fraction fraction) || fraction.devices() > 1) {
            return List.of(usual);
        }
        List<List<Allocation.Share>> found = new ArrayList<>();
        List<Integer> seen = new ArrayList<>();
        for (DeviceSpace device : node.devices()) {
            int here = left[node.position(device.index())];
            if (!seen.contains(here)) {
                device.offer(fraction, request.tenant(), horizon).ifPresent(share -> {
                    seen.add(here);
                    found.add(List.of(share));
                });
            }
        }
        return found;
    }

    /** What is free at once that the expected work could not use, on average over its kinds. */
    long unusableGpuMilli(Collection<NodeSpace> nodes) {
        long unusable = 0;
        for (NodeSpace node : nodes) {
            unusable += unusable(node, node.left(Horizon.AT_ONCE), node.freeCpuMilli(Horizon.AT_ONCE));
        }
        return unusable / PARTS;
    }

    /** What is free on a node that the expected work could not use, in thousandths of a GPU times the parts. */
    private long unusable(NodeSpace node, int[] left, long cpuLeft) {
        long total = 0;
        for (int free : left) {
            total += free;
        }
        long unusable = 0;
        for (Kind kind : total == 0 ? List.<Kind>of() : kinds) {
            unusable += kind.part * unusableFor(kind, node, left, cpuLeft, total);
        }
        return unusable;
    }

    private static long unusableFor(Kind kind, NodeSpace node, int[] left, long cpuLeft, long total) {
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

    private long beside(NodeSpace node, int[] after, long cpuAfter) {
        long gpuAfter = 0;
        for (int free : after) {
            gpuAfter += free;
        }
        long ofGpus = (long) node.devices().size() * DeviceSpace.WHOLE;
        long gpuPart = ofGpus == 0 ? 0 : PARTS * gpuAfter / ofGpus;
        boolean cpuLimits = node.node().cpuMilli().isPresent();
        long cpuPart = cpuLimits
                ? PARTS * cpuAfter / Math.max(1, node.node().cpuMilli().getAsLong())
                : gpuPart;
        long cpuLeft = cpuLimits ? LEFT_CPU * PARTS * cpuAfter / largestCpuMilli : 0;
        return cpuLeft + LEFT_GPU * PARTS * gpuAfter / largestGpuMilli + UNBALANCED * Math.abs(cpuPart - gpuPart);
    }
}
