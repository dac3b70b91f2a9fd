package io.quartermaster.dispatch.lifecycle;

import java.util.Locale;

/** Why an attempt was told to stop. */
public enum AttemptStopReason {
    /** To make room for other work. */
    PREEMPTED,
    /** Likewise, but its processes may stand still and go on later. */
    PAUSED,
    CANCELLED,
    /** A node that it ran on was given up. */
    LOST,
    /** A part of it is over (it failed, or it is all that the workload began with), and the rest does not go on without. */
    INCOMPLETE;

    /** As the database writes it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static AttemptStopReason of(String word) {
        for (AttemptStopReason reason : values()) {
            if (reason.word().equals(word)) {
                return reason;
            }
        }
        throw new IllegalArgumentException("no reason to stop: " + word);
    }
}
