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
 * Who needs room in a pool, and how much.
 *
 * @param means what may be done for it
 */
public record Preemptor(
        WorkloadId id,
        QuotaPath path,
        Optional<String> user,
        int priority,
        PoolCapacity space,
        QuotaRequest quotaRequest,
        PlacementRequest request,
        AllowedActions allowedActions) {

    /** What may be done to make room. */
    public enum AllowedActions {
        /** What runs may be moved, and stopped as far as the rights go. */
        STOPPING,
        /** What runs may be moved, and stopped as far as the claimant takes back what is reserved for it. */
        TAKING_BACK_RESERVED,
        /** What runs may be moved: it has not waited long enough for more. */
        MOVING_ONLY
    }

    /** What it will hold at the place. */
    public Booking at(Allocation place) {
        return new Booking(path, user, request.shape(), quotaRequest.preemptible(), place, quotaRequest.whole());
    }
}
