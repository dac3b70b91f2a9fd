package io.quartermaster.agent.supervisor;

import io.quartermaster.agent.protocol.AttemptOrder.Desired;
import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.agent.supervisor.AttemptFolder.Claim;
import io.quartermaster.agent.supervisor.AttemptFolder.Lease;
import io.quartermaster.agent.supervisor.AttemptFolder.StopRequest;
import io.quartermaster.agent.supervisor.ProcessGroup.Signal;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The process beside each attempt: it starts the work once, ends it on request or at the end of the lease, and stores
 * its exit status on disk. It needs no agent for any of that; the agent may die and be replaced.
 *
 * <p>It is a small Java program and not a shell script. A script would have to start a program for each of these: to
 * force a file to disk, to hold a lock that dies with it, to bound the output, to read a clock. Each such start may
 * fail on a machine that is out of memory, where it matters most. The supervisor uses the JDK alone and runs with a
 * heap of a few MiB, the serial collector and the first compiler only. It needs about 30 MiB of its own memory (50 with
 * the memory that all Java programs share). It starts in a fifth of a second and uses 1 % of a processor. If the kernel
 * supports it, the work is killed when its supervisor dies.
 *
 * <p><b>How work ends.</b> At a request, the abort callback runs, for the grace less its last part; then the work gets
 * TERM, and KILL at the deadline. A lease that is not renewed counts as a request when a quarter of it is left, so that
 * work can still save its state. The end of the lease is a deadline that overrides all others.
 *
 * <p>Between a pause and the next attempt that takes the processes over, it keeps them suspended: see
 * {@link PauseController}. It ends them like running ones, but without the callback, which they could not answer.
 *
 * <p>Threads: the main thread does everything and starts all processes; one daemon thread per process moves output.
 */
public final class Supervisor {
    /** The time between TERM and KILL after an abort callback; less if the grace is short. */
    private static final long MAX_TERM_MILLIS = 5_000;

    /** An agent that decides the outcome of an attempt holds the claim only for a moment. */
    private static final Duration CLAIM_TIMEOUT = Duration.ofSeconds(30);

    private static final long KILL_TIMEOUT_MILLIS = 30_000;
    private static final int WRITE_ATTEMPTS = 60;
    private static final int KILLED = 128 + 9;
    private static final int NOT_STARTED = 127;

    private final AttemptFolder folder;
    private final WorkRecord work;
    private final BootClock clock;
    private final CountDownLatch finished = new CountDownLatch(1);
    private volatile boolean machineStops;

    private Supervisor(AttemptFolder folder, WorkRecord work, BootClock clock) {
        this.folder = folder;
        this.work = work;
        this.clock = clock;
    }

    /** Runs the supervisor; the one argument is the attempt's folder. */
    public static void main(String... arguments) throws IOException, InterruptedException {
        AttemptFolder folder = new AttemptFolder(Path.of(arguments[0]));
        WorkRecord work = WorkRecord.read(folder.record())
                .orElseThrow(() -> new IOException("no attempt is recorded in " + folder.path()));
        try (Claim claim = folder.claim(CLAIM_TIMEOUT)) {
            new Supervisor(folder, work, BootClock.system()).supervise();
        }
    }

    private void supervise() throws IOException, InterruptedException {
        if (folder.hasEnded() || folder.hasStarted()) {
            return; // Another process ended this attempt while this one was starting.
        }
        Optional<StopRequest> stop = folder.readStop();
        if (stop.isPresent()) {
            end(new Ended(stop.get().reason().outcome(), null, null, now(), "stopped before it was started"));
            return;
        }
        if (clock.millis() >= leaseEnd()) {
            end(new Ended(Outcome.LOST, null, null, now(), "the lease expired before it was started"));
            return;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(this::awaitEnd));
        try (AttemptOutput attemptOutput = new AttemptOutput(folder.path(), work.outputLimitBytes())) {
            end(run(attemptOutput));
        } finally {
            finished.countDown();
        }
    }

    /**
     * Waits for the end when the machine shuts down: the work gets its grace, as far as the system waits for this
     * process.
     */
    private void awaitEnd() {
        machineStops = true;
        try {
            finished.await(work.graceMillis() + KILL_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Ended run(AttemptOutput attemptOutput) throws IOException, InterruptedException {
        long startedAt = now();
        folder.markStarted(startedAt);
        long memoryKills = OomKillCounter.count();
        ProcessGroup group;
        try {
            group = start(work.command(), Map.of(), attemptOutput);
        } catch (IOException e) {
            attemptOutput.appendNote("cannot start: " + e.getMessage());
            return new Ended(Outcome.FAILED, NOT_STARTED, startedAt, now(), "cannot start: " + e.getMessage());
        }
        folder.markRunning(group.leader());
        PauseController pauseController = new PauseController(
                folder, work, clock, attemptOutput, group.leader().pid(), startedAt);
        Stopping stopping = new Stopping(group, attemptOutput, pauseController);
        try {
            while (!group.hasEndedWithin(work.tickMillis()) || !stopping.callbackHasEndedWithin(work.tickMillis())) {
                pauseController.advance(stopping.reason() != null);
                stopping.advance();
            }
        } finally {
            // Also if this loop fails: unsupervised work must not continue. A process that does not die keeps the
            // attempt open, since its devices are not free.
            while (!group.end(work.attemptId(), KILL_TIMEOUT_MILLIS)) {
                attemptOutput.appendNote("processes remain that do not die");
            }
        }
        @Nullable StopReason reason = stopping.reason();
        if (reason == null && pauseController.isSuspended()) {
            String detail = "its processes were killed while it was paused";
            return new Ended(Outcome.LOST, group.exitCode(), pauseController.startedAtEpochMillis(), now(), detail);
        }
        Outcome outcome = outcome(group.exitCode(), reason, OomKillCounter.count() > memoryKills);
        String detail = pauseController.failure().isEmpty() ? stopping.detail() : pauseController.failure();
        return new Ended(outcome, group.exitCode(), pauseController.startedAtEpochMillis(), now(), detail);
    }

    /** The outcome of the attempt. After a request to stop, its reason decides, even if the work then returned 0. */
    static Outcome outcome(int exitCode, @Nullable StopReason reason, boolean memoryWasShort) {
        if (reason != null) {
            return reason.outcome();
        }
        if (exitCode == KILLED && memoryWasShort) {
            return Outcome.OUT_OF_MEMORY;
        }
        return exitCode == 0 ? Outcome.SUCCEEDED : Outcome.FAILED;
    }

    /** The time at which TERM follows the abort callback: the last part of the grace is reserved for it. */
    static long termAtMillis(long killAtMillis, long graceMillis) {
        return killAtMillis - Math.min(MAX_TERM_MILLIS, graceMillis / 3);
    }

    private ProcessGroup start(List<String> command, Map<String, String> more, AttemptOutput attemptOutput)
            throws IOException {
        Map<String, String> environment = new TreeMap<>(work.environment());
        environment.putAll(more);
        long self = ProcessHandle.current().pid();
        byte[] message = WorkStarter.message(self, work.workFolder(), command, environment);
        return ProcessGroup.start(work.launcher(), work.attemptId(), message, attemptOutput);
    }

    private long leaseEnd() throws IOException {
        return folder.readLease().map(lease -> lease.untilMillis(clock)).orElse(0L);
    }

    private static long now() {
        return System.currentTimeMillis();
    }

    /**
     * Writes the end, and retries on a full disk, which may have room later: only this process knows the outcome of the
     * work.
     */
    private void end(Ended end) throws IOException, InterruptedException {
        BootClock.Reading at = clock.read();
        for (int attempt = 1; ; attempt++) {
            try {
                folder.markEnded(end, at);
                return;
            } catch (IOException e) {
                if (attempt == WRITE_ATTEMPTS) {
                    throw e;
                }
                TimeUnit.SECONDS.sleep(1);
            }
        }
    }

    /** The steps from a request to the end: callback, TERM, KILL. {@link #advance} takes each step when it is due. */
    private final class Stopping {
        private final ProcessGroup group;
        private final AttemptOutput attemptOutput;
        private final PauseController pauseController;
        private @Nullable StopRequest request;
        private @Nullable ProcessGroup callback;
        private boolean termSent;
        private String detail = "";

        Stopping(ProcessGroup group, AttemptOutput attemptOutput, PauseController pauseController) {
            this.group = group;
            this.attemptOutput = attemptOutput;
            this.pauseController = pauseController;
        }

        @Nullable
        StopReason reason() {
            return request == null ? null : request.reason();
        }

        String detail() {
            return detail;
        }

        boolean callbackHasEndedWithin(long millis) throws InterruptedException {
            return callback == null || callback.hasEndedWithin(millis);
        }

        private boolean callbackIsRunning() {
            return callback != null && callback.isAlive();
        }

        void advance() throws IOException, InterruptedException {
            Optional<Lease> lease = folder.readLease();
            long leaseEnd = lease.map(granted -> granted.untilMillis(clock)).orElse(0L);
            long leaseGrace = lease.map(granted -> granted.lengthMillis() / 4).orElse(0L);
            long now = clock.millis();
            updateRequest(now, leaseEnd, leaseGrace);
            StopRequest current = request;
            if (current == null) {
                return;
            }
            long killAt = Math.min(current.deadlineMillis(), leaseEnd);
            if (now >= killAt) {
                killAll();
            } else if (callbackIsRunning() && now >= termAtMillis(killAt, current.graceMillis())) {
                detail = "the abort callback took too long";
                attemptOutput.appendNote(detail);
                ProcessGroup late = callback;
                if (late != null) {
                    late.signal(Signal.KILL);
                }
            } else if (pauseController.isSuspended()) {
                // A paused attempt holds no devices: its processes must not run again, not even to end.
                killIfSuspended();
            } else if (!callbackIsRunning() && !termSent && !pauseController.isSuspending()) {
                termSent = true;
                group.signal(Signal.TERM);
            }
        }

        private void killIfSuspended() throws IOException, InterruptedException {
            if (group.isAlive()) {
                detail = "killed while it was paused";
                attemptOutput.appendNote(detail);
            }
            ProcessGroup.kill(Optional.of(group.leader().pid()), work.attemptId(), KILL_TIMEOUT_MILLIS);
        }

        private void killAll() throws IOException, InterruptedException {
            if (group.isAlive()) {
                detail = "killed at the end of its grace";
                attemptOutput.appendNote(detail);
            }
            ProcessGroup.kill(Optional.of(group.leader().pid()), work.attemptId(), KILL_TIMEOUT_MILLIS);
        }

        private void updateRequest(long now, long leaseEnd, long leaseGrace) throws IOException, InterruptedException {
            Optional<StopRequest> asked = folder.readStop();
            if (asked.isEmpty()) {
                asked = ownRequest(now, leaseEnd, leaseGrace);
                if (asked.isPresent()) {
                    folder.requestStop(asked.get());
                }
            }
            if (asked.isEmpty() || asked.get().equals(request)) {
                return;
            }
            StopRequest before = request;
            StopRequest next = asked.get();
            if (before == null) {
                request = next;
                attemptOutput.appendNote(
                        "asked to stop (%s) within %d ms".formatted(next.reason(), next.graceMillis()));
                startCallback(next);
            } else {
                // A second request may change the reason and shorten the time, never extend it.
                long deadline = Math.min(before.deadlineMillis(), next.deadlineMillis());
                request = new StopRequest(next.reason(), Math.min(before.graceMillis(), next.graceMillis()), deadline);
            }
        }

        private Optional<StopRequest> ownRequest(long now, long leaseEnd, long leaseGrace) {
            if (now >= leaseEnd - leaseGrace) {
                return Optional.of(new StopRequest(StopReason.GIVEN_UP, Math.max(0, leaseEnd - now), leaseEnd));
            }
            long grace = work.graceMillis();
            if (now >= pauseController.maxRuntimeEndMillis()) {
                return Optional.of(new StopRequest(StopReason.TIMED_OUT, grace, now + grace));
            }
            return machineStops
                    ? Optional.of(new StopRequest(StopReason.GIVEN_UP, grace, now + grace))
                    : Optional.empty();
        }

        private void startCallback(StopRequest stop) throws IOException {
            if (work.abortCallback().isEmpty()
                    || stop.graceMillis() <= Desired.Stop.AT_ONCE_MILLIS
                    || pauseController.isSuspended()) {
                return;
            }
            Map<String, String> more = Map.of(
                    "QM_STOP_REASON", stop.reason().name(),
                    "QM_GRACE_MILLIS", Long.toString(stop.graceMillis()));
            try {
                callback = start(work.abortCallback(), more, attemptOutput);
            } catch (IOException e) {
                detail = "cannot start the abort callback: " + e.getMessage();
                attemptOutput.appendNote(detail);
            }
        }
    }
}
