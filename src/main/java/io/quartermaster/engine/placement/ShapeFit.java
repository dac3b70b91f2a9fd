package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.Shape;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/**
 * Compares a shape with the nodes of a pool and names a need that no node can meet, even when all are up and empty. It
 * checks one need after the other, each on the nodes that meet the earlier ones. The text does not describe the nodes,
 * which the reader may not be allowed to know. The class only explains: {@link PoolCapacity#couldEverFit} decides
 * whether there is a place at all.
 */
public final class ShapeFit {
    private final Pool pool;
    private final Collection<Node> nodes;

    public ShapeFit(Pool pool, Collection<Node> nodes) {
        this.pool = pool;
        this.nodes = List.copyOf(nodes);
    }

    /**
     * A clause such as {@code it needs 16 GPUs on one node, and no node of the pool has as many}. Empty if no single
     * need is the cause.
     */
    public Optional<String> unmetNeed(PlacementRequest placementRequest) {
        for (PlacementRequest set : placementRequest.sets()) {
            Optional<String> need = unmetNeed(set.shape(), placementRequest.within());
            if (need.isPresent()) {
                return need;
            }
        }
        return Optional.empty();
    }

    /** The clause for a shape that may be on every node. */
    public Optional<String> unmetNeed(Shape shape) {
        return unmetNeed(shape, node -> true);
    }

    private Optional<String> unmetNeed(Shape shape, Predicate<Node> within) {
        if (nodes.isEmpty()) {
            return Optional.of("the pool has no nodes");
        }
        List<Node> left = nodes.stream().filter(within).toList();
        if (left.isEmpty()) {
            return Optional.empty();
        }
        left = left.stream()
                .filter(node ->
                        node.labels().entrySet().containsAll(shape.labels().entrySet()))
                .toList();
        if (left.isEmpty()) {
            return Optional.of("it needs a node with " + labels(shape) + ", and no node of the pool has "
                    + (shape.labels().size() == 1 ? "this label" : "these labels"));
        }
        return ofLevels(shape)
                .or(() -> ofTotal(shape))
                .or(() -> ofNodes(
                        shape,
                        nodes.stream()
                                .filter(within)
                                .filter(node -> node.labels()
                                        .entrySet()
                                        .containsAll(shape.labels().entrySet()))
                                .toList()));
    }

    private static String labels(Shape shape) {
        List<String> labels = new ArrayList<>();
        shape.labels().forEach((name, value) -> labels.add(name + "=" + value));
        return (labels.size() == 1 ? "the label " : "the labels ") + String.join(", ", labels);
    }

    private Optional<String> ofLevels(Shape shape) {
        List<String> levels = new ArrayList<>();
        shape.requiredLevel().ifPresent(levels::add);
        shape.slice().ifPresent(workerSlice -> levels.add(workerSlice.level()));
        return levels.stream()
                .filter(level -> !pool.topologyLevels().contains(level))
                .findFirst()
                .map(level -> "it needs the topology level " + level + ", and the pool has no level of this name");
    }

    /** Compares the need of all workers of the set with the GPUs of all nodes. */
    private Optional<String> ofTotal(Shape shape) {
        if (!(shape.gpus() instanceof GpuRequest.Whole whole)) {
            return Optional.empty();
        }
        long needed = (long) whole.fewest() * shape.minWorkers();
        long has = nodes.stream().mapToLong(node -> node.devices().size()).sum();
        return shape.minWorkers() > 1 && needed > has
                ? Optional.of("it needs " + GpuFormat.gpus(needed * 1000) + " in all, and the pool has fewer")
                : Optional.empty();
    }

    private static Optional<String> ofNodes(Shape shape, List<Node> suitable) {
        Optional<String> unmet =
                switch (shape.gpus()) {
                    case GpuRequest.Mig mig -> ofMig(mig, suitable);
                    case GpuRequest.Memory memory ->
                        ofMemory(memory, suitable).or(() -> ofCount(memory.devices(), suitable));
                    case GpuRequest.Fraction fraction -> ofCount(fraction.devices(), suitable);
                    case GpuRequest.Whole whole -> ofCount(whole.fewest(), suitable);
                };
        if (unmet.isPresent()) {
            return unmet;
        }
        List<Node> withGpus =
                suitable.stream().filter(node -> hasGpus(node, shape.gpus())).toList();
        return ofAmount(
                        shape.cpuMilli(),
                        withGpus,
                        node -> node.cpuMilli().orElse(Long.MAX_VALUE),
                        milli -> GpuFormat.decimal(milli) + (milli == 1000 ? " CPU" : " CPUs"))
                .or(() -> ofAmount(
                        shape.memoryMiB(),
                        withGpus,
                        node -> node.memoryMiB().orElse(Long.MAX_VALUE),
                        mib -> mib + " MiB of memory"));
    }

    private static boolean hasGpus(Node node, GpuRequest gpus) {
        return switch (gpus) {
            case GpuRequest.Mig mig -> node.devices().stream().anyMatch(device -> isMadeOn(mig, device));
            case GpuRequest.Memory memory ->
                node.devices().stream()
                                .filter(device -> device.memoryMiB() >= memory.memoryMiBEach())
                                .count()
                        >= memory.devices();
            case GpuRequest.Fraction fraction -> node.devices().size() >= fraction.devices();
            case GpuRequest.Whole whole -> node.devices().size() >= whole.fewest();
        };
    }

    private static boolean isMadeOn(GpuRequest.Mig mig, Node.Device device) {
        return device.mig() && MigSlots.slices(mig, device.memoryMiB()).isPresent();
    }

    private static Optional<String> ofMig(GpuRequest.Mig mig, List<Node> suitable) {
        String needs = "it needs a MIG instance " + mig.profile() + ", and no GPU of the pool ";
        boolean any = suitable.stream().flatMap(node -> node.devices().stream()).anyMatch(Node.Device::mig);
        if (!any) {
            return Optional.of(needs + "has MIG enabled");
        }
        boolean made =
                suitable.stream().flatMap(node -> node.devices().stream()).anyMatch(device -> isMadeOn(mig, device));
        return made ? Optional.empty() : Optional.of(needs + "supports this MIG profile");
    }

    private static Optional<String> ofMemory(GpuRequest.Memory memory, List<Node> suitable) {
        long most = suitable.stream()
                .flatMap(node -> node.devices().stream())
                .mapToLong(Node.Device::memoryMiB)
                .max()
                .orElse(0);
        return most < memory.memoryMiBEach()
                ? Optional.of("it needs " + memory.memoryMiBEach()
                        + " MiB of memory on one GPU, and no GPU of the pool has as much")
                : Optional.empty();
    }

    private static Optional<String> ofCount(int gpus, List<Node> suitable) {
        int most =
                suitable.stream().mapToInt(node -> node.devices().size()).max().orElse(0);
        return most < gpus
                ? Optional.of("it needs " + GpuFormat.gpus(gpus * 1000L)
                        + " on one node, and no node of the pool has as many")
                : Optional.empty();
    }

    private interface AmountText {
        String of(long amount);
    }

    private static Optional<String> ofAmount(
            long needed, List<Node> nodes, ToLongFunction<Node> amount, AmountText words) {
        long most = nodes.stream().mapToLong(amount).max().orElse(Long.MAX_VALUE);
        return most < needed
                ? Optional.of("it needs " + words.of(needed) + " on one node, and no node of the pool has as much")
                : Optional.empty();
    }
}
