package io.quartermaster.engine.model;

import java.util.List;

/**
 * Why a workload had to give way, in numbers; enough to check the decision without the engine.
 *
 * @param before the branches just below the lowest common ancestor of claimant and victim, before the plan's evictions; where nobody
 *     claims anything, the branch that holds too much
 * @param after the same branches once all of the claimant's victims have left and it runs
 * @param considered every workload that was looked at as a victim, in that order
 */
public record EvictionReceipt(Right right, List<Share> before, List<Share> after, List<Considered> considered) {

    public EvictionReceipt {
        before = List.copyOf(before);
        after = List.copyOf(after);
        considered = List.copyOf(considered);
    }

    /** The rule that gave the claimant its right. */
    public enum Right {
        /** Its branch stays within what is reserved for it, and the victim's is above. */
        RESERVED,
        /** Its branch stays within its fair share, and the victim's is above. */
        FAIR_SHARE,
        /** It is of strictly higher priority in the same group. */
        PRIORITY,
        /** The victim has another place. */
        MOVED,
        /** What a branch holds beyond its limit was to be gone by now; nobody claims it. */
        DRAINED,
        /** Its pool has closed and lets nothing go on; nobody claims what it holds. */
        CLOSED,
        /** A budget that it runs on has no more left than its grace; nobody claims what it holds. */
        BUDGET_USED_UP,
        /** It lost workers that it cannot run without, and they were not replaced in time; nobody claims what it holds. */
        INCOMPLETE
    }

    /** One branch's numbers. */
    public record Share(Scope scope, QuotaPath path, long usedGpuMilli, long reservedGpuMilli, long fairGpuMilli) {}

    /** What became of a possible victim. */
    public record Considered(WorkloadId workload, Outcome outcome) {}

    /** What became of a possible victim. */
    public enum Outcome {
        STOPPED,
        MOVED,
        /** Chosen first, then found not to be needed. */
        SPARED
    }
}
