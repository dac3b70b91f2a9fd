package io.quartermaster.agent;

import io.quartermaster.agent.Reconciler.Action;
import io.quartermaster.agent.Reconciler.LocalState;
import io.quartermaster.agent.Reconciler.PauseStatus;
import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptState;
import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.supervisor.AttemptFolder;
import io.quartermaster.agent.supervisor.AttemptFolder.Claim;
import io.quartermaster.agent.supervisor.AttemptFolder.Lease;
import io.quartermaster.agent.supervisor.AttemptFolder.PauseRequest;
import io.quartermaster.agent.supervisor.AttemptFolder.Resume;
import io.quartermaster.agent.supervisor.AttemptFolder.StopRequest;
import io.quartermaster.agent.supervisor.BootClock;
import io.quartermaster.agent.supervisor.Commands;
import io.quartermaster.agent.supervisor.GpuSuspender;
import io.quartermaster.agent.supervisor.StateFile;
import io.quartermaster.agent.supervisor.WorkRecord;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The attempts of this node on disk, and every change to them.
 *
 * <p>Below the state folder:
 *
 * <ul>
 *   <li>{@code attempts/<id>/}: see {@link AttemptFolder}; only the agent may enter it. If later attempts took over
 *       paused processes, the folder and the processes' own variables keep the id of the first.
 *   <li>{@code forgotten/<id>}: an empty file: the attempt was here and never starts again. Kept for a week.
 *   <li>{@code tenants/<tenant>/}: {@code checkpoints/<name>} holds the files that pass from attempt to attempt,
 *       {@code work/<id>} an attempt's home and scratch space, deleted with it. Only the work's user may enter either.
 *   <li>{@code trash/}: files that are being deleted.
 *   <li>{@code program/}: see {@link SupervisorProgram}. {@code agent.lock}: locked by the one agent of this folder.
 * </ul>
 *
 * <p>Threads: used by the agent's loop only. No method here may take long, since the same loop renews the lease. So
 * files to delete are only moved to the trash, and another thread deletes them.
 */
final class Attempts implements AutoCloseable {
    private final StateFolder state;
    private final WorkEnvironment works;
    private final Launcher launcher;
    private final SupervisorProgram supervisor;
    private final Supplier<List<String>> deviceIds;
    private final BootClock clock;
    private final Consumer<String> log;
    private final SortedMap<UUID, LocalAttempt> attempts = new TreeMap<>();
    private final Map<UUID, Process> supervisors = new HashMap<>();
    private final StartPacing pacing = new StartPacing();
    private final ProblemLog problems;
    private final AttemptEnds ends;
    private final ForgottenAttempts forgotten;
    private final DeletionQueue deletions;

    private SortedMap<UUID, AttemptState> observed = new TreeMap<>();

    /** @param deviceIds the ids of the node's devices, by index */
    Attempts(
            StateFolder state,
            WorkEnvironment works,
            Launcher launcher,
            Supplier<List<String>> deviceIds,
            BootClock clock,
            Consumer<String> log)
            throws IOException {
        this.deviceIds = deviceIds;
        this.state = state;
        this.works = works;
        this.launcher = launcher;
        this.clock = clock;
        this.log = log;
        this.supervisor = SupervisorProgram.install(state.program());
        this.problems = new ProblemLog(log);
        this.ends = new AttemptEnds(clock, pacing, problems, log);
        this.forgotten = ForgottenAttempts.read(state.forgotten());
        this.deletions = new DeletionQueue(state.trash(), log);
        adopt();
    }

    /**
     * Takes over the attempts of an earlier agent. A folder without a record is from a crash before the attempt was
     * accepted.
     */
    private void adopt() throws IOException {
        for (Path path : StateFolder.entries(state.attempts())) {
            AttemptFolder folder = new AttemptFolder(path);
            try {
                UUID id = UUID.fromString(path.getFileName().toString());
                Optional<WorkRecord> work = WorkRecord.read(folder.record());
                if (work.isPresent()) {
                    adopt(id, folder, work.get());
                } else {
                    deletions.add(path, "unrecorded-" + path.getFileName());
                }
            } catch (IOException | IllegalArgumentException e) {
                // One bad folder must not leave the other attempts unattended. If the service still orders this
                // attempt, it is recorded again, and the marks beside the record prevent a second start.
                log.accept("ignoring %s: %s".formatted(path, e.getMessage()));
            }
        }
    }

    /** A crash may have left a recorded takeover without its mark: the earlier attempts then count as forgotten. */
    private void adopt(UUID first, AttemptFolder folder, WorkRecord work) throws IOException {
        Optional<Resume> resume = folder.readResume();
        UUID id = resume.map(Resume::attemptId).orElse(first);
        for (UUID earlier : resume.map(Resume::earlier).orElse(List.of())) {
            forgotten.add(earlier);
        }
        attempts.put(id, new LocalAttempt(id, folder, work));
    }

    /**
     * The current states of all attempts, by id. Ends the attempts whose supervisor is gone. An attempt that cannot be
     * read keeps its last state, so that the others do not go unattended.
     */
    SortedMap<UUID, AttemptState> observe() {
        SortedMap<UUID, AttemptState> states = new TreeMap<>();
        for (var entry : attempts.entrySet()) {
            UUID id = entry.getKey();
            AttemptState state;
            try {
                state = observe(id, entry.getValue());
            } catch (IOException e) {
                problems.add(id, e);
                state = observed.getOrDefault(id, new AttemptState.Starting());
            }
            states.put(id, state);
        }
        observed = states;
        return states;
    }

    private AttemptState observe(UUID id, LocalAttempt attempt) throws IOException {
        Optional<Ended> known = ends.known(id);
        if (known.isPresent()) {
            return known.get();
        }
        Optional<Ended> end = ends.read(attempt);
        if (end.isPresent()) {
            ends.remember(id, end.get());
            supervisors.remove(id);
            pacing.recordBegin(id);
            return end.get();
        }
        Process started = supervisors.get(id);
        if (started == null || !started.isAlive()) {
            Optional<Claim> claim = attempt.folder().tryClaim();
            if (claim.isPresent()) {
                try (Claim held = claim.get()) {
                    return ends.endUnsupervised(attempt);
                }
            }
        }
        Optional<Long> startedAt = attempt.startedAt();
        if (startedAt.isPresent()) {
            pacing.recordBegin(id);
        }
        Optional<StopRequest> stop = attempt.folder().readStop();
        if (stop.isPresent()) {
            return new AttemptState.Stopping(startedAt.orElse(null), stop.get().reason());
        }
        if (attempt.isPaused()) {
            return new AttemptState.Paused(startedAt.orElse(null));
        }
        return startedAt.isPresent() && attempt.folder().readLeader().isPresent()
                ? new AttemptState.Running(startedAt.get())
                : new AttemptState.Starting();
    }

    /** How long ago an attempt ended or was paused; empty if it did neither, or if the time is unknown. */
    OptionalLong endedAgoMillis(UUID id, AttemptState state) throws IOException {
        LocalAttempt attempt = attempts.get(id);
        return attempt == null ? OptionalLong.empty() : ends.agoMillis(attempt, state);
    }

    /** The local record of each attempt, forgotten ones included, for {@link Reconciler}. */
    SortedMap<UUID, LocalState> locals() throws IOException {
        SortedMap<UUID, LocalState> locals = new TreeMap<>();
        forgotten.dropOld();
        forgotten.ids().forEach(id -> locals.put(id, new LocalState.Forgotten()));
        attempts.forEach((id, attempt) -> locals.put(id, local(attempt)));
        return locals;
    }

    private LocalState local(LocalAttempt attempt) {
        long grace = attempt.work().graceMillis();
        try {
            return attempt.folder().hasEnded()
                    ? new LocalState.Ended()
                    : new LocalState.Live(attempt.folder().readStop(), grace, pauseStatus(attempt));
        } catch (IOException e) {
            problems.add(attempt.id(), e);
            return new LocalState.Live(Optional.empty(), grace, PauseStatus.CANNOT_PAUSE);
        }
    }

    private static PauseStatus pauseStatus(LocalAttempt attempt) throws IOException {
        if (attempt.isPaused()) {
            return PauseStatus.PAUSED;
        }
        boolean asked = attempt.folder()
                .readPause()
                .filter(request -> request.attemptId().equals(attempt.id()))
                .isPresent();
        if (asked) {
            return PauseStatus.PAUSE_REQUESTED;
        }
        return attempt.work().pausing().isPresent() ? PauseStatus.CAN_PAUSE : PauseStatus.CANNOT_PAUSE;
    }

    /** Extends the lease of all attempts that have not ended. If that fails for one, its supervisor ends it in time. */
    void renew(Lease lease) {
        for (LocalAttempt attempt : attempts.values()) {
            try {
                if (!attempt.folder().hasEnded()) {
                    attempt.folder().renew(lease);
                }
            } catch (IOException e) {
                problems.add(attempt.id(), e);
            }
        }
    }

    void carryOut(Action action, Lease lease) throws IOException {
        switch (action) {
            case Action.Start(AttemptOrder order) -> start(order, lease);
            case Action.Refuse(AttemptOrder order, Outcome outcome, String detail) -> {
                log.accept("attempt %s is not started: %s".formatted(order.attemptId(), detail));
                ends.end(record(order, List.of()), outcome, detail);
            }
            case Action.Stop(UUID id, StopRequest request) -> stop(id, request);
            case Action.Pause(PauseRequest request) -> pause(request);
            case Action.Resume(AttemptOrder order, UUID paused) -> resume(order, paused);
            case Action.Forget(UUID id) -> forget(id);
        }
    }

    private void start(AttemptOrder order, Lease lease) throws IOException {
        long pause = pacing.pauseMillis(StartPacing.nowMillis());
        if (pause > 0) {
            // The service orders attempts that were not started again, so they need not be stored here.
            throw new IOException(
                    "supervisors die before they begin; the next start is tried in %d ms".formatted(pause));
        }
        List<String> launcherArguments;
        try {
            launcherArguments =
                    new ArrayList<>(launcher.forWork(order, works.workFolder(order), works.checkpoints(order)));
            launcherArguments.addAll(supervisor.starter());
        } catch (IOException e) {
            fail(record(order, List.of()), e);
            return;
        }
        LocalAttempt attempt = record(order, launcherArguments);
        try {
            works.prepare(order, attempt.work());
            attempt.folder().renew(lease);
            supervisors.put(order.attemptId(), supervise(attempt.folder()));
            pacing.recordStart(order.attemptId(), StartPacing.nowMillis());
            log.accept("attempt %s is starting: attempt %d of workload %s, tenant %s"
                    .formatted(order.attemptId(), order.attemptNumber(), order.workloadId(), order.tenant()));
        } catch (IOException e) {
            fail(attempt, e);
        }
    }

    private Process supervise(AttemptFolder folder) throws IOException {
        List<String> command = new ArrayList<>(launcher.detached());
        command.addAll(supervisor.command(folder.path()));
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(state.path().toFile())
                .redirectInput(new File("/dev/null"))
                .redirectErrorStream(true)
                .redirectOutput(folder.supervisorLog().toFile());
        Commands.cleanEnvironment(builder.environment());
        return builder.start();
    }

    private void fail(LocalAttempt attempt, IOException reason) throws IOException {
        log.accept("attempt %s cannot start: %s".formatted(attempt.id(), reason.getMessage()));
        ends.end(attempt, Outcome.FAILED, "cannot start: " + reason.getMessage());
    }

    /** Records the attempt durably. After this returns, a crash may end the attempt, but never starts it twice. */
    private LocalAttempt record(AttemptOrder order, List<String> launcherArguments) throws IOException {
        Path path = state.attempts().resolve(order.attemptId().toString());
        if (attempts.values().stream().anyMatch(other -> other.folder().path().equals(path))) {
            throw new IOException("attempt %s was taken over by a later one".formatted(order.attemptId()));
        }
        Files.createDirectories(path);
        StateFile.syncFolder(path);
        AttemptFolder folder = new AttemptFolder(path);
        WorkRecord work = works.describe(order, launcherArguments);
        work.write(folder.record());
        LocalAttempt attempt = new LocalAttempt(order.attemptId(), folder, work);
        attempts.put(order.attemptId(), attempt);
        return attempt;
    }

    void stop(UUID id, StopRequest request) throws IOException {
        LocalAttempt attempt = attempts.get(id);
        if (attempt != null) {
            log.accept("attempt %s is asked to stop (%s) within %d ms"
                    .formatted(id, request.reason(), request.graceMillis()));
            attempt.folder().requestStop(request);
        }
    }

    private void pause(PauseRequest request) throws IOException {
        LocalAttempt attempt = attempts.get(request.attemptId());
        if (attempt != null) {
            log.accept(
                    "attempt %s is asked to pause within %d ms".formatted(request.attemptId(), request.graceMillis()));
            attempt.folder().requestPause(request);
        }
    }

    /** As with {@link #record}: once this is on disk, the new attempt is recorded, and owns the processes. */
    private void resume(AttemptOrder order, UUID paused) throws IOException {
        LocalAttempt attempt = attempts.get(paused);
        if (attempt == null) {
            return;
        }
        Optional<Resume> before = attempt.folder().readResume();
        List<UUID> earlier = new ArrayList<>(before.map(Resume::earlier).orElse(List.of()));
        earlier.add(paused);
        List<Integer> devices = WorkEnvironment.devices(order);
        String deviceMap = GpuSuspender.deviceMap(
                deviceIds.get(),
                before.map(Resume::devices).orElse(attempt.work().devices()),
                devices);
        attempt.folder()
                .requestResume(new Resume(
                        order.attemptId(), earlier, devices, deviceMap, Optional.ofNullable(order.maxRuntimeMillis())));
        log.accept("attempt %s takes over the processes of %s: attempt %d of workload %s, tenant %s"
                .formatted(order.attemptId(), paused, order.attemptNumber(), order.workloadId(), order.tenant()));
        attempts.remove(paused);
        attempts.put(order.attemptId(), new LocalAttempt(order.attemptId(), attempt.folder(), attempt.work()));
        Process supervisor = supervisors.remove(paused);
        if (supervisor != null) {
            supervisors.put(order.attemptId(), supervisor);
        }
        forgotten.add(paused);
    }

    private void forget(UUID id) throws IOException {
        LocalAttempt attempt = attempts.get(id);
        if (attempt != null) {
            forgotten.add(id);
            deletions.add(attempt.work().workFolder(), id + "-work");
            markUsed(attempt.work().checkpointFolder());
            deletions.add(attempt.folder().path(), id.toString());
            attempts.remove(id);
            problems.forget(id);
            ends.forget(id);
        }
    }

    /** Marks checkpoints as used. Their age counts from when an attempt last used them, whatever it wrote. */
    private static void markUsed(Path checkpoints) throws IOException {
        if (Files.isDirectory(checkpoints, LinkOption.NOFOLLOW_LINKS)) {
            Files.setLastModifiedTime(checkpoints, FileTime.from(Instant.now()));
        }
    }

    /**
     * Deletes checkpoints that no attempt has used for the given time; the agent does not learn whether their workload
     * has ended.
     */
    void dropOldCheckpoints(Duration retention) throws IOException {
        Set<Path> used = new HashSet<>();
        attempts.values().forEach(attempt -> used.add(attempt.work().checkpointFolder()));
        Instant oldest = Instant.now().minus(retention);
        for (Path folder : state.allCheckpoints()) {
            boolean old = Files.getLastModifiedTime(folder, LinkOption.NOFOLLOW_LINKS)
                    .toInstant()
                    .isBefore(oldest);
            if (old && !used.contains(folder)) {
                log.accept("deleting the checkpoints %s, unused for %s".formatted(folder, retention));
                deletions.add(folder, "checkpoints-" + UUID.randomUUID());
            }
        }
    }

    /** The folders of an attempt's output and of its checkpoints. */
    record WorkFolders(Path output, Path checkpoints) {}

    WorkFolders folders(UUID id) {
        LocalAttempt attempt = attempts.get(id);
        if (attempt == null) {
            throw new IllegalArgumentException("no attempt " + id);
        }
        return new WorkFolders(attempt.folder().path(), attempt.work().checkpointFolder());
    }

    @Override
    public void close() {
        deletions.close();
    }
}
