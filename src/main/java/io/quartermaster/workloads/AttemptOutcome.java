package io.quartermaster.workloads;

import java.util.Locale;

/** How an attempt ended. */
public enum AttemptOutcome {
    SUCCEEDED,
    FAILED,
    /** Ended by the machine for using more memory than it had. */
    OUT_OF_MEMORY,
    /** Made room for other work. */
    PREEMPTED,
    /** Made room by giving up its devices; its processes stay. */
    PAUSED,
    CANCELLED,
    /** Ran for its maximum run time. */
    TIMED_OUT,
    /** Its node was given up, so nobody saw how it ended. */
    LOST;

    /** As the API and the database write it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public static AttemptOutcome of(String word) {
        for (AttemptOutcome outcome : values()) {
            if (outcome.word().equals(word)) {
                return outcome;
            }
        }
        throw new IllegalArgumentException("no outcome of an attempt: " + word);
    }
}
