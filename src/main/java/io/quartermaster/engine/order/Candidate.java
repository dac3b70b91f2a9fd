package io.quartermaster.engine.order;

import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.placement.RequestSignature;
import io.quartermaster.engine.preemption.EvictionFeasibility;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaRequest;
import io.quartermaster.engine.state.FailedAttempts;
import io.quartermaster.engine.state.PoolRequest;
import io.quartermaster.engine.state.SchedulingClass;
import java.util.Comparator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The head of a scheduling class, with the pool that it would try next.
 *
 * @param withinReserved whether the start keeps its whole path within the reservation
 * @param firstAttempt the first attempt in this pool, unless the request is known not to fit
 * @param feasibility whether making room may succeed
 * @param signature the signature whose knowledge decides the attempt; null if there is none, or if the candidate is
 * tried regardless of it
 */
public record Candidate(
        SchedulingClass schedulingClass,
        Workload head,
        PoolRequest poolRequest,
        boolean withinReserved,
        Attempt firstAttempt,
        EvictionFeasibility feasibility,
        @Nullable RequestSignature signature) {

    /** The attempts that a candidate can make. */
    public enum Attempt {
        /** Look for free room. */
        START,
        /** Make room without borrowing: move work, or reclaim what is reserved. */
        RECLAIM_RESERVED,
        /** Make room. */
        EVICT,
        /** Do nothing, since the attempt is known to fail. The candidate keeps its position in the order. */
        SKIP
    }

    /** A candidate that is tried regardless of what is known of its signature. */
    public static Candidate of(
            SchedulingClass schedulingClass, PoolRequest poolRequest, Attempt first, @Nullable Candidate before) {
        return of(schedulingClass, poolRequest, first, EvictionFeasibility.POSSIBLE, null, before);
    }

    /** A candidate for the head of a class, or the previous one if they are equal. */
    static Candidate of(
            SchedulingClass schedulingClass,
            PoolRequest poolRequest,
            Attempt first,
            EvictionFeasibility evictionFeasibility,
            @Nullable RequestSignature requestSignature,
            @Nullable Candidate before) {
        boolean within = poolRequest.quotaRequest().withinReserved();
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

    /** This candidate with another workload of its class. */
    Candidate with(Workload other) {
        return new Candidate(schedulingClass, other, poolRequest, withinReserved, firstAttempt, feasibility, signature);
    }

    /** The attempt that it makes now. */
    public Attempt attempt() {
        if (signature == null || firstAttempt != Attempt.EVICT && !isStartKnownToFail()) {
            return firstAttempt;
        }
        boolean fails =
                switch (feasibility) {
                    case POSSIBLE -> failed().isRoomKnownToFail(withinReserved, false);
                    case RELEASES_ONLY -> signature.onlyEvictionsHelp() || failed().areMovesKnownToFail(withinReserved);
                    case IMPOSSIBLE -> true;
                };
        return fails ? Attempt.SKIP : Attempt.EVICT;
    }

    private boolean isStartKnownToFail() {
        return Objects.requireNonNull(signature).cannotStart() || failed().isStartKnownToFail(withinReserved);
    }

    /** Every request with a signature of its own remembers what failed. */
    private FailedAttempts failed() {
        return poolRequest.failedAttempts().orElseThrow();
    }

    public PoolCapacity poolCapacity() {
        return poolRequest.poolCapacity();
    }

    public QuotaRequest quotaRequest() {
        return poolRequest.quotaRequest();
    }

    /**
     * The order within a group: higher priority first. Then replacements of lost workers, whole workloads, and surplus
     * workers. Then first submitted.
     */
    public static final Comparator<Candidate> IN_GROUP = (a, b) -> {
        int byPriority = Integer.compare(
                b.schedulingClass.key().priority(), a.schedulingClass.key().priority());
        int byWhole = byPriority != 0 ? byPriority : a.part().compareTo(b.part());
        int byAge = byWhole != 0 ? byWhole : SchedulingClass.IN_GROUP.compare(a.head, b.head);
        // A workload that changes its class is the head of both classes for a moment.
        return byAge != 0 ? byAge : Long.compare(a.schedulingClass.number(), b.schedulingClass.number());
    };

    /** The part of its head that is to start. */
    enum Part {
        /** A worker that replaces a lost worker of the core. */
        REPLACEMENT,
        /** All workers with which it starts. */
        WHOLE,
        /** A surplus worker. */
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

    /**
     * The leaf at which it counts in the tree that defines the order: the pool's tree, otherwise the tree over all
     * pools.
     */
    public QuotaNode leaf() {
        return quotaRequest().leaves().getFirst();
    }
}
