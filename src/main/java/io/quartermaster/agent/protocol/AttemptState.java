package io.quartermaster.agent.protocol;

import static io.quartermaster.agent.protocol.Protocol.requirePresent;
import static io.quartermaster.agent.protocol.Protocol.requireTime;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * Where an attempt is on its node. It only moves down this list, but that what is {@link Paused} may still be told to
 * stop, and {@link Ended} is final. What is paused does not run again under its own id: the next attempt takes it over.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "state")
@JsonSubTypes({
    @JsonSubTypes.Type(value = AttemptState.Starting.class, name = "starting"),
    @JsonSubTypes.Type(value = AttemptState.Running.class, name = "running"),
    @JsonSubTypes.Type(value = AttemptState.Stopping.class, name = "stopping"),
    @JsonSubTypes.Type(value = AttemptState.Paused.class, name = "paused"),
    @JsonSubTypes.Type(value = AttemptState.Ended.class, name = "ended"),
})
public sealed interface AttemptState {

    /** Recorded; its processes are not known to run yet. */
    record Starting() implements AttemptState {}

    /** Its processes run. */
    record Running(long startedAtEpochMillis) implements AttemptState {
        public Running {
            requireTime("startedAtEpochMillis", startedAtEpochMillis);
        }
    }

    /** It was asked to stop; its processes may still run. */
    record Stopping(@Nullable Long startedAtEpochMillis, StopReason reason) implements AttemptState {
        public Stopping {
            requireTime("startedAtEpochMillis", startedAtEpochMillis);
        }
    }

    /** Its processes stand still and hold no device. They live under the node's lease like any other. */
    record Paused(@Nullable Long startedAtEpochMillis) implements AttemptState {
        public Paused {
            requireTime("startedAtEpochMillis", startedAtEpochMillis);
        }
    }

    /**
     * Nothing of it runs any more, and it never will again.
     *
     * @param exitCode as a shell would give it (128 + signal), absent when the work was never started or its end was
     *     not seen
     * @param startedAtEpochMillis absent when it was never started
     * @param detail for people; may be empty. What is beyond {@link Protocol#MAX_DETAIL_BYTES} is cut
     */
    record Ended(
            Outcome outcome,
            @Nullable Integer exitCode,
            @Nullable Long startedAtEpochMillis,
            long endedAtEpochMillis,
            String detail)
            implements AttemptState {
        public Ended {
            requirePresent(
                    "outcome",
                    outcome,
                    "one of succeeded, failed, out-of-memory, preempted, cancelled, timed-out, lost");
            requireTime("startedAtEpochMillis", startedAtEpochMillis);
            requireTime("endedAtEpochMillis", endedAtEpochMillis);
            // Never refused: that an attempt has ended must not be lost for the words that explain it.
            detail = detail == null ? "" : Protocol.cut(detail, Protocol.MAX_DETAIL_BYTES);
        }
    }

    /** How an attempt ended. */
    enum Outcome {
        @JsonProperty("succeeded")
        SUCCEEDED,
        @JsonProperty("failed")
        FAILED,
        @JsonProperty("out-of-memory")
        OUT_OF_MEMORY,
        @JsonProperty("preempted")
        PREEMPTED,
        @JsonProperty("cancelled")
        CANCELLED,
        @JsonProperty("timed-out")
        TIMED_OUT,
        @JsonProperty("lost")
        LOST
    }
}
