package io.quartermaster.engine.model;

import java.util.List;
import java.util.OptionalInt;

/**
 * Receipt of a candidate's position: why the planner tried this workload next.
 *
 * @param withinReserved whether the start keeps the workload's path within its reservation; such candidates come before
 *     all others
 * @param candidates the number of candidates at that moment, this one included
 * @param placeInPool the place of the workload's profile in the pool's order, from 0; empty if the pool has no order
 * @param placeInProfile the place of the workload's path in the profile's order, from 0; empty if the profile has none
 * @param won the comparisons that decided among the candidates that are equal in the fields above, from the root down
 *     to the workload's own group: at each level, with the candidate that would otherwise have been next
 */
public record OrderReceipt(
        boolean withinReserved,
        int candidates,
        OptionalInt placeInPool,
        OptionalInt placeInProfile,
        List<Comparison> won) {

    public OrderReceipt {
        won = List.copyOf(won);
    }

    /** The criterion that decided between two candidates: the first in which they differ. */
    public enum By {
        /** Lower rank. */
        RANK,
        /** Lower (used + requested) / share. */
        SHARE_WITH_REQUEST,
        /** Lower used / share. */
        SHARE,
        /** Lower past use, if past use counts. */
        PAST_USE,
        /** Higher priority, in one group. */
        PRIORITY,
        /** Replacements of lost workers before whole workloads, and these before surplus workers, in one group. */
        WHOLE,
        /** An eviction or a lost node interrupted the workload. */
        AT_HEAD,
        /** Lower place in an admin's order, in one group. */
        PLACE,
        /** Earlier submission. */
        SUBMITTED
    }

    /** A comparison at one level of the tree: the workload's own branch, and that of the candidate next in order. */
    public record Comparison(By by, Side own, Side other) {}

    /**
     * One side of a comparison.
     *
     * @param workload the first candidate of the branch
     * @param usedGpuMilli the use of the branch, with its nominated places and without its stopping work
     * @param shareGpuMilli the reservation of the branch, or its fair share if the start exceeds the reservation
     */
    public record Side(
            WorkloadId workload,
            Scope scope,
            QuotaPath path,
            int rank,
            long usedGpuMilli,
            long requestedGpuMilli,
            long shareGpuMilli) {}
}
