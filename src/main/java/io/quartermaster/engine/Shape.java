package io.quartermaster.engine;

import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a workload needs.
 *
 * @param workers how many workers it is meant to have
 * @param minWorkers how many it starts with at least; fewer than {@code workers} makes it elastic
 * @param gpus of each worker
 * @param cpuMilli thousandths of a core of each worker
 * @param memoryMiB main memory of each worker
 * @param labels only on nodes that have all of these
 * @param requiredLevel all workers inside one domain of this topology level
 * @param preferredLevel inside one domain of this level where possible
 * @param slice what of them is closer together; both numbers of workers are whole slices
 */
public record Shape(
        int workers,
        int minWorkers,
        GpuRequest gpus,
        long cpuMilli,
        long memoryMiB,
        SortedMap<String, String> labels,
        Optional<String> requiredLevel,
        Optional<String> preferredLevel,
        Optional<Slice> slice) {

    public Shape {
        if (minWorkers < 1 || workers < minWorkers) {
            throw new IllegalArgumentException(
                    "workers are at least min-workers, and these at least 1: " + workers + ", " + minWorkers);
        }
        if (slice.isPresent()
                && (workers % slice.get().workers() != 0
                        || minWorkers % slice.get().workers() != 0)) {
            throw new IllegalArgumentException("workers and min-workers are multiples of those of a slice: " + workers
                    + ", " + minWorkers + ", " + slice.get().workers());
        }
        if (cpuMilli < 0 || memoryMiB < 0) {
            throw new IllegalArgumentException("cpu and memory are not negative");
        }
        labels = Collections.unmodifiableSortedMap(new TreeMap<>(labels));
    }

    /** One without slices. */
    public Shape(
            int workers,
            int minWorkers,
            GpuRequest gpus,
            long cpuMilli,
            long memoryMiB,
            SortedMap<String, String> labels,
            Optional<String> requiredLevel,
            Optional<String> preferredLevel) {
        this(workers, minWorkers, gpus, cpuMilli, memoryMiB, labels, requiredLevel, preferredLevel, Optional.empty());
    }

    /** One worker with so many whole GPUs and no further wish. */
    public static Shape ofWholeGpus(int count) {
        return gang(1, count);
    }

    /** Workers that start together or not at all, each with so many whole GPUs. */
    public static Shape gang(int workers, int gpusEach) {
        return new Shape(
                workers,
                workers,
                GpuRequest.whole(gpusEach),
                0,
                0,
                Collections.emptySortedMap(),
                Optional.empty(),
                Optional.empty());
    }

    /** Whether it starts with fewer GPUs where it cannot have all. */
    public boolean takesFewer() {
        return gpus instanceof GpuRequest.Whole whole && whole.takesFewer();
    }

    /** The same for another amount of GPUs of each worker. */
    public Shape with(GpuRequest other) {
        return new Shape(workers, minWorkers, other, cpuMilli, memoryMiB, labels, requiredLevel, preferredLevel, slice);
    }

    /** What it is while it holds or is promised this: where it takes fewer GPUs, so many as its workers got, and no fewer. */
    public Shape as(Allocation given) {
        if (!takesFewer() || given.workers().isEmpty()) {
            return this;
        }
        return with(GpuRequest.whole(
                Math.toIntExact(given.workers().getFirst().place().gpuMilli() / 1000)));
    }

    /** How many workers come and go together beyond the minimum. */
    public int step() {
        return slice.map(Slice::workers).orElse(1);
    }

    /** Whether that is enough to run with: so many workers or, where these are in slices, the first of them. */
    public boolean isEnough(Allocation held) {
        List<Allocation.Worker> all = held.workers();
        return all.size() >= minWorkers
                && (slice.isEmpty() || all.get(minWorkers - 1).number() == minWorkers - 1);
    }

    public boolean elastic() {
        return minWorkers < workers;
    }
}
