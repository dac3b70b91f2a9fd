package io.quartermaster.agent.protocol;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * The reason why an attempt must stop. After the request, the reason decides the outcome, whatever the exit code. An
 * agent that is older than the service treats an unknown reason as {@link #CANCELLED}, and stops the attempt too.
 */
public enum StopReason {
    @JsonProperty("preempted")
    PREEMPTED(AttemptState.Outcome.PREEMPTED),
    @JsonProperty("cancelled")
    @JsonEnumDefaultValue
    CANCELLED(AttemptState.Outcome.CANCELLED),
    /** Another part of the workload has ended, and this one does not continue without it. */
    @JsonProperty("incomplete")
    INCOMPLETE(AttemptState.Outcome.CANCELLED),
    /** The attempt ran for its maximum run time. */
    @JsonProperty("timed-out")
    TIMED_OUT(AttemptState.Outcome.TIMED_OUT),
    /** The service no longer orders the attempt here: it is not listed, or the node's lease ended. */
    @JsonProperty("given-up")
    GIVEN_UP(AttemptState.Outcome.LOST);

    private final AttemptState.Outcome outcome;

    StopReason(AttemptState.Outcome outcome) {
        this.outcome = outcome;
    }

    public AttemptState.Outcome outcome() {
        return outcome;
    }
}
