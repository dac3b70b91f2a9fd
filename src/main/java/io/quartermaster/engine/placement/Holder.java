package io.quartermaster.engine.placement;

import io.quartermaster.engine.Allocation;
import io.quartermaster.engine.WorkloadId;

/**
 * Running work, as those see it who look for room.
 *
 * @param minWorkers workers beyond these may go one by one
 */
public record Holder(
        WorkloadId id,
        Tenure tenure,
        int priority,
        int minWorkers,
        long startedMillis,
        long submittedMillis,
        long sequence) {

    public Allocation allocation() {
        return tenure.allocation();
    }
}
