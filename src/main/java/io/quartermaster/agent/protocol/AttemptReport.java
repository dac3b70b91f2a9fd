package io.quartermaster.agent.protocol;

import static io.quartermaster.agent.protocol.Protocol.require;
import static io.quartermaster.agent.protocol.Protocol.requireBetween;
import static io.quartermaster.agent.protocol.Protocol.requirePresent;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the agent knows of one attempt.
 *
 * @param checkpoint newest checkpoint in the workload's folder, if there is one
 * @param log end of the output, only when it changed since the last request that was answered
 * @param endedAgoMillis of an attempt that ended or is paused: how long before this request was sent it came to that, on
 *     a clock that never jumps. The service counts back from when the request arrives, so neither machine's time of day
 *     matters. Null where that is not known, and from agents that do not tell
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

    /** The same report, sent so much later. */
    AttemptReport agedBy(long millis) {
        return endedAgoMillis == null
                ? this
                : new AttemptReport(
                        attemptId, state, checkpoint, log, Math.min(endedAgoMillis + millis, Protocol.MAX_AGE_MILLIS));
    }

    /**
     * A saved state of the work: the newest finished entry of its checkpoint folder. Entries whose name begins with a
     * dot or ends in {@code .tmp} or {@code .partial} are unfinished and do not count.
     */
    public record Checkpoint(String name, long savedAtEpochMillis) {}

    /**
     * The end of the output, standard and error output together.
     *
     * @param text UTF-8; bytes that are none are replaced
     * @param totalBytes written since the attempt started, of which the text is the last part
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
