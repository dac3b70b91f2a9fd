package io.quartermaster.engine.model;

import java.util.List;
import java.util.OptionalInt;

/**
 * How a workload came to be tried next.
 *
 * @param withinReserved whether its start keeps its path within what is reserved; those go before all others
 * @param candidates how many kinds of requests had something to try then, its own among them
 * @param placeInPool its profile's place in the pool's order, from 0; absent where the pool states none
 * @param placeInProfile its path's place in the profile's order, likewise
 * @param won whom it came before among those whom class and orders left, from the root down to its own group: at each level the one who
 *     would have been next without its branch
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

    /** What two sides were told apart by: the first in which they differ. */
    public enum By {
        /** Lower rank. */
        RANK,
        /** Lower (used + requested) / share. */
        SHARE_WITH_REQUEST,
        /** Lower used / share. */
        SHARE,
        /** Less held before, where the past counts. */
        PAST_USE,
        /** Higher priority, in one group. */
        PRIORITY,
        /** Replacements of lost workers before whole workloads, and these before surplus workers, in one group. */
        WHOLE,
        /** It was stopped against its will. */
        AT_HEAD,
        /** Its place in an admin's order, in one group. */
        PLACE,
        /** Submitted first. */
        SUBMITTED
    }

    /** One level of the tree: its own branch, and that of whoever would have been next. */
    public record Comparison(By by, Side own, Side other) {}

    /**
     * One of the two that were compared.
     *
     * @param workload the first that the branch offers
     * @param usedGpuMilli by the branch, with what is kept for its work and without what was told to leave
     * @param shareGpuMilli what is reserved for the branch, or its fair share where the start goes beyond what is reserved
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
