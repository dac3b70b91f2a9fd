package io.quartermaster.workloads;

import java.util.Optional;

/**
 * Where an attempt is. It holds its devices from {@link Bound} to {@link Ended}, only moves down this list, may skip steps that no
 * report told of, and offers only the states that may follow.
 */
public sealed interface WorkloadAttemptState {

    /** As the API and the database write it. */
    String word();

    /** One that holds its devices. */
    sealed interface Live extends WorkloadAttemptState {

        /** The executor has confirmed that it is over, or its node's lease is. */
        default Ended end(AttemptOutcome outcome) {
            return new Ended(outcome);
        }
    }

    /** One that nobody has told to stop. */
    sealed interface Wanted extends Live {

        /** It is told to stop and keeps its devices until it is gone. */
        default Stopping stop() {
            return new Stopping();
        }
    }

    /** Its devices are bound; its executor has not spoken of it yet. */
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

    /** It was told to stop; its processes may still run. */
    record Stopping() implements Live {
        @Override
        public String word() {
            return "stopping";
        }
    }

    /** It holds nothing any more, and never will again. */
    record Ended(AttemptOutcome outcome) implements WorkloadAttemptState {
        @Override
        public String word() {
            return "ended";
        }
    }

    /** Reads the columns {@code state} and {@code outcome}; the outcome is there when the attempt has ended, and only then. */
    static WorkloadAttemptState of(String word, Optional<AttemptOutcome> outcome) {
        if (word.equals("ended")) {
            return new Ended(
                    outcome.orElseThrow(() -> new IllegalArgumentException("an attempt ended without an outcome")));
        }
        if (outcome.isPresent()) {
            throw new IllegalArgumentException("an attempt is " + word + " and has an outcome");
        }
        return switch (word) {
            case "bound" -> new Bound();
            case "starting" -> new Starting();
            case "running" -> new Running();
            case "stopping" -> new Stopping();
            default -> throw new IllegalArgumentException("no state of an attempt: " + word);
        };
    }
}
