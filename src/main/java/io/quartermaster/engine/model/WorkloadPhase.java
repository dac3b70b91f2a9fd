package io.quartermaster.engine.model;

import java.util.Collections;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;

/** Phase of a workload in the engine; a workload that has ended is removed. */
public sealed interface WorkloadPhase {

    /**
     * The workload holds no devices.
     *
     * @param atHeadSinceMillis since when it waits again after an interruption, such as an eviction: it goes before
     *     other work of its group and priority; empty if it was not interrupted
     * @param place its place in an admin's order of the queue: lower goes first within its priority, and before work
     *     without a place
     * @param pinnedNode the one node on which it may start, because its paused processes are there; empty for any
     */
    record Waiting(OptionalLong atHeadSinceMillis, OptionalLong place, Optional<NodeId> pinnedNode)
            implements WorkloadPhase {

        public boolean atHead() {
            return atHeadSinceMillis.isPresent();
        }

        public Waiting at(OptionalLong newPlace) {
            return new Waiting(atHeadSinceMillis, newPlace, pinnedNode);
        }
    }

    /**
     * The workload holds devices.
     *
     * @param startedMillis the time of the plan that started it; the engine evicts work that started later first
     * @param hadBefore the numbers of workers that it lost since its start, whether or not it has them again: their
     *     return does not count as a new start
     * @param fromReservation whether it started from a backfill reservation: for the duration of the patience, no
     *     preemptor may reclaim its devices by the right of fair share
     */
    record Holding(
            Allocation allocation,
            long startedMillis,
            Phase phase,
            SortedSet<Integer> hadBefore,
            boolean fromReservation)
            implements WorkloadPhase {

        public Holding {
            hadBefore = hadBefore.isEmpty()
                    ? Collections.emptySortedSet()
                    : Collections.unmodifiableSortedSet(new TreeSet<>(hadBefore));
        }

        /** Creates the phase of a workload that did not start from a backfill reservation. */
        public Holding(Allocation allocation, long startedMillis, Phase phase, SortedSet<Integer> hadBefore) {
            this(allocation, startedMillis, phase, hadBefore, false);
        }

        /** A copy with further workers; an incomplete workload that now has all that it needs runs again. */
        public Holding with(Allocation added, Shape shape) {
            Allocation all = allocation.with(added);
            boolean complete = phase instanceof Phase.Incomplete && shape.isEnough(all);
            return new Holding(all, startedMillis, complete ? new Phase.Running() : phase, hadBefore, fromReservation);
        }

        /** A copy in another phase. */
        public Holding in(Phase next) {
            return new Holding(allocation, startedMillis, next, hadBefore, fromReservation);
        }

        /** A copy without workers that were evicted or lost. */
        public Holding without(SortedSet<Integer> workers, Phase next) {
            SortedSet<Integer> gone = new TreeSet<>(hadBefore);
            gone.addAll(workers);
            return new Holding(allocation.without(workers), startedMillis, next, gone, fromReservation);
        }
    }

    /** Phase of a workload that holds devices. */
    sealed interface Phase {

        /** Whether none of its workers is stopping. */
        default boolean isStaying() {
            return this instanceof Running || this instanceof Incomplete;
        }

        /** The workload is bound, starting or running; the engine does not distinguish these. */
        record Running() implements Phase {}

        /**
         * Workers that the workload cannot run without were lost; the other workers wait for replacements.
         *
         * @param sinceMillis when it lost the first of these workers
         */
        record Incomplete(long sinceMillis) implements Phase {}

        /**
         * The workload is stopping. It keeps its devices until the shell reports its end, at the latest shortly after
         * the deadline.
         */
        record Stopping(EvictionCause cause, long deadlineMillis) implements Phase {}

        /** Some workers beyond the minimum are stopping; the others continue to run. */
        record Shrinking(EvictionCause cause, SortedSet<Integer> workers, long deadlineMillis) implements Phase {
            public Shrinking {
                workers = Collections.unmodifiableSortedSet(new TreeSet<>(workers));
            }
        }
    }

    static WorkloadPhase waiting() {
        return new Waiting(OptionalLong.empty(), OptionalLong.empty(), Optional.empty());
    }

    /** The phase of a workload that waits again from a moment on, after an interruption. */
    static WorkloadPhase waitingAgain(long sinceMillis) {
        return waitingAgain(sinceMillis, Optional.empty());
    }

    /**
     * The phase of a workload that waits again; it may start only on the node of its paused processes, if it has any.
     */
    static WorkloadPhase waitingAgain(long sinceMillis, Optional<NodeId> only) {
        return new Waiting(OptionalLong.of(sinceMillis), OptionalLong.empty(), only);
    }

    static WorkloadPhase running(Allocation allocation, long startedMillis) {
        return running(allocation, startedMillis, false);
    }

    /** @param fromReservation whether it started from a backfill reservation */
    static WorkloadPhase running(Allocation allocation, long startedMillis, boolean fromReservation) {
        return new Holding(
                allocation, startedMillis, new Phase.Running(), Collections.emptySortedSet(), fromReservation);
    }
}
