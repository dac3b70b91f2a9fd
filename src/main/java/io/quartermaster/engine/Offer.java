package io.quartermaster.engine;

import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.quota.Ask;
import io.quartermaster.engine.quota.QuotaNode;
import java.util.Comparator;

/**
 * The first of a line with the pool in which it would start.
 *
 * @param within whether the start keeps its whole path within what is reserved
 * @param free whether free room is looked for, or room is to be made
 */
record Offer(Line line, Workload head, Space space, Ask ask, boolean within, boolean free) {

    /** Within a group: higher priority, whole workloads before surplus workers, then first submitted. */
    static final Comparator<Offer> IN_GROUP = Comparator.<Offer>comparingInt(
                    offer -> -offer.line.key().priority())
            .thenComparing(offer -> offer.line.surplus())
            .thenComparing(Offer::head, Line.FIRST_SUBMITTED)
            .thenComparing(offer -> offer.space.pool().id());

    /** Whether another offer of the same line would be tried at the same time in the same way. */
    boolean goesLike(Offer other) {
        return head == other.head
                && space == other.space
                && within == other.within
                && free == other.free
                && ask.gpuMilli() == other.ask.gpuMilli();
    }

    /** Where it counts in the tree that the order goes by: the pool's, else that over all pools. */
    QuotaNode leaf() {
        return ask.leaves().getFirst();
    }
}
