package io.quartermaster.agent.protocol;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * Why an attempt is asked to stop; decides its outcome once it was asked, whatever its exit code. An agent that is older than the service
 * takes a reason it does not know for {@link #CANCELLED}, and stops the attempt all the same.
 */
public enum StopReason {
    @JsonProperty("preempted")
    PREEMPTED(AttemptState.Outcome.PREEMPTED),
    @JsonProperty("cancelled")
    @JsonEnumDefaultValue
    CANCELLED(AttemptState.Outcome.CANCELLED),
    /** Another part of the workload is over, and this one does not go on without it. */
    @JsonProperty("incomplete")
    INCOMPLETE(AttemptState.Outcome.CANCELLED),
    /** It ran for its maximum run time. */
    @JsonProperty("timed-out")
    TIMED_OUT(AttemptState.Outcome.TIMED_OUT),
    /** The service does not want it here any more: it is not listed, or the node's lease ended. */
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
