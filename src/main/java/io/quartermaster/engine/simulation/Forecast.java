package io.quartermaster.engine.simulation;

import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.WorkloadId;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Forecast of a cell under the assumption that no input changes: no new work arrives, and no work ends before its
 * maximum run time.
 *
 * @param perWorkload the workloads that start or are evicted
 * @param waits the reasons of the workloads that still wait after the plans of the first moment
 * @param atFirst the use after the plans of the first moment, in thousandths of a GPU
 * @param atLast the use at the last simulated moment, in thousandths of a GPU
 * @param reachedMillis the end of the simulated time
 * @param complete whether the forecast covers the requested time; false if it reached a bound before
 */
public record Forecast(
        SortedMap<WorkloadId, WorkloadForecast> perWorkload,
        SortedMap<WorkloadId, WaitReasons> waits,
        Held atFirst,
        Held atLast,
        long reachedMillis,
        boolean complete) {

    public Forecast {
        perWorkload = Collections.unmodifiableSortedMap(new TreeMap<>(perWorkload));
        waits = Collections.unmodifiableSortedMap(new TreeMap<>(waits));
    }

    /**
     * Forecast of one workload.
     *
     * @param start its first start
     * @param stop its first eviction
     */
    public record WorkloadForecast(Optional<Start> start, Optional<Stop> stop) {
        static final WorkloadForecast NONE = new WorkloadForecast(Optional.empty(), Optional.empty());

        WorkloadForecast with(Start next) {
            return start.isPresent() ? this : new WorkloadForecast(Optional.of(next), stop);
        }

        WorkloadForecast with(Stop next) {
            return stop.isPresent() ? this : new WorkloadForecast(start, Optional.of(next));
        }
    }

    public record Start(long atMillis, PoolId pool) {}

    public record Stop(long atMillis, EvictionCause cause) {}

    /** Use by pool and tenant. */
    public record Held(SortedMap<PoolId, SortedMap<String, Long>> gpuMilli) {

        /** The use of one tenant in a pool. */
        public long of(PoolId pool, String tenant) {
            return gpuMilli.getOrDefault(pool, new TreeMap<>()).getOrDefault(tenant, 0L);
        }

        /** The use of all tenants in a pool. */
        public long in(PoolId pool) {
            long sum = 0;
            for (long each : gpuMilli.getOrDefault(pool, new TreeMap<>()).values()) {
                sum += each;
            }
            return sum;
        }
    }
}
