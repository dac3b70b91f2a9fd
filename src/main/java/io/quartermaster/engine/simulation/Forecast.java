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
 * What would become of a cell if nothing came from outside: no new work, nobody ending before he must.
 *
 * @param fates of those that start or are told to stop
 * @param waits why those wait who still do after the plans of the first moment
 * @param atFirst what is held after the plans of the first moment, in thousandths of a GPU
 * @param atLast likewise, at the last moment that was looked at
 * @param reachedMillis up to when it was looked at
 * @param complete whether that is as far as was asked; false where a bound of the search came first
 */
public record Forecast(
        SortedMap<WorkloadId, Fate> fates,
        SortedMap<WorkloadId, WaitReasons> waits,
        Held atFirst,
        Held atLast,
        long reachedMillis,
        boolean complete) {

    public Forecast {
        fates = Collections.unmodifiableSortedMap(new TreeMap<>(fates));
        waits = Collections.unmodifiableSortedMap(new TreeMap<>(waits));
    }

    /**
     * What becomes of one workload.
     *
     * @param start the first one
     * @param stop the first time that it is told to give way
     */
    public record Fate(Optional<Start> start, Optional<Stop> stop) {
        static final Fate NONE = new Fate(Optional.empty(), Optional.empty());

        Fate with(Start next) {
            return start.isPresent() ? this : new Fate(Optional.of(next), stop);
        }

        Fate with(Stop next) {
            return stop.isPresent() ? this : new Fate(start, Optional.of(next));
        }
    }

    public record Start(long atMillis, PoolId pool) {}

    public record Stop(long atMillis, EvictionCause cause) {}

    /** By pool and tenant. */
    public record Held(SortedMap<PoolId, SortedMap<String, Long>> gpuMilli) {

        /** What one tenant holds in a pool. */
        public long of(PoolId pool, String tenant) {
            return gpuMilli.getOrDefault(pool, new TreeMap<>()).getOrDefault(tenant, 0L);
        }

        /** What all hold in a pool together. */
        public long in(PoolId pool) {
            long sum = 0;
            for (long each : gpuMilli.getOrDefault(pool, new TreeMap<>()).values()) {
                sum += each;
            }
            return sum;
        }
    }
}
