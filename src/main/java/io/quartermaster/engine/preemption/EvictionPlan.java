package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.placement.Booking;
import java.util.List;
import java.util.Optional;

/**
 * The place found for a preemptor, with the evictions that free it.
 *
 * @param place the place of the preemptor after the victims have left
 * @param evictions the evictions in the order of choice; empty if work that is leaving already frees enough
 */
public record EvictionPlan(Allocation place, List<Eviction> evictions) {

    public EvictionPlan {
        evictions = List.copyOf(evictions);
    }

    /**
     * The eviction or the move of one victim.
     *
     * @param leaving the part of its booking that it gives up
     * @param whole whether the whole workload leaves, rather than only surplus workers
     * @param movedTo the place nominated for it
     */
    public record Eviction(
            EvictionCandidate candidate,
            Booking leaving,
            boolean whole,
            EvictionCause cause,
            Optional<Allocation> movedTo,
            EvictionReceipt receipt) {}
}
