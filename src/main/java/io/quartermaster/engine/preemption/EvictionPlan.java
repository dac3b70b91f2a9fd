package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.placement.Booking;
import java.util.List;
import java.util.Optional;

/**
 * Room that can be made.
 *
 * @param place what the claimant will hold once the victims have left
 * @param evictions who gives way, in the order of choice; empty when those who are leaving anyway leave enough
 */
public record EvictionPlan(Allocation place, List<Eviction> evictions) {

    public EvictionPlan {
        evictions = List.copyOf(evictions);
    }

    /**
     * One who gives way.
     *
     * @param leaving what it gives up
     * @param whole whether it stops, or only loses surplus workers
     * @param movedTo the place that is kept for it
     */
    public record Eviction(
            EvictionCandidate candidate,
            Booking leaving,
            boolean whole,
            EvictionCause cause,
            Optional<Allocation> movedTo,
            EvictionReceipt receipt) {}
}
