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
 * The process beside each attempt: starts the work once, ends it when asked or when the lease runs out, and leaves its
 * exit status on disk. It needs no agent for any of that; the agent may die, be replaced and come back.
 *
 * <p>It is a small Java program and not a shell script because a script can neither force a file to disk, nor hold a
 * lock that dies with it, nor bound the output, nor read a clock, without starting a program for each; and every one of
 * those may fail on the machine that is out of memory, where it matters most. It uses the JDK alone and is started
 * with a heap of a few MiB, the serial collector and the first compiler only: about 30 MiB of memory of its own (50
 * with what all Java programs share), a fifth of a second to start, 1 % of a processor. Where the kernel offers it, the work is killed should its supervisor die.
 *
 * <p><b>How work ends.</b> At a request the abort callback runs, for as long as the grace allows less a last part; then
 * TERM goes to the work, and at the deadline KILL. A lease that is not renewed counts as a request when a quarter of it
 * is left, so that work can still save its state, and its end is a deadline above all others.
 *
 * <p>Between a pause and the next attempt that takes its processes over, it keeps them standing still: see {@link PauseController}. They
 * are ended like running ones, but for the callback, which they could not answer.
 *
 * <p>Threads: the main thread does everything and starts all processes; one daemon thread per process moves output.
 */
public final class Supervisor {
    /** Between TERM and KILL where an abort callback comes first; less where the grace is short. */
    private static final long MAX_TERM_MILLIS = 5_000;

    /** An agent that decides what becomes of an attempt holds its claim for a moment only. */
    private static final Duration CLAIM_LIMIT = Duration.ofSeconds(30);

    private static final long KILL_LIMIT_MILLIS = 30_000;
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

    /** The one argument is the attempt's folder. */
    public static void main(String... arguments) throws IOException, InterruptedException {
        AttemptFolder folder = new AttemptFolder(Path.of(arguments[0]));
        WorkRecord work = WorkRecord.read(folder.record())
                .orElseThrow(() -> new IOException("no attempt is recorded in " + folder.path()));
        try (Claim claim = folder.claim(CLAIM_LIMIT)) {
            new Supervisor(folder, work, BootClock.system()).supervise();
        }
    }

    private void supervise() throws IOException, InterruptedException {
        if (folder.hasEnded() || folder.hasStarted()) {
            return; // Somebody decided that this attempt is over while this process came up.
        }
        Optional<StopRequest> stop = folder.readStop();
        if (stop.isPresent()) {
            end(new Ended(stop.get().reason().outcome(), null, null, now(), "stopped before it was started"));
            return;
        }
        if (clock.millis() >= leaseEnd()) {
            end(new Ended(Outcome.LOST, null, null, now(), "the lease ran out before it was started"));
            return;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(this::awaitEnd));
        try (AttemptOutput attemptOutput = new AttemptOutput(folder.path(), work.outputLimitBytes())) {
            end(run(attemptOutput));
        } finally {
            finished.countDown();
        }
    }

    /** The machine is going down: the work gets its grace, as far as the system waits for this process. */
    private void awaitEnd() {
        machineStops = true;
        try {
            finished.await(work.graceMillis() + KILL_LIMIT_MILLIS, TimeUnit.MILLISECONDS);
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
            attemptOutput.note("cannot start: " + e.getMessage());
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
            // Also when this loop fails: unsupervised work must not go on. What will not die keeps the attempt open,
            // for its devices are not free.
            while (!group.end(work.attemptId(), KILL_LIMIT_MILLIS)) {
                attemptOutput.note("processes remain that do not die");
            }
        }
        @Nullable StopReason reason = stopping.reason();
        if (reason == null && pauseController.standsStill()) {
            String detail = "its processes were killed while it was paused";
            return new Ended(Outcome.LOST, group.exitCode(), pauseController.startedAtEpochMillis(), now(), detail);
        }
        Outcome outcome = outcome(group.exitCode(), reason, OomKillCounter.count() > memoryKills);
        String detail = pauseController.failure().isEmpty() ? stopping.detail() : pauseController.failure();
        return new Ended(outcome, group.exitCode(), pauseController.startedAtEpochMillis(), now(), detail);
    }

    /** An attempt that was asked to stop ended for that reason, even if its work then returned 0. */
    static Outcome outcome(int exitCode, @Nullable StopReason reason, boolean memoryWasShort) {
        if (reason != null) {
            return reason.outcome();
        }
        if (exitCode == KILLED && memoryWasShort) {
            return Outcome.OUT_OF_MEMORY;
        }
        return exitCode == 0 ? Outcome.SUCCEEDED : Outcome.FAILED;
    }

    /** When the abort callback must give way to TERM: the last part of the grace is kept for that. */
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

    /** A disk that is full now may have room in a while; only this process knows how the work ended. */
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

    /** The way from a request to the end: callback, TERM, KILL; each step is taken when {@link #advance} finds it due. */
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
            takeRequest(now, leaseEnd, leaseGrace);
            StopRequest current = request;
            if (current == null) {
                return;
            }
            long killAt = Math.min(current.deadlineMillis(), leaseEnd);
            if (now >= killAt) {
                killAll();
            } else if (callbackIsRunning() && now >= termAtMillis(killAt, current.graceMillis())) {
                detail = "the abort callback took too long";
                attemptOutput.note(detail);
                ProcessGroup late = callback;
                if (late != null) {
                    late.signal(Signal.KILL);
                }
            } else if (pauseController.standsStill()) {
                // It holds no devices: nothing of it may run again, not even to end.
                killWhatStandsStill();
            } else if (!callbackIsRunning() && !termSent && !pauseController.isComingToAStand()) {
                termSent = true;
                group.signal(Signal.TERM);
            }
        }

        private void killWhatStandsStill() throws IOException, InterruptedException {
            if (group.isAlive()) {
                detail = "killed while it was paused";
                attemptOutput.note(detail);
            }
            ProcessGroup.kill(Optional.of(group.leader().pid()), work.attemptId(), KILL_LIMIT_MILLIS);
        }

        private void killAll() throws IOException, InterruptedException {
            if (group.isAlive()) {
                detail = "killed at the end of its grace";
                attemptOutput.note(detail);
            }
            ProcessGroup.kill(Optional.of(group.leader().pid()), work.attemptId(), KILL_LIMIT_MILLIS);
        }

        private void takeRequest(long now, long leaseEnd, long leaseGrace) throws IOException, InterruptedException {
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
                attemptOutput.note("asked to stop (%s) within %d ms".formatted(next.reason(), next.graceMillis()));
                startCallback(next);
            } else {
                // A second request may give another reason and less time, never more.
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
                    || pauseController.standsStill()) {
                return;
            }
            Map<String, String> more = Map.of(
                    "QM_STOP_REASON", stop.reason().name(),
                    "QM_GRACE_MILLIS", Long.toString(stop.graceMillis()));
            try {
                callback = start(work.abortCallback(), more, attemptOutput);
            } catch (IOException e) {
                detail = "cannot start the abort callback: " + e.getMessage();
                attemptOutput.note(detail);
            }
        }
    }
}
