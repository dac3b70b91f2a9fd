package io.quartermaster.engine.placement;

import io.quartermaster.engine.Allocation;
import io.quartermaster.engine.WorkloadId;
import java.util.OptionalLong;

/**
 * Running work, as those see it who look for room.
 *
 * @param tenure what it holds, without workers that were told to leave
 * @param minWorkers workers beyond these may go one by one
 * @param leavingByMillis when workers that were told to leave have left
 */
public record Holder(
        WorkloadId id,
        Tenure tenure,
        int priority,
        int minWorkers,
        long startedMillis,
        long submittedMillis,
        long sequence,
        OptionalLong leavingByMillis) {

    /** Whether it has all workers that it cannot run without; else it is not moved. */
    public boolean isComplete() {
        return tenure.shape().isEnough(allocation());
    }

    public Allocation allocation() {
        return tenure.allocation();
    }
}
