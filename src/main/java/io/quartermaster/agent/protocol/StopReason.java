package io.quartermaster.agent.protocol;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Why an attempt is asked to stop; decides its outcome once it was asked, whatever its exit code. An agent that is older than the service
 * takes a reason it does not know for {@link #CANCELLED}, and stops the attempt all the same.
 */
public enum StopReason {
    @JsonProperty("preempted")
    PREEMPTED(ReportedAttemptState.Outcome.PREEMPTED),
    @JsonProperty("cancelled")
    @JsonEnumDefaultValue
    CANCELLED(ReportedAttemptState.Outcome.CANCELLED),
    /** Another part of the workload is over, and this one does not go on without it. */
    @JsonProperty("incomplete")
    INCOMPLETE(ReportedAttemptState.Outcome.CANCELLED),
    /** It ran for its maximum run time. */
    @JsonProperty("timed-out")
    TIMED_OUT(ReportedAttemptState.Outcome.TIMED_OUT),
    /** The service does not want it here any more: it is not listed, or the node's lease ended. */
    @JsonProperty("given-up")
    GIVEN_UP(ReportedAttemptState.Outcome.LOST);

    private final ReportedAttemptState.Outcome outcome;

    StopReason(ReportedAttemptState.Outcome outcome) {
        this.outcome = outcome;
    }

    public ReportedAttemptState.Outcome outcome() {
        return outcome;
    }
}
