package io.quartermaster.engine.order;

import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadState;
import io.quartermaster.engine.state.Line;
import io.quartermaster.engine.state.Wish;

import io.quartermaster.engine.placement.Kind;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.preemption.Hope;
import io.quartermaster.engine.quota.Ask;
import io.quartermaster.engine.quota.QuotaNode;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * The first of a line with the pool in which it would start.
 *
 * @param within whether the start keeps its whole path within what is reserved
 * @param first what is tried first when its turn comes, unless it is known that its kind does not fit
 * @param hope whether room might be made
 * @param kind what is known of it at its turn counts; null where nothing is, or it is to be tried whatever is known
 */
public record Offer(
        Line line,
        Workload head,
        Wish wish,
        boolean within,
        Attempt first,
        Hope hope,
        @Nullable Kind kind) {

    /** What an offer's turn brings. */
    public enum Attempt {
        /** Free room is looked for. */
        START,
        /** Room is to be made without borrowing: by moving, or by taking back what is reserved. */
        TAKE_BACK,
        /** Room is to be made. */
        MAKE_ROOM,
        /** Nothing: it is known to be in vain. Until its turn its branches stand for it all the same. */
        NONE
    }

    /** One to be tried whatever is known of its kind. */
    public static Offer of(Line line, Wish wish, Attempt first, @Nullable Offer before) {
        return of(line, wish, first, Hope.PERHAPS, null, before);
    }

    /** This offer of the line's head, or the one before if it comes to the same. */
    static Offer of(Line line, Wish wish, Attempt first, Hope hope, @Nullable Kind kind, @Nullable Offer before) {
        boolean within = wish.ask().withinReserved();
        boolean same = before != null
                && before.head == line.head()
                && before.wish == wish
                && before.within == within
                && before.first == first
                && before.hope == hope
                && before.kind == kind;
        return same && before != null ? before : new Offer(line, line.head(), wish, within, first, hope, kind);
    }

    /** The same of another workload of the line. */
    Offer with(Workload other) {
        return new Offer(line, other, wish, within, first, hope, kind);
    }

    /** What its turn brings now. */
    public Attempt attempt() {
        return kind == null ? first : attempt(kind.cannotStart(), kind.lacksRoomLater());
    }

    /**
     * What its turn brings.
     *
     * @param cannotStart whether its kind is known not to fit at once
     * @param lacksRoomLater whether its kind would not fit even when all who were told to stop have left and the rest were rearranged
     */
    Attempt attempt(boolean cannotStart, boolean lacksRoomLater) {
        if (first != Attempt.MAKE_ROOM && !cannotStart) {
            return first;
        }
        return switch (hope) {
            case PERHAPS -> Attempt.MAKE_ROOM;
            case OF_WHAT_IS_FREE -> lacksRoomLater ? Attempt.NONE : Attempt.MAKE_ROOM;
            case NONE -> Attempt.NONE;
        };
    }

    public Space space() {
        return wish.space();
    }

    public Ask ask() {
        return wish.ask();
    }

    /** Within a group: higher priority, replacements of lost workers, whole workloads, then surplus workers; then first submitted. */
    public static final Comparator<Offer> IN_GROUP = (a, b) -> {
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

    /** Where it counts in the tree that the order goes by: the pool's, else that over all pools. */
    public QuotaNode leaf() {
        return ask().leaves().getFirst();
    }
}
