package io.quartermaster.embedded;

import io.quartermaster.launch.StartFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jboss.logging.Logger;

/**
 * A program that runs beside the service and survives a crash of it. Its pid file identifies the process (pid and start
 * time, because pids are reused) and records its command and settings. The next start adopts the process if these are
 * equal, and replaces it otherwise. The process writes that file itself before it becomes the program. So no crash of
 * the service leaves an unrecorded program behind.
 *
 * <p>It runs in a session of its own where the system supports that. Ctrl-C at the terminal then reaches only the
 * service, which ends its children in the right order.
 */
final class ManagedProcess {

    private static final Logger LOG = Logger.getLogger(ManagedProcess.class);

    /**
     * Receives the pid file, the time, the fingerprint, and the command; the pid stays when the command replaces the
     * shell.
     */
    private static final String RECORD_AND_BECOME =
            "echo \"$$ $1 $2\" >\"$0.next\" && mv -f \"$0.next\" \"$0\" || exit; shift 2; exec \"$@\"";

    private static final Duration KILL_TIMEOUT = Duration.ofSeconds(5);

    private final String title;
    private final ProcessHandle process;
    private final Path pidFile;

    private ManagedProcess(String title, ProcessHandle process, Path pidFile) {
        this.title = title;
        this.process = process;
        this.pidFile = pidFile;
    }

    /**
     * The program to start.
     *
     * @param fingerprint must be equal, in addition to the command, for a running process to be adopted
     */
    record Spec(
            String title,
            List<String> command,
            Map<String, String> environment,
            Path folder,
            Path log,
            Path pidFile,
            String fingerprint) {
        Spec {
            command = List.copyOf(command);
            environment = Map.copyOf(environment);
        }

        private String identity() {
            return Integer.toHexString(List.of(command, fingerprint).hashCode());
        }
    }

    /** The process of an earlier start that still runs and was started with the same command and fingerprint. */
    static Optional<ManagedProcess> adopt(Spec spec) {
        return readRecord(spec.pidFile())
                .filter(record -> record.identity().equals(spec.identity()))
                .map(record -> new ManagedProcess(spec.title(), record.process(), spec.pidFile()));
    }

    /** Ends the process of an earlier start, if there is one, regardless of its command. */
    static void endRecorded(String title, Path pidFile, StopSignal signal, Duration timeout) {
        readRecord(pidFile).ifPresent(record -> {
            LOG.infof(
                    "Ending %s left over from an earlier run (pid %d)",
                    title, record.process().pid());
            new ManagedProcess(title, record.process(), pidFile).stop(signal, timeout);
        });
    }

    /** The pid of the process of an earlier start that still runs. */
    static OptionalLong runningPid(Path pidFile) {
        return readRecord(pidFile).stream()
                .mapToLong(record -> record.process().pid())
                .findFirst();
    }

    static ManagedProcess start(Spec spec) {
        List<String> command = new ArrayList<>(ProcessSessions.prefix());
        command.addAll(
                List.of("/bin/sh", "-c", RECORD_AND_BECOME, spec.pidFile().toString()));
        command.addAll(List.of(Long.toString(System.currentTimeMillis()), spec.identity()));
        command.addAll(spec.command());
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(spec.folder().toFile())
                .redirectInput(ProcessBuilder.Redirect.from(ProcessSessions.nothing()))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(spec.log().toFile()));
        builder.environment().putAll(spec.environment());
        try {
            LogRotation.rotate(spec.log(), LogRotation.LOG_BYTES);
            return new ManagedProcess(spec.title(), builder.start().toHandle(), spec.pidFile());
        } catch (IOException e) {
            throw new StartFailure("Cannot start " + spec.title() + ": " + e.getMessage(), e);
        }
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    CompletableFuture<ProcessHandle> onExit() {
        return process.onExit();
    }

    /** Whether the process has ended. If not, this waits for its end, for at most that time. */
    boolean endsWithin(Duration time) throws InterruptedException {
        try {
            process.onExit().get(time.toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException stillThere) {
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Asks the process to end, waits, then kills it. The pid file is removed when the process has ended. */
    void stop(StopSignal signal, Duration timeout) {
        signal.send(process);
        if (!awaitGone(timeout)) {
            LOG.warnf("%s (pid %d) did not end within %d s; killing it", title, process.pid(), timeout.toSeconds());
            process.destroyForcibly();
            if (!awaitGone(KILL_TIMEOUT)) {
                LOG.errorf("cannot end %s (pid %d)", title, process.pid());
                return;
            }
        }
        try {
            Files.deleteIfExists(pidFile);
        } catch (IOException e) {
            LOG.debugf(e, "Cannot remove %s", pidFile);
        }
    }

    /** An interrupt does not stop the wait, because {@link RestartingProcess} uses interrupts to request the end. */
    private boolean awaitGone(Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    process.onExit().get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
                    return true;
                } catch (TimeoutException stillThere) {
                    return !process.isAlive();
                } catch (ExecutionException e) {
                    throw new IllegalStateException(e);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private record ProcessRecord(ProcessHandle process, String identity) {}

    /** One line: the process's {@link ProcessMark} and its fingerprint. */
    private static Optional<ProcessRecord> readRecord(Path pidFile) {
        String line;
        try {
            line = Files.readString(pidFile, StandardCharsets.UTF_8).strip();
        } catch (IOException none) {
            return Optional.empty();
        }
        int split = line.lastIndexOf(' ');
        if (split < 0) {
            return Optional.empty();
        }
        return ProcessMark.parse(line.substring(0, split))
                .flatMap(ProcessMark::find)
                .map(process -> new ProcessRecord(process, line.substring(split + 1)));
    }
}
