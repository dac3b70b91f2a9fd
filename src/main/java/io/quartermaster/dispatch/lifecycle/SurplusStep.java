package io.quartermaster.dispatch.lifecycle;

import io.quartermaster.workloads.AttemptOutcome;
import io.quartermaster.workloads.WorkloadAttemptState;
import java.util.Optional;

/** The next step of one surplus worker of an elastic workload. The workload itself continues after any of them. */
public sealed interface SurplusStep {

    /** No step. */
    record NoStep() implements SurplusStep {}

    record Progress(WorkloadAttemptState.Wanted state) implements SurplusStep {}

    /** The worker is asked to stop because the workload's core stops. */
    record AskToStop(AttemptStopReason reason) implements SurplusStep {}

    /** The stopping worker gets less time to stop. */
    record Shorten(long deadlineMillis) implements SurplusStep {}

    /**
     * The worker is over and its devices are free.
     *
     * @param isFinal it ended by itself: no worker starts in its place before the workload's next attempt
     */
    record End(AttemptOutcome outcome, Optional<Integer> exitCode, String message, boolean isFinal)
            implements SurplusStep {}
}
