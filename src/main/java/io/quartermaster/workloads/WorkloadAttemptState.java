package io.quartermaster.workloads;

import java.util.Optional;

/**
 * The state of an attempt. The attempt holds its devices from {@link Bound} until {@link Ended}. It only moves down
 * this list, and may skip states that no report mentions. Each state offers only the states that may follow.
 */
public sealed interface WorkloadAttemptState {

    /** The word for it in the API and the database. */
    String word();

    /** A state in which the attempt holds its devices. */
    sealed interface Live extends WorkloadAttemptState {

        /** Ends the attempt: its executor has confirmed the end, or the lease of its node has expired. */
        default Ended end(AttemptOutcome outcome) {
            return new Ended(outcome);
        }
    }

    /** A state in which the attempt was not asked to stop. */
    sealed interface Wanted extends Live {

        /** Asks the attempt to stop; it keeps its devices until it has stopped. */
        default Stopping stop() {
            return new Stopping();
        }
    }

    /** Its devices are bound; its executor has not reported on it yet. */
    record Bound() implements Wanted {
        public Starting start() {
            return new Starting();
        }

        public Running run() {
            return new Running();
        }

        @Override
        public String word() {
            return "bound";
        }
    }

    /** Its executor has recorded it. */
    record Starting() implements Wanted {
        public Running run() {
            return new Running();
        }

        @Override
        public String word() {
            return "starting";
        }
    }

    /** Its processes run. */
    record Running() implements Wanted {
        @Override
        public String word() {
            return "running";
        }
    }

    /** It was asked to stop; its processes may still run. */
    record Stopping() implements Live {
        @Override
        public String word() {
            return "stopping";
        }
    }

    /** It holds no devices, and never will again. */
    record Ended(AttemptOutcome outcome) implements WorkloadAttemptState {
        @Override
        public String word() {
            return "ended";
        }
    }

    /**
     * Reads the columns {@code state} and {@code outcome}; the outcome is present if and only if the attempt has ended.
     */
    static WorkloadAttemptState of(String word, Optional<AttemptOutcome> outcome) {
        if (word.equals("ended")) {
            return new Ended(
                    outcome.orElseThrow(() -> new IllegalArgumentException("an attempt ended without an outcome")));
        }
        if (outcome.isPresent()) {
            throw new IllegalArgumentException("an attempt in state " + word + " must not have an outcome");
        }
        return switch (word) {
            case "bound" -> new Bound();
            case "starting" -> new Starting();
            case "running" -> new Running();
            case "stopping" -> new Stopping();
            default -> throw new IllegalArgumentException("unknown state of an attempt: " + word);
        };
    }
}
