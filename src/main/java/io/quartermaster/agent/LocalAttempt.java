package io.quartermaster.agent;

import io.quartermaster.agent.supervisor.AttemptFolder;
import io.quartermaster.agent.supervisor.WorkRecord;
import java.io.IOException;
import java.util.Optional;
import java.util.UUID;

/** The state of one attempt that is kept in memory, beside the files that are read each time. */
record LocalAttempt(UUID id, AttemptFolder folder, WorkRecord work) {
    /** Whether the attempt took over the processes of an earlier one. */
    boolean tookOver() {
        return !id.toString().equals(work.attemptId());
    }

    Optional<Long> startedAt() throws IOException {
        return tookOver()
                ? folder.readResumed()
                        .filter(resumed -> resumed.attemptId().equals(id))
                        .map(AttemptFolder.Resumed::startedAtEpochMillis)
                : folder.readStarted();
    }

    boolean isPaused() throws IOException {
        return folder.readPaused().filter(id::equals).isPresent();
    }
}
