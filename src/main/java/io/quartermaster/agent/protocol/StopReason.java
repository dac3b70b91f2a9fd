package io.quartermaster.agent.protocol;

/** Why an attempt is asked to stop; decides its outcome once it was asked, whatever its exit code. */
public enum StopReason {
    PREEMPTED(AttemptState.Outcome.PREEMPTED),
    PAUSED(AttemptState.Outcome.PAUSED),
    CANCELLED(AttemptState.Outcome.CANCELLED),
    /** It ran for its maximum run time. */
    TIMED_OUT(AttemptState.Outcome.TIMED_OUT),
    /** The service does not want it here any more: it is not listed, or the node's lease ended. */
    GIVEN_UP(AttemptState.Outcome.LOST);

    private final AttemptState.Outcome outcome;

    StopReason(AttemptState.Outcome outcome) {
        this.outcome = outcome;
    }

    public AttemptState.Outcome outcome() {
        return outcome;
    }
}
