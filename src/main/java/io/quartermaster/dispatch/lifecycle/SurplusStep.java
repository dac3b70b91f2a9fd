package io.quartermaster.dispatch.lifecycle;

import io.quartermaster.workloads.AttemptOutcome;
import io.quartermaster.workloads.WorkloadAttemptState;
import java.util.Optional;

/** What follows for one surplus worker of an elastic workload. Whatever it is, the workload as such goes on. */
public sealed interface SurplusStep {

    /** Nothing. */
    record Stay() implements SurplusStep {}

    record Progress(WorkloadAttemptState.Wanted state) implements SurplusStep {}

    /** It is told to stop, since what it is a worker of stops. */
    record AskToStop(AttemptStopReason reason) implements SurplusStep {}

    /** It is stopping, and is given less time for that. */
    record Shorten(long deadlineMillis) implements SurplusStep {}

    /**
     * It is over and its devices are free.
     *
     * @param forGood it ended by itself: none is started in its place before the workload's next attempt
     */
    record End(AttemptOutcome outcome, Optional<Integer> exitCode, String message, boolean forGood)
            implements SurplusStep {}
}
