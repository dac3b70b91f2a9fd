package io.quartermaster.engine.model;

import java.util.List;

/**
 * Receipt of an eviction: the right behind it and the numbers, sufficient to check the decision without the engine.
 *
 * @param before the branches just below the lowest common ancestor of preemptor and victim, before the plan's
 *     evictions; for an eviction without a preemptor, the branch that holds too much
 * @param after the branches of {@code before}, once all victims have left and the preemptor runs
 * @param considered every workload that was considered as a victim, in the order of consideration
 */
public record EvictionReceipt(Right right, List<Share> before, List<Share> after, List<Considered> considered) {

    public EvictionReceipt {
        before = List.copyOf(before);
        after = List.copyOf(after);
        considered = List.copyOf(considered);
    }

    /** The right behind the eviction. */
    public enum Right {
        /** The preemptor's branch stays within its reservation, and the victim's branch is above its own. */
        RESERVED,
        /** The preemptor's branch stays within its fair share, and the victim's branch is above its own. */
        FAIR_SHARE,
        /** The preemptor is in the same group and has a strictly higher priority. */
        PRIORITY,
        /** The victim moves to another place. */
        MOVED,
        /** A branch exceeds its limit, and the time to drain the excess is over; there is no preemptor. */
        DRAINED,
        /** The victim's pool has closed and stops running work; there is no preemptor. */
        CLOSED,
        /** A budget of the victim has no more left than the victim's grace needs; there is no preemptor. */
        BUDGET_USED_UP,
        /**
         * The victim lost workers that it cannot run without, and they were not replaced in time; there is no
         * preemptor.
         */
        INCOMPLETE
    }

    /** The numbers of one branch. */
    public record Share(Scope scope, QuotaPath path, long usedGpuMilli, long reservedGpuMilli, long fairGpuMilli) {}

    /** A possible victim with its outcome. */
    public record Considered(WorkloadId workload, Outcome outcome) {}

    /** The outcome for a possible victim. */
    public enum Outcome {
        STOPPED,
        MOVED,
        /** The search chose the workload first, and then found that its eviction is not needed. */
        SPARED
    }
}
