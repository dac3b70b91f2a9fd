package io.quartermaster.agent.protocol;

import static io.quartermaster.agent.protocol.Protocol.require;
import static io.quartermaster.agent.protocol.Protocol.requireBetween;
import static io.quartermaster.agent.protocol.Protocol.requirePresent;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The agent's report about one attempt.
 *
 * @param checkpoint newest checkpoint in the workload's folder, if there is one
 * @param log end of the output, only if it changed since the last answered request
 * @param endedAgoMillis for an attempt that ended or is paused: the time between that event and the sending of this
 * request, on a clock that never jumps. The service counts back from the arrival of the request, so neither machine's
 * time of day matters. Null if the time is unknown, and from agents that do not report it
 */
public record AttemptReport(
        UUID attemptId,
        AttemptState state,
        @Nullable Checkpoint checkpoint,
        @Nullable LogTail log,
        @Nullable Long endedAgoMillis) {
    public AttemptReport {
        requirePresent("attemptId", attemptId, "a UUID");
        requirePresent("state", state, "an object");
        if (endedAgoMillis != null) {
            require(
                    state instanceof AttemptState.Ended || state instanceof AttemptState.Paused,
                    "endedAgoMillis",
                    endedAgoMillis + " of attempt " + attemptId,
                    "absent unless the attempt has ended or is paused");
            requireBetween("endedAgoMillis", endedAgoMillis, 0, Protocol.MAX_AGE_MILLIS);
        }
    }

    /** This report, sent later by the given time. */
    AttemptReport agedBy(long millis) {
        return endedAgoMillis == null
                ? this
                : new AttemptReport(
                        attemptId, state, checkpoint, log, Math.min(endedAgoMillis + millis, Protocol.MAX_AGE_MILLIS));
    }

    /**
     * A saved state of the work: the newest finished entry of its checkpoint folder. Entries whose name begins with a
     * dot or ends in {@code .tmp} or {@code .partial} are unfinished and are ignored.
     */
    public record Checkpoint(String name, long savedAtEpochMillis) {}

    /**
     * The end of the output, standard and error output together.
     *
     * @param text UTF-8; invalid bytes are replaced
     * @param totalBytes bytes written since the attempt started; the text is their last part
     */
    public record LogTail(String text, long totalBytes) {
        public LogTail {
            require(
                    text != null && text.length() <= Protocol.MAX_LOG_TAIL_BYTES,
                    "text",
                    text == null ? null : text.length() + " characters",
                    "a text of at most " + Protocol.MAX_LOG_TAIL_BYTES + " characters");
            requireBetween("totalBytes", totalBytes, 0, Long.MAX_VALUE);
        }
    }
}
