package io.quartermaster.engine;

import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.quota.Ask;
import io.quartermaster.engine.quota.QuotaNode;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * The first of a line with the pool in which it would start.
 *
 * @param within whether the start keeps its whole path within what is reserved
 * @param attempt what is tried when its turn comes
 */
record Offer(Line line, Workload head, Wish wish, boolean within, Attempt attempt) {

    /** What an offer's turn brings. */
    enum Attempt {
        /** Free room is looked for. */
        START,
        /** Room is to be made without borrowing: by moving, or by taking back what is reserved. */
        TAKE_BACK,
        /** Room is to be made. */
        MAKE_ROOM,
        /** Nothing: it is known to be in vain. Until its turn its branches stand for it all the same. */
        NONE
    }

    Space space() {
        return wish.space();
    }

    Ask ask() {
        return wish.ask();
    }

    /** Within a group: higher priority, replacements of lost workers, whole workloads, then surplus workers; then first submitted. */
    static final Comparator<Offer> IN_GROUP = (a, b) -> {
        int byPriority = Integer.compare(b.line.key().priority(), a.line.key().priority());
        int byWhole = byPriority != 0 ? byPriority : a.part().compareTo(b.part());
        int byAge = byWhole != 0 ? byWhole : Line.IN_GROUP.compare(a.head, b.head);
        // Who moved from one line to another is for a moment the first of both.
        return byAge != 0 ? byAge : Long.compare(a.line.number(), b.line.number());
    };

    /** What of its head is to start. */
    enum Part {
        /** A worker in the place of a lost one without which it cannot run. */
        REPLACEMENT,
        /** All that it starts with. */
        WHOLE,
        /** A worker more. */
        SURPLUS
    }

    Part part() {
        if (!line.surplus()) {
            return Part.WHOLE;
        }
        return head.state() instanceof WorkloadState.Holding holding
                        && holding.phase() instanceof WorkloadState.Phase.Incomplete
                ? Part.REPLACEMENT
                : Part.SURPLUS;
    }

    /** This offer of the line's head, or the one before if it comes to the same. */
    static Offer of(Line line, Wish wish, Attempt attempt, @Nullable Offer before) {
        boolean within = wish.ask().withinReserved();
        boolean same = before != null
                && before.head == line.head()
                && before.wish == wish
                && before.within == within
                && before.attempt == attempt;
        return same && before != null ? before : new Offer(line, line.head(), wish, within, attempt);
    }

    /** Where it counts in the tree that the order goes by: the pool's, else that over all pools. */
    QuotaNode leaf() {
        return ask().leaves().getFirst();
    }
}
