package io.quartermaster.engine.model;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Shape of a workload: one set of equal workers, or several sets, each with its own minimum and its own topology. The
 * workers of a further set are numbered after those of the sets before it. The components before {@code further}
 * describe the first set.
 *
 * @param workers the full number of workers
 * @param minWorkers the number of workers that it needs to start; if less than {@code workers}, the set is elastic
 * @param gpus the GPUs of each worker
 * @param cpuMilli thousandths of a core of each worker
 * @param memoryMiB main memory of each worker
 * @param labels the labels that a node must have
 * @param requiredLevel the topology level of which one domain must contain all workers
 * @param preferredLevel the topology level of which one domain should contain all workers
 * @param slice the slices of workers that are placed closer together; both numbers of workers are multiples of it
 * @param further the other sets, which have no further sets themselves
 * @param together the topology level of which one domain must contain the workers of all sets
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
        Optional<WorkerSlice> slice,
        List<Shape> further,
        Optional<String> together) {

    public Shape {
        if (minWorkers < 1 || workers < minWorkers) {
            throw new IllegalArgumentException(
                    "workers must be at least min-workers, and min-workers at least 1: " + workers + ", " + minWorkers);
        }
        if (slice.isPresent()
                && (workers % slice.get().workers() != 0
                        || minWorkers % slice.get().workers() != 0)) {
            throw new IllegalArgumentException("workers and min-workers must be multiples of the slice: " + workers
                    + ", " + minWorkers + ", " + slice.get().workers());
        }
        if (cpuMilli < 0 || memoryMiB < 0) {
            throw new IllegalArgumentException("cpu and memory must not be negative");
        }
        further = List.copyOf(further);
        for (Shape set : further) {
            if (!set.further.isEmpty() || set.takesFewer()) {
                throw new IllegalArgumentException("a worker set must not have worker sets, nor accept fewer GPUs");
            }
        }
        if (further.isEmpty() && together.isPresent()) {
            throw new IllegalArgumentException("a common level requires several worker sets");
        }
        if (!further.isEmpty() && gpus instanceof GpuRequest.Whole whole && whole.takesFewer()) {
            throw new IllegalArgumentException("work of several worker sets must not accept fewer GPUs");
        }
        labels = labels.isEmpty()
                ? Collections.emptySortedMap()
                : Collections.unmodifiableSortedMap(new TreeMap<>(labels));
    }

    /** Uses only the fields that differ most often, because the engine looks up thousands of shapes. */
    @Override
    public int hashCode() {
        return ((gpus.hashCode() * 31 + workers) * 31 + Long.hashCode(cpuMilli)) * 31 + Long.hashCode(memoryMiB);
    }

    /** A shape of one worker with this number of whole GPUs and no other need. */
    public static Shape ofWholeGpus(int count) {
        return gang(1, count);
    }

    /** A shape of workers that start together or not at all, each with this number of whole GPUs. */
    public static Shape gang(int workers, int gpusEach) {
        return ofWorkers(workers, GpuRequest.whole(gpusEach)).shape();
    }

    /** A builder that starts with workers that start together or not at all and need GPUs only. */
    public static Builder ofWorkers(int workers, GpuRequest gpusEach) {
        return new Builder(new Shape(
                workers,
                workers,
                gpusEach,
                0,
                0,
                Collections.emptySortedMap(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                List.of(),
                Optional.empty()));
    }

    /** A builder that starts with this shape. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Whether it accepts fewer GPUs if it cannot have all. */
    public boolean takesFewer() {
        return gpus instanceof GpuRequest.Whole whole && whole.takesFewer();
    }

    /** A copy with other GPUs of each worker. */
    public Shape with(GpuRequest other) {
        return toBuilder().gpus(other).shape();
    }

    /**
     * The shape while the workload has this allocation or nomination: if it accepts fewer GPUs, a copy that needs
     * exactly the GPUs that its workers got.
     */
    public Shape as(Allocation given) {
        if (!takesFewer() || given.workers().isEmpty()) {
            return this;
        }
        return with(GpuRequest.whole(
                Math.toIntExact(given.workers().getFirst().place().gpuMilli() / 1000)));
    }

    /** The number of workers beyond the minimum that start and stop together. */
    public int step() {
        return slice.map(WorkerSlice::workers).orElse(1);
    }

    /**
     * One worker set of a shape.
     *
     * @param set the shape of the set alone
     * @param first the number of its first worker
     */
    public record WorkerSet(Shape set, int first) {

        public boolean has(int number) {
            return number >= first && number < first + set.workers;
        }

        /** The slice of the set that contains a worker; without slices, each worker counts as one. */
        public int sliceOf(int number) {
            return (number - first) / set.step();
        }

        /** The workers of an allocation that belong to the set. */
        public List<Allocation.Worker> of(Allocation held) {
            return held.workers().stream()
                    .filter(worker -> has(worker.number()))
                    .toList();
        }
    }

    /** Whether it has only one set of workers. */
    public boolean isPlain() {
        return further.isEmpty();
    }

    public List<WorkerSet> sets() {
        if (isPlain()) {
            return List.of(new WorkerSet(this, 0));
        }
        List<WorkerSet> sets = new ArrayList<>();
        sets.add(new WorkerSet(first(), 0));
        int first = workers;
        for (Shape set : further) {
            sets.add(new WorkerSet(set, first));
            first += set.workers;
        }
        return sets;
    }

    private Shape first() {
        return toBuilder().further(List.of(), Optional.empty()).shape();
    }

    /** The set to which a worker belongs. */
    public WorkerSet setOf(int number) {
        for (WorkerSet set : sets()) {
            if (set.has(number)) {
                return set;
            }
        }
        throw new IllegalArgumentException("no worker has the number " + number);
    }

    /** The shape of the set to which a worker belongs. */
    public Shape of(int number) {
        return isPlain() ? this : setOf(number).set();
    }

    /** The number of workers of all sets. */
    public int allWorkers() {
        int all = workers;
        for (Shape set : further) {
            all += set.workers;
        }
        return all;
    }

    /** The minimum number of workers of all sets. */
    public int allMinWorkers() {
        int all = minWorkers;
        for (Shape set : further) {
            all += set.minWorkers;
        }
        return all;
    }

    /**
     * Whether an allocation suffices to run: it has the minimum of workers of each set, and for a set with slices the
     * first ones.
     */
    public boolean isEnough(Allocation held) {
        if (isPlain()) {
            return isEnough(held.workers(), 0);
        }
        for (WorkerSet set : sets()) {
            if (!set.set().isEnough(set.of(held), set.first())) {
                return false;
            }
        }
        return true;
    }

    private boolean isEnough(List<Allocation.Worker> held, int first) {
        return held.size() >= minWorkers
                && (slice.isEmpty() || held.get(minWorkers - 1).number() == first + minWorkers - 1);
    }

    public boolean elastic() {
        return minWorkers < workers;
    }

    /** Builder of a shape. */
    public static final class Builder {
        private int workers;
        private int minWorkers;
        private GpuRequest gpus;
        private long cpuMilli;
        private long memoryMiB;
        private SortedMap<String, String> labels;
        private Optional<String> requiredLevel;
        private Optional<String> preferredLevel;
        private Optional<WorkerSlice> workerSlice;
        private List<Shape> further;
        private Optional<String> together;

        private Builder(Shape from) {
            workers = from.workers;
            minWorkers = from.minWorkers;
            gpus = from.gpus;
            cpuMilli = from.cpuMilli;
            memoryMiB = from.memoryMiB;
            labels = from.labels;
            requiredLevel = from.requiredLevel;
            preferredLevel = from.preferredLevel;
            workerSlice = from.slice;
            further = from.further;
            together = from.together;
        }

        public Builder workers(int count) {
            workers = count;
            return this;
        }

        public Builder minWorkers(int least) {
            minWorkers = least;
            return this;
        }

        public Builder gpus(GpuRequest ofEach) {
            gpus = ofEach;
            return this;
        }

        public Builder cpuMilli(long ofEach) {
            cpuMilli = ofEach;
            return this;
        }

        public Builder memoryMiB(long ofEach) {
            memoryMiB = ofEach;
            return this;
        }

        public Builder labels(SortedMap<String, String> ofNodes) {
            labels = ofNodes;
            return this;
        }

        public Builder requiredLevel(Optional<String> level) {
            requiredLevel = level;
            return this;
        }

        public Builder preferredLevel(Optional<String> level) {
            preferredLevel = level;
            return this;
        }

        public Builder slice(Optional<WorkerSlice> ofWorkers) {
            workerSlice = ofWorkers;
            return this;
        }

        public Builder further(List<Shape> sets, Optional<String> level) {
            further = sets;
            together = level;
            return this;
        }

        public Shape shape() {
            return new Shape(
                    workers,
                    minWorkers,
                    gpus,
                    cpuMilli,
                    memoryMiB,
                    labels,
                    requiredLevel,
                    preferredLevel,
                    workerSlice,
                    further,
                    together);
        }
    }
}
