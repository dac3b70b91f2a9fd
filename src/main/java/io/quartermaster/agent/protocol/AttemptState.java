package io.quartermaster.agent.protocol;

import static io.quartermaster.agent.protocol.Protocol.requirePresent;
import static io.quartermaster.agent.protocol.Protocol.requireTime;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * The state of an attempt on its node. It only moves down this list, except that a {@link Paused} attempt may still be
 * asked to stop; {@link Ended} is final. A paused attempt does not run again under its own id: the next attempt takes
 * it over.
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

    /** The attempt is recorded; whether its processes run is not known yet. */
    record Starting() implements AttemptState {}

    /** Its processes are running. */
    record Running(long startedAtEpochMillis) implements AttemptState {
        public Running {
            requireTime("startedAtEpochMillis", startedAtEpochMillis);
        }
    }

    /** The attempt was asked to stop; its processes may still run. */
    record Stopping(@Nullable Long startedAtEpochMillis, StopReason reason) implements AttemptState {
        public Stopping {
            requireTime("startedAtEpochMillis", startedAtEpochMillis);
        }
    }

    /** Its processes are stopped and hold no device. Their life depends on the node's lease as that of all others. */
    record Paused(@Nullable Long startedAtEpochMillis) implements AttemptState {
        public Paused {
            requireTime("startedAtEpochMillis", startedAtEpochMillis);
        }
    }

    /**
     * All its processes have ended, and it never runs again.
     *
     * @param exitCode as a shell reports it (128 + signal); absent if the work never started or its end was not
     *     observed
     * @param startedAtEpochMillis absent if it never started
     * @param detail explanation for people; may be empty. Text beyond {@link Protocol#MAX_DETAIL_BYTES} is truncated
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
            // Truncated, never refused: a long explanation must not cause the loss of the end itself.
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
