package io.quartermaster.engine.order;

import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.placement.RequestSignature;
import io.quartermaster.engine.preemption.EvictionFeasibility;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaRequest;
import io.quartermaster.engine.state.PoolRequest;
import io.quartermaster.engine.state.SchedulingClass;
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
public record Candidate(
        SchedulingClass schedulingClass,
        Workload head,
        PoolRequest poolRequest,
        boolean withinReserved,
        Attempt firstAttempt,
        EvictionFeasibility feasibility,
        @Nullable RequestSignature signature) {

    /** What an offer's turn brings. */
    public enum Attempt {
        /** Free room is looked for. */
        START,
        /** Room is to be made without borrowing: by moving, or by taking back what is reserved. */
        RECLAIM_RESERVED,
        /** Room is to be made. */
        EVICT,
        /** Nothing: it is known to be in vain. Until its turn its branches stand for it all the same. */
        SKIP
    }

    /** One to be tried whatever is known of its kind. */
    public static Candidate of(
            SchedulingClass schedulingClass, PoolRequest poolRequest, Attempt first, @Nullable Candidate before) {
        return of(schedulingClass, poolRequest, first, EvictionFeasibility.POSSIBLE, null, before);
    }

    /** This offer of the line's head, or the one before if it comes to the same. */
    static Candidate of(
            SchedulingClass schedulingClass,
            PoolRequest poolRequest,
            Attempt first,
            EvictionFeasibility evictionFeasibility,
            @Nullable RequestSignature requestSignature,
            @Nullable Candidate before) {
        boolean within = poolRequest.ask().withinReserved();
        boolean same = before != null
                && before.head == schedulingClass.head()
                && before.poolRequest == poolRequest
                && before.withinReserved == within
                && before.firstAttempt == first
                && before.feasibility == evictionFeasibility
                && before.signature == requestSignature;
        return same && before != null
                ? before
                : new Candidate(
                        schedulingClass,
                        schedulingClass.head(),
                        poolRequest,
                        within,
                        first,
                        evictionFeasibility,
                        requestSignature);
    }

    /** The same of another workload of the line. */
    Candidate with(Workload other) {
        return new Candidate(schedulingClass, other, poolRequest, withinReserved, firstAttempt, feasibility, signature);
    }

    /** What its turn brings now. */
    public Attempt attempt() {
        return signature == null ? firstAttempt : attempt(signature.cannotStart(), signature.neverFitsEvenRepacked());
    }

    /**
     * What its turn brings.
     *
     * @param cannotStart whether its kind is known not to fit at once
     * @param lacksRoomLater whether its kind would not fit even when all who were told to stop have left and the rest were rearranged
     */
    Attempt attempt(boolean cannotStart, boolean lacksRoomLater) {
        if (firstAttempt != Attempt.EVICT && !cannotStart) {
            return firstAttempt;
        }
        return switch (feasibility) {
            case POSSIBLE -> Attempt.EVICT;
            case RELEASES_ONLY -> lacksRoomLater ? Attempt.SKIP : Attempt.EVICT;
            case IMPOSSIBLE -> Attempt.SKIP;
        };
    }

    public PoolCapacity space() {
        return poolRequest.space();
    }

    public QuotaRequest ask() {
        return poolRequest.ask();
    }

    /** Within a group: higher priority, replacements of lost workers, whole workloads, then surplus workers; then first submitted. */
    public static final Comparator<Candidate> IN_GROUP = (a, b) -> {
        int byPriority = Integer.compare(
                b.schedulingClass.key().priority(), a.schedulingClass.key().priority());
        int byWhole = byPriority != 0 ? byPriority : a.part().compareTo(b.part());
        int byAge = byWhole != 0 ? byWhole : SchedulingClass.IN_GROUP.compare(a.head, b.head);
        // Who moved from one line to another is for a moment the first of both.
        return byAge != 0 ? byAge : Long.compare(a.schedulingClass.number(), b.schedulingClass.number());
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
        if (!schedulingClass.isGrowth()) {
            return Part.WHOLE;
        }
        return head.state() instanceof WorkloadPhase.Holding holding
                        && holding.phase() instanceof WorkloadPhase.Phase.Incomplete
                ? Part.REPLACEMENT
                : Part.SURPLUS;
    }

    /** Where it counts in the tree that the order goes by: the pool's, else that over all pools. */
    public QuotaNode leaf() {
        return ask().leaves().getFirst();
    }
}
