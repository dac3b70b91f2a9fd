package io.quartermaster.governance;

import io.quartermaster.engine.PoolId;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The shape of a job.
 *
 * @param gpuMilli per worker: whole GPUs, or a part of one; 0 for work without GPUs
 * @param workers how many it wants
 * @param minWorkers with how many it starts, all at once
 * @param cpuMilli per worker, thousandths of a core
 * @param memoryMiB per worker
 * @param nodeLabels only nodes with these labels
 * @param topology where its workers are to be together
 * @param pools in order of preference
 * @param maxRuntimeMillis after which it is stopped; absent = unbounded
 */
public record Profile(
        UUID id,
        String name,
        long gpuMilli,
        int workers,
        int minWorkers,
        long cpuMilli,
        long memoryMiB,
        SortedMap<String, String> nodeLabels,
        Topology topology,
        List<PoolId> pools,
        OptionalLong maxRuntimeMillis,
        long version) {

    private static final long GPU = 1000;

    /**
     * Levels of the pools' topology, by name.
     *
     * @param required all workers inside one domain of this level, or it does not start
     * @param preferred inside one domain of this level, or the next wider one, where that is possible
     */
    public record Topology(Optional<String> required, Optional<String> preferred) {

        /** Its workers may be anywhere. */
        public static final Topology ANY = new Topology(Optional.empty(), Optional.empty());
    }

    public Profile {
        nodeLabels = Collections.unmodifiableSortedMap(new TreeMap<>(nodeLabels));
        pools = List.copyOf(pools);
        if (!isAmount(gpuMilli) || minWorkers < 1 || workers < minWorkers) {
            throw new IllegalArgumentException("profile " + name + " is no shape that could run");
        }
    }

    /** Whether a worker can have so much: whole GPUs, or a part of one. */
    public static boolean isAmount(long gpuMilli) {
        return gpuMilli >= 0 && (gpuMilli < GPU || gpuMilli % GPU == 0);
    }

    /** What it must get at once to start. */
    public long startGpuMilli() {
        return Math.multiplyExact(gpuMilli, (long) minWorkers);
    }
}
