package io.quartermaster.engine.model;

import java.util.List;
import java.util.Optional;

/**
 * Receipt of a decision: the numbers behind it. The decision itself names the right.
 *
 * @param turn why the candidate came next; empty for a decision without a candidate: a start on a nominated place, a
 *     withdrawn nomination, an eviction
 * @param notTaken for a start and a nomination: why the workload did not start in the pools that the planner tried
 *     before, in its order of pools; for a nomination the last one is the nominated pool itself
 * @param before each node of its path, from the leaf upward, before the decision
 * @param after the nodes of {@code before}, immediately after the decision; a nominated place counts as used from the
 *     nomination on, and a stopping workload no longer counts
 * @param stops for an eviction: its own receipt; for the nomination of a preemptor: those of its victims; for the
 *     nomination of a workload that moves: that of its own eviction
 * @param givenUp why the nomination was withdrawn
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

    /** An evicted workload with the receipt of its eviction. */
    public record Stop(WorkloadId workload, EvictionReceipt receipt) {}
}
