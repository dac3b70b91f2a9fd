package io.quartermaster.engine.model;

import java.util.Collections;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;

/** What a workload is to the engine; one that is over is removed. */
public sealed interface WorkloadPhase {

    /**
     * It holds nothing.
     *
     * @param atHeadSinceMillis since when it waits again after it was stopped against its will: it goes before others of its group and
     *     priority; empty for what was not
     * @param place an admin's order of its queue: lower goes first within its priority, and before work without one
     * @param only the one node that it may start on, where its paused processes are; empty for any
     */
    record Waiting(OptionalLong atHeadSinceMillis, OptionalLong place, Optional<NodeId> only) implements WorkloadPhase {

        public boolean atHead() {
            return atHeadSinceMillis.isPresent();
        }

        public Waiting at(OptionalLong newPlace) {
            return new Waiting(atHeadSinceMillis, newPlace, only);
        }
    }

    /**
     * It holds devices.
     *
     * @param startedMillis when the plan that bound them was made; the later started gives way first
     * @param hadBefore the numbers of workers that it had to let go since then, whether or not it has them again: they come again and
     *     are nothing new
     * @param fromReservation whether it started from a backfill reservation: for as long as the patience it is not reclaimed by the right of
     *     fair share
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

        /** It did not start from a backfill reservation. */
        public Holding(Allocation allocation, long startedMillis, Phase phase, SortedSet<Integer> hadBefore) {
            this(allocation, startedMillis, phase, hadBefore, false);
        }

        /** With further workers; whoever has all that it cannot run without is complete again. */
        public Holding with(Allocation added, Shape shape) {
            Allocation all = allocation.with(added);
            boolean complete = phase instanceof Phase.Incomplete && shape.isEnough(all);
            return new Holding(all, startedMillis, complete ? new Phase.Running() : phase, hadBefore, fromReservation);
        }

        /** The same in another phase. */
        public Holding in(Phase next) {
            return new Holding(allocation, startedMillis, next, hadBefore, fromReservation);
        }

        /** Without workers that left, or were lost, against its will. */
        public Holding without(SortedSet<Integer> workers, Phase next) {
            SortedSet<Integer> gone = new TreeSet<>(hadBefore);
            gone.addAll(workers);
            return new Holding(allocation.without(workers), startedMillis, next, gone, fromReservation);
        }
    }

    /** How far a workload that holds devices is. */
    sealed interface Phase {

        /** Whether nothing of it was told to stop. */
        default boolean isStaying() {
            return this instanceof Running || this instanceof Incomplete;
        }

        /** Bound, starting or running: all the same to the engine. */
        record Running() implements Phase {}

        /**
         * Workers that it cannot run without were lost; the rest waits for others in their place.
         *
         * @param sinceMillis when it lost the first of them
         */
        record Incomplete(long sinceMillis) implements Phase {}

        /** Told to stop; keeps its devices until it is reported gone, at the latest a little after the deadline. */
        record Stopping(EvictionCause cause, long deadlineMillis) implements Phase {}

        /** Some workers beyond the minimum were told to stop; the rest runs on. */
        record Shrinking(EvictionCause cause, SortedSet<Integer> workers, long deadlineMillis) implements Phase {
            public Shrinking {
                workers = Collections.unmodifiableSortedSet(new TreeSet<>(workers));
            }
        }
    }

    static WorkloadPhase waiting() {
        return new Waiting(OptionalLong.empty(), OptionalLong.empty(), Optional.empty());
    }

    /** It waits again from a moment on, after it was stopped against its will. */
    static WorkloadPhase waitingAgain(long sinceMillis) {
        return waitingAgain(sinceMillis, Optional.empty());
    }

    /** The same for what can only go on where its paused processes are, if they are anywhere. */
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
