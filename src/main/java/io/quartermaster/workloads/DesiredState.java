package io.quartermaster.workloads;

import java.util.Locale;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * What the API asks for a workload; the leader makes it so. A wish to hold stops nothing that runs: it takes effect when the workload
 * would wait next. A wish to cancel is final.
 */
@Schema(name = "WorkloadWish")
public enum DesiredState {
    RUN,
    HOLD,
    CANCEL;

    /** As the database writes it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static DesiredState of(String word) {
        for (DesiredState desiredState : values()) {
            if (desiredState.word().equals(word)) {
                return desiredState;
            }
        }
        throw new IllegalArgumentException("no wish for a workload: " + word);
    }
}
