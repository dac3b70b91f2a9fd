package io.quartermaster.engine.model;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a workload needs: one set of workers that are alike, or several, each with its own minimum and its own topology. The workers of further sets are
 * numbered after those of the sets before; what follows says what the first set needs.
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
 * @param further the other sets, none of which has further ones
 * @param together the workers of all sets inside one domain of this level
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
        further = List.copyOf(further);
        for (Shape set : further) {
            if (!set.further.isEmpty() || set.takesFewer()) {
                throw new IllegalArgumentException("a worker set has no worker sets, nor does it take fewer GPUs");
            }
        }
        if (further.isEmpty() && together.isPresent()) {
            throw new IllegalArgumentException("where there is one worker set, its own level says where it is");
        }
        if (!further.isEmpty() && gpus instanceof GpuRequest.Whole whole && whole.takesFewer()) {
            throw new IllegalArgumentException("work of several worker sets takes no fewer GPUs");
        }
        labels = labels.isEmpty()
                ? Collections.emptySortedMap()
                : Collections.unmodifiableSortedMap(new TreeMap<>(labels));
    }

    /** Of what tells most shapes apart; they are looked up by the thousand. */
    @Override
    public int hashCode() {
        return ((gpus.hashCode() * 31 + workers) * 31 + Long.hashCode(cpuMilli)) * 31 + Long.hashCode(memoryMiB);
    }

    /** One worker with so many whole GPUs and no further wish. */
    public static Shape ofWholeGpus(int count) {
        return gang(1, count);
    }

    /** Workers that start together or not at all, each with so many whole GPUs. */
    public static Shape gang(int workers, int gpusEach) {
        return ofWorkers(workers, GpuRequest.whole(gpusEach)).shape();
    }

    /** Workers that start together or not at all and need nothing but GPUs, to say more of. */
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

    /** The same, to change something of. */
    public Builder but() {
        return new Builder(this);
    }

    /** Whether it starts with fewer GPUs where it cannot have all. */
    public boolean takesFewer() {
        return gpus instanceof GpuRequest.Whole whole && whole.takesFewer();
    }

    /** The same for another amount of GPUs of each worker. */
    public Shape with(GpuRequest other) {
        return but().gpus(other).shape();
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
        return slice.map(WorkerSlice::workers).orElse(1);
    }

    /**
     * One of its worker sets.
     *
     * @param set what the set alone needs
     * @param first the number of its first worker
     */
    public record WorkerSet(Shape set, int first) {

        public boolean has(int number) {
            return number >= first && number < first + set.workers;
        }

        /** In which slice of the set a worker is; each is one by itself where they are in none. */
        public int sliceOf(int number) {
            return (number - first) / set.step();
        }

        /** Its workers among some. */
        public List<Allocation.Worker> of(Allocation held) {
            return held.workers().stream()
                    .filter(worker -> has(worker.number()))
                    .toList();
        }
    }

    /** Whether it has one set of workers. */
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
        return but().further(List.of(), Optional.empty()).shape();
    }

    /** The set that a worker is of. */
    public WorkerSet setOf(int number) {
        for (WorkerSet set : sets()) {
            if (set.has(number)) {
                return set;
            }
        }
        throw new IllegalArgumentException("no worker has the number " + number);
    }

    /** What one worker needs. */
    public Shape of(int number) {
        return isPlain() ? this : setOf(number).set();
    }

    /** How many workers all sets have. */
    public int allWorkers() {
        int all = workers;
        for (Shape set : further) {
            all += set.workers;
        }
        return all;
    }

    /** With how many it starts at least. */
    public int allMinWorkers() {
        int all = minWorkers;
        for (Shape set : further) {
            all += set.minWorkers;
        }
        return all;
    }

    /** Whether that is enough to run with: of each set so many workers or, where these are in slices, the first of them. */
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

    /** A shape as it comes together. */
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
