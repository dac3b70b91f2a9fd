package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.placement.Booking;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * A running workload that an eviction or a move may choose.
 *
 * @param booking its booking, without workers that are leaving
 * @param minWorkers the number of workers in the core; workers beyond it may be evicted one by one
 * @param fromReservation whether it started from a backfill reservation
 * @param leavingByMillis the deadline of its workers that are leaving
 */
public record EvictionCandidate(
        WorkloadId id,
        Booking booking,
        int priority,
        int minWorkers,
        long startedMillis,
        long submittedMillis,
        long sequence,
        boolean fromReservation,
        OptionalLong leavingByMillis) {

    /** Whether the core is complete; otherwise the workload is not moved. */
    public boolean isComplete() {
        return booking.shape().isEnough(allocation());
    }

    /** The workers of the core. */
    List<Allocation.Worker> gangCore() {
        List<Allocation.Worker> all = allocation().workers();
        if (booking.shape().isPlain()) {
            return all.subList(0, Math.min(all.size(), minWorkers));
        }
        List<Allocation.Worker> core = new ArrayList<>();
        for (Shape.WorkerSet set : booking.shape().sets()) {
            List<Allocation.Worker> ofSet = set.of(allocation());
            core.addAll(ofSet.subList(0, Math.min(ofSet.size(), set.set().minWorkers())));
        }
        return core;
    }

    public Allocation allocation() {
        return booking.allocation();
    }
}
