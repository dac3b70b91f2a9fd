package io.quartermaster.engine.model;

import java.util.List;
import java.util.Optional;

/**
 * Why a decision was taken, in numbers; by which right is said by the decision itself.
 *
 * @param turn how it came to be next; absent where it was nobody's turn: a kept place came free or is given up, work is stopped
 * @param notTaken of a start and of a kept place: why it did not start at once in the pools that were tried before, in its order; the
 *     last is the pool of the kept place itself
 * @param before each node of its path, from the leaf upward, before the decision
 * @param after the same right after it; a place counts from the moment it is kept, and who was told to leave does not any more
 * @param stops of a stop its own, of a kept place those of all who leave for it, of a place kept for who is moved that of its own leaving
 * @param givenUp why a place is no longer kept
 */
public record DecisionReceipt(
        Decision decision,
        Optional<OrderReceipt> turn,
        List<Reason> notTaken,
        List<EvictionReceipt.Share> before,
        List<EvictionReceipt.Share> after,
        List<Stop> stops,
        Optional<NominationEnd> givenUp) {

    public DecisionReceipt {
        notTaken = List.copyOf(notTaken);
        before = List.copyOf(before);
        after = List.copyOf(after);
        stops = List.copyOf(stops);
    }

    /** Who was stopped, and why he. */
    public record Stop(WorkloadId workload, EvictionReceipt receipt) {}
}
