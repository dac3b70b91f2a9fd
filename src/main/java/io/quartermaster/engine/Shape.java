package io.quartermaster.engine;

import java.util.Collections;
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
 */
public record Shape(
        int workers,
        int minWorkers,
        GpuRequest gpus,
        long cpuMilli,
        long memoryMiB,
        SortedMap<String, String> labels,
        Optional<String> requiredLevel,
        Optional<String> preferredLevel) {

    public Shape {
        if (minWorkers < 1 || workers < minWorkers) {
            throw new IllegalArgumentException(
                    "workers are at least min-workers, and these at least 1: " + workers + ", " + minWorkers);
        }
        if (cpuMilli < 0 || memoryMiB < 0) {
            throw new IllegalArgumentException("cpu and memory are not negative");
        }
        labels = Collections.unmodifiableSortedMap(new TreeMap<>(labels));
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
        return new Shape(workers, minWorkers, other, cpuMilli, memoryMiB, labels, requiredLevel, preferredLevel);
    }

    /** What it is while it holds or is promised this: where it takes fewer GPUs, so many as its workers got, and no fewer. */
    public Shape as(Allocation given) {
        if (!takesFewer() || given.workers().isEmpty()) {
            return this;
        }
        return with(GpuRequest.whole(
                Math.toIntExact(given.workers().getFirst().place().gpuMilli() / 1000)));
    }

    public boolean elastic() {
        return minWorkers < workers;
    }
}
