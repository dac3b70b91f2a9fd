package io.quartermaster.agent.supervisor;

import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.agent.supervisor.AttemptFolder.PauseRequest;
import io.quartermaster.agent.supervisor.AttemptFolder.Resume;
import io.quartermaster.agent.supervisor.AttemptFolder.Resumed;
import io.quartermaster.agent.supervisor.AttemptFolder.StopRequest;
import java.io.IOException;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The supervisor's part in pausing: it carries out the agent's requests and records their progress. Long steps run on
 * their own thread, so that the supervisor watches lease and deadlines meanwhile.
 *
 * <p>The suspension may take half of the grace. If it does not succeed, the attempt is preempted with the rest.
 *
 * <p>Threads: the supervisor's main thread, except for the thread of a running step.
 */
final class PauseController {
    private enum Phase {
        RUNS,
        STOPS,
        STANDS,
        GOES_ON
    }

    private interface Slow {
        void run() throws IOException, InterruptedException;
    }

    private final AttemptFolder folder;
    private final WorkRecord work;
    private final BootClock clock;
    private final AttemptOutput attemptOutput;
    private final long leader;

    private Phase phase = Phase.RUNS;
    private UUID current;
    private long startedAtEpochMillis;
    private long maxRuntimeEndMillis;
    private long deadlineMillis;
    private @Nullable Resume goingOnAs;
    private @Nullable Thread atWork;
    private boolean givenUp;
    private volatile String failure = "";

    PauseController(
            AttemptFolder folder,
            WorkRecord work,
            BootClock clock,
            AttemptOutput attemptOutput,
            long leader,
            long startedAtEpochMillis) {
        this.folder = folder;
        this.work = work;
        this.clock = clock;
        this.attemptOutput = attemptOutput;
        this.leader = leader;
        this.current = UUID.fromString(work.attemptId());
        this.startedAtEpochMillis = startedAtEpochMillis;
        this.maxRuntimeEndMillis = end(work.maxRuntimeMillis());
    }

    private long end(Optional<Long> maxRuntimeMillis) {
        return maxRuntimeMillis.map(millis -> clock.millis() + millis).orElse(Long.MAX_VALUE);
    }

    /** The start of the attempt that owns the processes now. */
    long startedAtEpochMillis() {
        return startedAtEpochMillis;
    }

    /** The time at which the work reaches its maximum run time; paused time does not count. */
    long maxRuntimeEndMillis() {
        return phase == Phase.RUNS ? maxRuntimeEndMillis : Long.MAX_VALUE;
    }

    /** Whether its processes are being suspended now: that must be completed or undone before any other step. */
    boolean isComingToAStand() {
        return phase == Phase.STOPS;
    }

    /** Whether its processes are suspended and hold no devices, so that no callback and no TERM can reach them. */
    boolean standsStill() {
        return phase == Phase.STANDS;
    }

    /** The reason why the attempt could not be paused or resumed; empty as long as there was no failure. */
    String failure() {
        return failure;
    }

    void advance(boolean toBeEnded) throws IOException {
        switch (phase) {
            case RUNS -> {
                Optional<PauseRequest> request = toBeEnded ? Optional.empty() : folder.readPause();
                if (request.isPresent() && request.get().attemptId().equals(current)) {
                    stop(request.get());
                }
            }
            case STOPS -> {
                if (isDone()) {
                    stopped();
                } else if (toBeEnded && !givenUp && atWork != null) {
                    // Only once: the undoing that follows must not be interrupted.
                    givenUp = true;
                    atWork.interrupt();
                }
            }
            case STANDS -> {
                Optional<Resume> resume = toBeEnded ? Optional.empty() : folder.readResume();
                if (resume.isPresent() && !resume.get().attemptId().equals(current)) {
                    goOnAs(resume.get());
                }
            }
            case GOES_ON -> {
                if (isDone()) {
                    wentOn();
                }
            }
        }
    }

    private void stop(PauseRequest request) throws IOException {
        deadlineMillis = request.deadlineMillis();
        long limit = (deadlineMillis - clock.millis()) / 2;
        attemptOutput.note("asked to pause within %d ms".formatted(request.graceMillis()));
        Optional<GpuSuspender> gpuSuspender = work.pausing();
        phase = Phase.STOPS;
        start(() -> gpuSuspender
                .orElseThrow(() -> new IOException("it cannot be paused here"))
                .suspend(leader, work.attemptId(), limit));
    }

    private void stopped() throws IOException {
        if (failure.isEmpty()) {
            phase = Phase.STANDS;
            attemptOutput.note("paused");
            folder.markPaused(current, clock.read());
        } else {
            phase = Phase.RUNS;
            attemptOutput.note("cannot be paused: " + failure);
            if (folder.readStop().isEmpty()) {
                long left = Math.max(0, deadlineMillis - clock.millis());
                folder.requestStop(new StopRequest(StopReason.PREEMPTED, left, deadlineMillis));
            }
        }
    }

    private void goOnAs(Resume resume) {
        goingOnAs = resume;
        phase = Phase.GOES_ON;
        GpuSuspender gpuSuspender = work.pausing().orElseThrow();
        start(() -> gpuSuspender.resume(leader, work.attemptId(), resume.deviceMap()));
    }

    private void wentOn() throws IOException {
        Resume resume = goingOnAs;
        if (resume == null) {
            return;
        }
        current = resume.attemptId();
        phase = Phase.RUNS;
        startedAtEpochMillis = System.currentTimeMillis();
        maxRuntimeEndMillis = end(resume.maxRuntimeMillis());
        if (failure.isEmpty()) {
            attemptOutput.note("continues as attempt " + current);
            folder.markResumed(new Resumed(current, startedAtEpochMillis));
        } else {
            attemptOutput.note("cannot resume: " + failure);
            folder.requestStop(new StopRequest(StopReason.GIVEN_UP, 0, clock.millis()));
        }
    }

    private void start(Slow step) {
        failure = "";
        atWork = Thread.ofPlatform().daemon().name("standstill").start(() -> {
            try {
                step.run();
            } catch (IOException | RuntimeException e) {
                failure = String.valueOf(e.getMessage());
            } catch (InterruptedException e) {
                failure = "it must end";
            }
        });
    }

    private boolean isDone() {
        return atWork == null || !atWork.isAlive();
    }
}
