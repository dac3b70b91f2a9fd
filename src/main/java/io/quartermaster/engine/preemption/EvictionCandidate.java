package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.placement.Booking;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * Running work, as those see it who look for room.
 *
 * @param tenure what it holds, without workers that were told to leave
 * @param minWorkers workers beyond these may go one by one
 * @param fromReservation whether it started from a backfill reservation
 * @param leavingByMillis when workers that were told to leave have left
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

    /** Whether it has all workers that it cannot run without; else it is not moved. */
    public boolean isComplete() {
        return booking.shape().isEnough(allocation());
    }

    /** The workers that it cannot run without. */
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
