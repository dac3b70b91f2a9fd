package io.quartermaster.governance.rules;

import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.WorkerSlice;
import io.quartermaster.engine.placement.CounterPool;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The shape of a job.
 *
 * @param gpus of one worker; none for work without GPUs
 * @param maxGpus up to how many whole GPUs a workload may ask for instead, where it may choose
 * @param workers how many it wants
 * @param minWorkers with how many it starts, all at once
 * @param cpuMilli per worker, thousandths of a core
 * @param memoryMiB per worker
 * @param nodeLabels only nodes with these labels
 * @param topology where its workers are to be together
 * @param pools in order of preference
 * @param movesBack whether its work is moved, where it can be, once there is room for it in a pool that it prefers
 * @param maxRuntimeMillis after which it is stopped; absent = unbounded
 */
public record Profile(
        UUID id,
        String name,
        GpuRequest gpus,
        OptionalInt maxGpus,
        OptionalInt gpuLimitMilli,
        int workers,
        int minWorkers,
        long cpuMilli,
        long memoryMiB,
        SortedMap<String, String> nodeLabels,
        Topology topology,
        List<PoolId> pools,
        boolean movesBack,
        OptionalLong maxRuntimeMillis,
        long version) {

    private static final long GPU = 1000;

    /**
     * Levels of the pools' topology, by name.
     *
     * @param required all workers inside one domain of this level, or it does not start
     * @param preferred inside one domain of this level, or the next wider one, where that is possible
     * @param slice what of them is closer together
     */
    public record Topology(Optional<String> required, Optional<String> preferred, Optional<WorkerSlice> slice) {

        /** Its workers may be anywhere. */
        public static final Topology ANY = new Topology(Optional.empty(), Optional.empty(), Optional.empty());

        /** From how rows state them. */
        public static Topology of(
                @Nullable String required,
                @Nullable String preferred,
                @Nullable Integer sliceWorkers,
                @Nullable String sliceLevel) {
            return new Topology(
                    Optional.ofNullable(required),
                    Optional.ofNullable(preferred),
                    sliceWorkers == null || sliceLevel == null
                            ? Optional.empty()
                            : Optional.of(new WorkerSlice(sliceWorkers, sliceLevel)));
        }
    }

    public Profile {
        nodeLabels = Collections.unmodifiableSortedMap(new TreeMap<>(nodeLabels));
        pools = List.copyOf(pools);
        if (maxGpus.isPresent()
                && !(gpus instanceof GpuRequest.Whole(int least, int fewest)
                        && least > 0
                        && least <= maxGpus.getAsInt())) {
            throw new IllegalArgumentException("a range of GPUs goes from a whole number up to one");
        }
        if (minWorkers < 1 || workers < minWorkers) {
            throw new IllegalArgumentException("profile " + name + " is no shape that could run");
        }
    }

    /** Whether a worker can have so much: whole GPUs, or a part of one. */
    public static boolean isAmount(long gpuMilli) {
        return gpuMilli >= 0 && (gpuMilli < GPU || gpuMilli % GPU == 0);
    }

    /**
     * From how rows state them.
     *
     * @param gpuMilli what one worker counts as; 0 where it asks for memory
     * @param devices over how many GPUs a part is spread, evenly
     * @param memoryMiB of each of them, where it asks for memory
     * @param mig a MIG profile, where it asks for an instance
     */
    public static GpuRequest gpus(long gpuMilli, int devices, @Nullable Long memoryMiB, @Nullable String mig) {
        if (mig != null) {
            return new GpuRequest.Mig(mig);
        }
        if (memoryMiB != null) {
            return new GpuRequest.Memory(devices, memoryMiB);
        }
        return gpuMilli % (GPU * devices) == 0
                ? GpuRequest.whole(Math.toIntExact(gpuMilli / GPU))
                : new GpuRequest.Fraction(devices, Math.toIntExact(gpuMilli / devices));
    }

    /** What one worker counts as; empty for a share by memory, which counts as its part of the GPU that it is given. */
    public OptionalLong gpuMilli() {
        return gpus instanceof GpuRequest.Memory ? OptionalLong.empty() : OptionalLong.of(CounterPool.counts(gpus));
    }

    /** What one worker asks for when its workload names so many GPUs, which the profile allows. */
    public GpuRequest gpus(OptionalInt named) {
        return maxGpus.isPresent() && named.isPresent() ? GpuRequest.whole(named.getAsInt()) : gpus;
    }

    /** The same for one that starts with fewer, which the profile allows too, where it cannot have all. */
    public GpuRequest gpus(OptionalInt named, OptionalInt fewest) {
        return fewest.isPresent() && gpus(named) instanceof GpuRequest.Whole whole
                ? new GpuRequest.Whole(whole.count(), fewest.getAsInt())
                : gpus(named);
    }

    /** The shape of a workload whose workers have such GPUs each. */
    public Shape shape(GpuRequest each) {
        return Shape.ofWorkers(workers, each)
                .minWorkers(minWorkers)
                .cpuMilli(cpuMilli)
                .memoryMiB(memoryMiB)
                .labels(nodeLabels)
                .requiredLevel(topology.required())
                .preferredLevel(topology.preferred())
                .slice(topology.slice())
                .shape();
    }

    /** What a workload may choose of it. */
    public GpuRange range() {
        return GpuRange.of(this);
    }

    public boolean hasGpus() {
        return CounterPool.counts(gpus) > 0;
    }

    /** What it must get at once to start, at the least: a share by memory may be a small part of a large GPU. */
    public long startGpuMilli() {
        return Math.multiplyExact(gpuMilli().orElse(1), (long) minWorkers);
    }
}
