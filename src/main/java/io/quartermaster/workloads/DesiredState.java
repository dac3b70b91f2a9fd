package io.quartermaster.workloads;

import java.util.Locale;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * The desired state of a workload. The API writes it and the leader carries it out. A hold stops nothing that runs: it
 * takes effect when the workload would wait again. A cancellation is final.
 */
@Schema(name = "WorkloadWish")
public enum DesiredState {
    RUN,
    HOLD,
    CANCEL;

    /** The word for it in the database. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static DesiredState of(String word) {
        for (DesiredState desiredState : values()) {
            if (desiredState.word().equals(word)) {
                return desiredState;
            }
        }
        throw new IllegalArgumentException("unknown desired state of a workload: " + word);
    }
}
