package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.placement.Booking;
import io.quartermaster.engine.placement.PlacementRequest;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.quota.QuotaRequest;
import java.util.Optional;

/**
 * The workload that the engine makes room for in a pool, with its request.
 *
 * @param allowedActions the actions permitted for it
 */
public record Preemptor(
        WorkloadId id,
        QuotaPath path,
        Optional<String> user,
        int priority,
        PoolCapacity poolCapacity,
        QuotaRequest quotaRequest,
        PlacementRequest placementRequest,
        AllowedActions allowedActions) {

    /** The actions permitted to make room. */
    public enum AllowedActions {
        /** Work may be moved, and evicted by every right. */
        EVICT,
        /** Work may be moved, and evicted to reclaim what is reserved for the preemptor. */
        RECLAIM_RESERVED,
        /** Work may only be moved, because the preemptor has not waited long enough for evictions. */
        MOVE_ONLY
    }

    /** The booking of the preemptor at a place. */
    public Booking at(Allocation place) {
        return new Booking(
                path, user, placementRequest.shape(), quotaRequest.preemptible(), place, quotaRequest.whole());
    }
}
