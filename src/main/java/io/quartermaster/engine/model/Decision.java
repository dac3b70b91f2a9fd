package io.quartermaster.engine.model;

import java.util.Optional;
import java.util.SortedSet;

/**
 * Decision of a plan. The decisions of a plan are in the order in which the engine made them. The engine assumes that
 * the shell carries them out; a shell that cannot commit them discards the engine and builds a new one from the stored
 * state.
 */
public sealed interface Decision {

    WorkloadId workload();

    /**
     * Start a workload on these devices; the workload holds them from now on and no longer waits.
     *
     * @param fromReservation whether it starts from a backfill reservation; the shell stores this with the allocation
     */
    record Start(WorkloadId workload, Allocation allocation, Rule rule, boolean fromReservation) implements Decision {

        /** A start without a backfill reservation. */
        public Start(WorkloadId workload, Allocation allocation, Rule rule) {
            this(workload, allocation, rule, false);
        }
    }

    /** Add these workers to a running workload. */
    record Grow(WorkloadId workload, Allocation added, Rule rule) implements Decision {}

    /**
     * Evict a workload. It keeps its devices until the shell reports that it has ended. Then it waits again, before the
     * other workloads of its priority.
     *
     * @param successor the preemptor; empty for an eviction without a preemptor
     */
    record Evict(
            WorkloadId workload,
            EvictionCause cause,
            Optional<WorkloadId> successor,
            long deadlineMillis,
            EvictionReceipt receipt)
            implements Decision {}

    /** Evict some workers of an elastic workload; the other workers continue to run. */
    record Shrink(
            WorkloadId workload,
            SortedSet<Integer> workers,
            EvictionCause cause,
            Optional<WorkloadId> successor,
            long deadlineMillis,
            EvictionReceipt receipt)
            implements Decision {}

    /**
     * Nominate a place for a workload: no other workload gets it, and the workload starts there once all of it is free.
     */
    record Nominate(WorkloadId workload, Allocation place) implements Decision {}

    /** Withdraw the nomination of a workload. */
    record WithdrawNomination(WorkloadId workload) implements Decision {}

    /** The right by which a workload or worker started. */
    enum Rule {
        /** The start keeps every node of the workload's path within its reservation. */
        WITHIN_RESERVED,
        /** The start uses capacity for which no work with a better right waits. */
        OVER_QUOTA,
        /** The workload starts on its nominated place. */
        NOMINATED,
        /** No quota applies in this pool. */
        OPEN
    }
}
