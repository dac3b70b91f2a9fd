package io.quartermaster.dispatch.lifecycle;

import java.util.Locale;

/** The reason why an attempt was asked to stop. */
public enum AttemptStopReason {
    /** Another workload needs its devices. */
    PREEMPTED,
    /** Another workload needs its devices, but the processes may be paused and resume later. */
    PAUSED,
    CANCELLED,
    /** One of its nodes was given up. */
    LOST,
    /**
     * A part of it is over: that part failed, or it is the complete core of the workload. The rest does not continue
     * without it.
     */
    INCOMPLETE;

    /** The word for it in the database. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static AttemptStopReason of(String word) {
        for (AttemptStopReason reason : values()) {
            if (reason.word().equals(word)) {
                return reason;
            }
        }
        throw new IllegalArgumentException("unknown reason to stop: " + word);
    }
}
