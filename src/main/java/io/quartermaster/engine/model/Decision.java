package io.quartermaster.engine.model;

import java.util.Optional;
import java.util.SortedSet;

/**
 * One thing to be done, in the order in which the engine decided. The engine takes it as done; a shell that could not
 * commit it throws the engine away and builds a new one from what is stored.
 */
public sealed interface Decision {

    WorkloadId workload();

    /**
     * Bind these devices; the workload holds them from now on and waits no more.
     *
     * @param fromReservation whether it starts from a backfill reservation; to be stated with what it holds from now on
     */
    record Start(WorkloadId workload, Allocation allocation, Rule rule, boolean fromReservation) implements Decision {

        /** A start without a backfill reservation. */
        public Start(WorkloadId workload, Allocation allocation, Rule rule) {
            this(workload, allocation, rule, false);
        }
    }

    /** Add these workers to a workload that runs. */
    record Grow(WorkloadId workload, Allocation added, Rule rule) implements Decision {}

    /**
     * Tell a workload to stop. It keeps its devices until it is reported gone, then waits again at the head of its
     * priority.
     *
     * @param successor for whom; absent where it has to stop although nobody claims what it holds
     */
    record Preempt(
            WorkloadId workload,
            EvictionCause cause,
            Optional<WorkloadId> successor,
            long deadlineMillis,
            EvictionReceipt receipt)
            implements Decision {}

    /** Tell some workers of an elastic workload to stop; the rest runs on. */
    record Shrink(
            WorkloadId workload,
            SortedSet<Integer> workers,
            EvictionCause cause,
            Optional<WorkloadId> successor,
            long deadlineMillis,
            EvictionReceipt receipt)
            implements Decision {}

    /** Keep a place for a workload: nobody else gets it, and it starts there when all of it is free. */
    record Nominate(WorkloadId workload, Allocation place) implements Decision {}

    /** The place is no longer kept. */
    record WithdrawNomination(WorkloadId workload) implements Decision {}

    /** By which right something started. */
    enum Rule {
        /** Its start keeps every node of its path within what is reserved. */
        WITHIN_RESERVED,
        /** On capacity that nobody with a better right asks for. */
        OVER_QUOTA,
        /** On the place that was kept for it. */
        NOMINATED,
        /** No quota counts in this pool. */
        OPEN
    }
}
