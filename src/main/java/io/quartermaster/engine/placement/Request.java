package io.quartermaster.engine.placement;

import io.quartermaster.engine.Allocation;
import io.quartermaster.engine.GpuRequest;
import io.quartermaster.engine.Node;
import io.quartermaster.engine.QuotaPath;
import io.quartermaster.engine.Shape;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Workers that need places, all alike and all or none.
 *
 * @param numbers the workers' numbers, in order
 * @param path whose they are: a shared GPU may belong to one tenant only
 * @param within on which nodes they may be, beside what the shape asks of a node
 */
public record Request(Shape shape, List<Integer> numbers, QuotaPath path, Predicate<Node> within) {

    public Request {
        numbers = List.copyOf(numbers);
    }

    public Request within(Predicate<Node> nodes) {
        return new Request(shape, numbers, path, within.and(nodes));
    }

    /** Its workers by slice; where they are in none, all at once. */
    List<Request> slices() {
        return shape.slice()
                .map(slice -> slice.split(numbers).stream()
                        .map(some -> new Request(shape, some, path, within))
                        .toList())
                .orElse(List.of(this));
    }

    /** The same for another shape. */
    public Request with(Shape other) {
        return new Request(other, numbers, path, within);
    }

    String tenant() {
        return path.tenant();
    }

    public int workers() {
        return numbers.size();
    }

    /** What must be free at the least, wherever; a share of memory may count as little as one likes on large GPUs. */
    public long leastGpuMilli() {
        long each =
                switch (shape.gpus()) {
                    case GpuRequest.Whole whole -> whole.count() * 1000L;
                    case GpuRequest.Fraction fraction -> (long) fraction.devices() * fraction.gpuMilliEach();
                    case GpuRequest.Memory memory -> 0;
                    case GpuRequest.Mig mig -> mig.computeSlices() * 1000L / 7;
                };
        return each * workers();
    }

    Tenure tenure(Allocation allocation) {
        return new Tenure(path, Optional.empty(), shape, true, allocation, false);
    }

    GpuRequest gpus() {
        return shape.gpus();
    }
}
