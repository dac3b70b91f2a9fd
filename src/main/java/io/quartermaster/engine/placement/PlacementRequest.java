package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Workers that need places, all of one shape, placed all or none.
 *
 * @param numbers the workers' numbers, in order
 * @param path the path of their workload: a shared GPU may belong to one tenant only
 * @param within the nodes they may be on, in addition to the shape's requirements
 * @param first the number of the first worker of the shape's first slice
 */
public record PlacementRequest(Shape shape, List<Integer> numbers, QuotaPath path, Predicate<Node> within, int first) {

    public PlacementRequest {
        numbers = List.copyOf(numbers);
    }

    public PlacementRequest(Shape shape, List<Integer> numbers, QuotaPath path, Predicate<Node> within) {
        this(shape, numbers, path, within, 0);
    }

    public PlacementRequest within(Predicate<Node> nodes) {
        return new PlacementRequest(shape, numbers, path, within.and(nodes), first);
    }

    /** The workers by slice; if the shape has no slices, all in one request. */
    List<PlacementRequest> slices() {
        return shape.slice()
                .map(workerSlice -> workerSlice.split(numbers, first).stream()
                        .map(some -> new PlacementRequest(shape, some, path, within, first))
                        .toList())
                .orElse(List.of(this));
    }

    /** The workers by worker set. */
    List<PlacementRequest> sets() {
        List<PlacementRequest> sets = new ArrayList<>();
        for (Shape.WorkerSet set : shape.sets()) {
            List<Integer> some = numbers.stream().filter(set::has).toList();
            if (!some.isEmpty()) {
                sets.add(new PlacementRequest(set.set(), some, path, within, set.first()));
            }
        }
        return sets;
    }

    boolean isOfWholeGpus() {
        return shape.isPlain()
                ? gpus() instanceof GpuRequest.Whole
                : sets().stream().allMatch(PlacementRequest::isOfWholeGpus);
    }

    /** The amount that the workers count as in a pool while they wait. */
    public long gpuMilli(PoolCapacity poolCapacity) {
        if (shape.isPlain()) {
            return poolCapacity.gpuMilliOf(gpus()) * workers();
        }
        long sum = 0;
        for (PlacementRequest set : sets()) {
            sum += poolCapacity.gpuMilliOf(set.gpus()) * set.workers();
        }
        return sum;
    }

    /** The shape of the first worker. */
    public Shape shapeOfFirst() {
        return shape.of(numbers.getFirst());
    }

    /** This request with another shape. */
    public PlacementRequest with(Shape other) {
        return new PlacementRequest(other, numbers, path, within, first);
    }

    String tenant() {
        return path.tenant();
    }

    public int workers() {
        return numbers.size();
    }

    /**
     * The least amount that must be free anywhere. For a share of memory it is 0, since its part of a large GPU may be
     * tiny.
     */
    public long leastGpuMilli() {
        if (!shape.isPlain()) {
            return sets().stream().mapToLong(PlacementRequest::leastGpuMilli).sum();
        }
        long each =
                switch (shape.gpus()) {
                    case GpuRequest.Whole whole -> whole.count() * 1000L;
                    case GpuRequest.Fraction fraction -> (long) fraction.devices() * fraction.gpuMilliEach();
                    case GpuRequest.Memory memory -> 0;
                    case GpuRequest.Mig mig -> mig.computeSlices() * 1000L / 7;
                };
        return each * workers();
    }

    Booking booking(Allocation allocation) {
        return new Booking(path, Optional.empty(), shape, true, allocation, false);
    }

    GpuRequest gpus() {
        return shape.gpus();
    }
}
