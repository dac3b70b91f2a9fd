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
        RUNNING,
        SUSPENDING,
        SUSPENDED,
        RESUMING
    }

    private interface BlockingStep {
        void run() throws IOException, InterruptedException;
    }

    private final AttemptFolder folder;
    private final WorkRecord work;
    private final BootClock clock;
    private final AttemptOutput attemptOutput;
    private final long leader;

    private Phase phase = Phase.RUNNING;
    private UUID current;
    private long startedAtEpochMillis;
    private long maxRuntimeEndMillis;
    private long deadlineMillis;
    private @Nullable Resume resumeRequest;
    private @Nullable Thread worker;
    private boolean interrupted;
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
        this.maxRuntimeEndMillis = maxRuntimeEnd(work.maxRuntimeMillis());
    }

    private long maxRuntimeEnd(Optional<Long> maxRuntimeMillis) {
        return maxRuntimeMillis.map(millis -> clock.millis() + millis).orElse(Long.MAX_VALUE);
    }

    /** The start of the attempt that owns the processes now. */
    long startedAtEpochMillis() {
        return startedAtEpochMillis;
    }

    /** The time at which the work reaches its maximum run time; paused time does not count. */
    long maxRuntimeEndMillis() {
        return phase == Phase.RUNNING ? maxRuntimeEndMillis : Long.MAX_VALUE;
    }

    /** Whether its processes are being suspended now: that must be completed or undone before any other step. */
    boolean isSuspending() {
        return phase == Phase.SUSPENDING;
    }

    /** Whether its processes are suspended and hold no devices, so that no callback and no TERM can reach them. */
    boolean isSuspended() {
        return phase == Phase.SUSPENDED;
    }

    /** The reason why the attempt could not be paused or resumed; empty as long as there was no failure. */
    String failure() {
        return failure;
    }

    void advance(boolean ending) throws IOException {
        switch (phase) {
            case RUNNING -> {
                Optional<PauseRequest> request = ending ? Optional.empty() : folder.readPause();
                if (request.isPresent() && request.get().attemptId().equals(current)) {
                    startSuspending(request.get());
                }
            }
            case SUSPENDING -> {
                if (isStepDone()) {
                    finishSuspending();
                } else if (ending && !interrupted && worker != null) {
                    // Only once: the undoing that follows must not be interrupted.
                    interrupted = true;
                    worker.interrupt();
                }
            }
            case SUSPENDED -> {
                Optional<Resume> resume = ending ? Optional.empty() : folder.readResume();
                if (resume.isPresent() && !resume.get().attemptId().equals(current)) {
                    startResuming(resume.get());
                }
            }
            case RESUMING -> {
                if (isStepDone()) {
                    finishResuming();
                }
            }
        }
    }

    private void startSuspending(PauseRequest request) throws IOException {
        deadlineMillis = request.deadlineMillis();
        long limit = (deadlineMillis - clock.millis()) / 2;
        attemptOutput.appendNote("asked to pause within %d ms".formatted(request.graceMillis()));
        Optional<GpuSuspender> gpuSuspender = work.pausing();
        phase = Phase.SUSPENDING;
        runStep(() -> gpuSuspender
                .orElseThrow(() -> new IOException("it cannot be paused here"))
                .suspend(leader, work.attemptId(), limit));
    }

    private void finishSuspending() throws IOException {
        if (failure.isEmpty()) {
            phase = Phase.SUSPENDED;
            attemptOutput.appendNote("paused");
            folder.markPaused(current, clock.read());
        } else {
            phase = Phase.RUNNING;
            attemptOutput.appendNote("cannot be paused: " + failure);
            if (folder.readStop().isEmpty()) {
                long left = Math.max(0, deadlineMillis - clock.millis());
                folder.requestStop(new StopRequest(StopReason.PREEMPTED, left, deadlineMillis));
            }
        }
    }

    private void startResuming(Resume resume) {
        resumeRequest = resume;
        phase = Phase.RESUMING;
        GpuSuspender gpuSuspender = work.pausing().orElseThrow();
        runStep(() -> gpuSuspender.resume(leader, work.attemptId(), resume.deviceMap()));
    }

    private void finishResuming() throws IOException {
        Resume resume = resumeRequest;
        if (resume == null) {
            return;
        }
        current = resume.attemptId();
        phase = Phase.RUNNING;
        startedAtEpochMillis = System.currentTimeMillis();
        maxRuntimeEndMillis = maxRuntimeEnd(resume.maxRuntimeMillis());
        if (failure.isEmpty()) {
            attemptOutput.appendNote("continues as attempt " + current);
            folder.markResumed(new Resumed(current, startedAtEpochMillis));
        } else {
            attemptOutput.appendNote("cannot resume: " + failure);
            folder.requestStop(new StopRequest(StopReason.GIVEN_UP, 0, clock.millis()));
        }
    }

    private void runStep(BlockingStep step) {
        failure = "";
        worker = Thread.ofPlatform().daemon().name("standstill").start(() -> {
            try {
                step.run();
            } catch (IOException | RuntimeException e) {
                failure = String.valueOf(e.getMessage());
            } catch (InterruptedException e) {
                failure = "it must end";
            }
        });
    }

    private boolean isStepDone() {
        return worker == null || !worker.isAlive();
    }
}
