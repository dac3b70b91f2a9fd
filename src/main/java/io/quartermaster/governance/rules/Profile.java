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
 * @param maxGpus the most whole GPUs that a workload may request instead, where it may choose
 * @param workers the number of workers that it requests
 * @param minWorkers the number of workers with which it starts, all together
 * @param cpuMilli per worker, thousandths of a core
 * @param memoryMiB per worker
 * @param nodeLabels labels that its nodes must have
 * @param topology how close together its workers run
 * @param pools in order of preference
 * @param movesBack whether its work moves, where possible, once there is room in a pool that it prefers
 * @param maxRuntimeMillis run time after which it is stopped; absent = unbounded
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
     * @param required all workers run inside one domain of this level, or the workload does not start
     * @param preferred the workers run inside one domain of this level, or the next wider one, where possible
     * @param slice the workers that run closer together
     */
    public record Topology(Optional<String> required, Optional<String> preferred, Optional<WorkerSlice> slice) {

        /** The workers may run anywhere. */
        public static final Topology ANY = new Topology(Optional.empty(), Optional.empty(), Optional.empty());

        /** Creates the topology from the columns of a row. */
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

    /** Whether a worker can have this amount: whole GPUs, or a part of one. */
    public static boolean isAmount(long gpuMilli) {
        return gpuMilli >= 0 && (gpuMilli < GPU || gpuMilli % GPU == 0);
    }

    /**
     * Creates the GPU request from the columns of a row.
     *
     * @param gpuMilli what one worker counts as; 0 where it requests memory
     * @param devices the number of GPUs over which a part is spread evenly
     * @param memoryMiB of each of them, where it requests memory
     * @param mig a MIG profile, where it requests an instance
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

    /** The amount of one worker; empty for a share by memory, whose amount follows from the assigned GPU. */
    public OptionalLong gpuMilli() {
        return gpus instanceof GpuRequest.Memory ? OptionalLong.empty() : OptionalLong.of(CounterPool.counts(gpus));
    }

    /** The GPUs of one worker when its workload names this number, which the profile allows. */
    public GpuRequest gpus(OptionalInt named) {
        return maxGpus.isPresent() && named.isPresent() ? GpuRequest.whole(named.getAsInt()) : gpus;
    }

    /** The GPUs of one worker that starts with fewer where it cannot have all; the profile allows both numbers. */
    public GpuRequest gpus(OptionalInt named, OptionalInt fewest) {
        return fewest.isPresent() && gpus(named) instanceof GpuRequest.Whole whole
                ? new GpuRequest.Whole(whole.count(), fewest.getAsInt())
                : gpus(named);
    }

    /** The shape of a workload whose workers each have these GPUs. */
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

    /** The GPUs that a workload may choose under this profile. */
    public GpuRange range() {
        return GpuRange.of(this);
    }

    public boolean hasGpus() {
        return CounterPool.counts(gpus) > 0;
    }

    /** The least that the workload needs in one step to start. A share by memory may be a small part of a large GPU. */
    public long startGpuMilli() {
        return Math.multiplyExact(gpuMilli().orElse(1), (long) minWorkers);
    }
}
