package io.quartermaster.agent.protocol;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Why an attempt is asked to stop; decides its outcome once it was asked, whatever its exit code. */
public enum StopReason {
    @JsonProperty("preempted")
    PREEMPTED(AttemptState.Outcome.PREEMPTED),
    @JsonProperty("paused")
    PAUSED(AttemptState.Outcome.PAUSED),
    @JsonProperty("cancelled")
    CANCELLED(AttemptState.Outcome.CANCELLED),
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
