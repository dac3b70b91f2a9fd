package io.quartermaster.workloads;

import java.util.Locale;

/** The outcome of an attempt. */
public enum AttemptOutcome {
    SUCCEEDED,
    FAILED,
    /** The machine ended it because it used more memory than it had. */
    OUT_OF_MEMORY,
    /** It stopped for another workload. */
    PREEMPTED,
    /** It gave its devices to another workload; its processes stay on the node. */
    PAUSED,
    CANCELLED,
    /** Ran for its maximum run time. */
    TIMED_OUT,
    /** Its node was given up, so no executor reported its end. */
    LOST;

    /** The word for it in the API and the database. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public static AttemptOutcome of(String word) {
        for (AttemptOutcome outcome : values()) {
            if (outcome.word().equals(word)) {
                return outcome;
            }
        }
        throw new IllegalArgumentException("unknown outcome of an attempt: " + word);
    }
}
