package io.quartermaster.agent.supervisor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ProcessGroupTest {
    private static final int STOPS = 40;
    private static final long LIMIT_MILLIS = 20_000;
    private static final long KILL_TIMEOUT_MILLIS = 10_000;

    private final String attemptId = UUID.randomUUID().toString();
    private final List<Process> started = new ArrayList<>();

    private Process start(String script) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("/bin/sh", "-c", script);
        builder.environment().put(ProcessGroup.ATTEMPT_VARIABLE, attemptId);
        Process process = builder.start();
        started.add(process);
        return process;
    }

    @AfterEach
    void killAll() throws InterruptedException {
        started.forEach(Process::destroyForcibly);
        ProcessGroup.kill(Optional.empty(), attemptId, KILL_TIMEOUT_MILLIS);
    }

    /**
     * A shell starts a program by vfork(2): it waits, and cannot be stopped, until the child has replaced itself by the
     * program. A child that is stopped before that would keep the shell waiting.
     */
    @Test
    void processesThatStartProgramsAllTheTimeAreStopped() throws Exception {
        assumeThat(ProcessGroup.seesAll()).isTrue();
        Process first = start("while :; do /bin/true; done");
        start("while :; do /bin/true; done");
        start("while :; do /bin/true; done");

        for (int stop = 1; stop <= STOPS; stop++) {
            assertThat(ProcessGroup.stop(first.pid(), attemptId, LIMIT_MILLIS))
                    .as("stop %d", stop)
                    .isTrue();
            ProcessGroup.resume(first.pid(), attemptId);
            Thread.sleep(1 + stop % 7);
        }
    }
}
