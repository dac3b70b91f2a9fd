package io.quartermaster.agent.protocol;

import static io.quartermaster.agent.protocol.Protocol.check;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What the agent knows of one attempt.
 *
 * @param checkpoint newest checkpoint in the workload's folder, if there is one
 * @param log end of the output, only when it changed since the last request that was answered
 */
public record AttemptReport(
        UUID attemptId,
        AttemptState state,
        @Nullable Checkpoint checkpoint,
        @Nullable LogTail log) {

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
            check(
                    text.length() <= Protocol.MAX_LOG_TAIL_BYTES,
                    "log tail: at most %s characters",
                    Protocol.MAX_LOG_TAIL_BYTES);
            check(totalBytes >= 0, "totalBytes must not be negative, was %s", totalBytes);
        }
    }
}
