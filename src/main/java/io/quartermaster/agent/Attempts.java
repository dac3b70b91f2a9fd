package io.quartermaster.agent;

import io.quartermaster.agent.Reconciler.Action;
import io.quartermaster.agent.Reconciler.LocalState;
import io.quartermaster.agent.Reconciler.PauseStatus;
import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptState;
import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.agent.supervisor.AttemptFolder;
import io.quartermaster.agent.supervisor.AttemptFolder.Claim;
import io.quartermaster.agent.supervisor.AttemptFolder.Leader;
import io.quartermaster.agent.supervisor.AttemptFolder.Lease;
import io.quartermaster.agent.supervisor.AttemptFolder.PauseRequest;
import io.quartermaster.agent.supervisor.AttemptFolder.Resume;
import io.quartermaster.agent.supervisor.AttemptFolder.StopRequest;
import io.quartermaster.agent.supervisor.BootClock;
import io.quartermaster.agent.supervisor.Commands;
import io.quartermaster.agent.supervisor.GpuSuspender;
import io.quartermaster.agent.supervisor.ProcessGroup;
import io.quartermaster.agent.supervisor.StateFile;
import io.quartermaster.agent.supervisor.WorkRecord;
import java.io.File;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

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
    private static final Duration FORGOTTEN_MARK_RETENTION = Duration.ofDays(7);
    private static final long KILL_TIMEOUT_MILLIS = 1_000;
    private static final long DELETE_TIMEOUT_MILLIS = 600_000;

    /**
     * How long an unreadable record of an end may still become readable. After that, the outcome of the attempt stays
     * unknown.
     */
    private static final long UNREADABLE_END_TIMEOUT_MILLIS = 10_000;

    private final StateFolder state;
    private final WorkEnvironment works;
    private final Launcher launcher;
    private final SupervisorProgram supervisor;
    private final Supplier<List<String>> deviceIds;
    private final BootClock clock;
    private final Consumer<String> log;
    private final SortedMap<UUID, Attempt> attempts = new TreeMap<>();
    private final Map<UUID, Process> supervisors = new HashMap<>();
    private final StartPacing pacing = new StartPacing();
    private final Map<UUID, Ended> ends = new HashMap<>();
    private final Map<UUID, Optional<BootClock.Reading>> endedAt = new HashMap<>();
    private final Map<UUID, Long> unreadableEnds = new HashMap<>();
    private final SortedMap<UUID, Instant> forgotten = new TreeMap<>();
    /** The last warning logged for each attempt; the same warning is not logged twice in a row. */
    private final Map<UUID, String> loggedProblems = new HashMap<>();

    private SortedMap<UUID, AttemptState> observed = new TreeMap<>();
    private final ExecutorService deletions = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("deletions").factory());

    /** The state of one attempt that is kept in memory, beside the files that are read each time. */
    private record Attempt(UUID id, AttemptFolder folder, WorkRecord work) {
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
        adopt();
    }

    /**
     * Takes over the attempts of an earlier agent. A folder without a record is from a crash before the attempt was
     * accepted.
     */
    private void adopt() throws IOException {
        for (Path path : list(state.attempts())) {
            AttemptFolder folder = new AttemptFolder(path);
            try {
                UUID id = UUID.fromString(path.getFileName().toString());
                Optional<WorkRecord> work = WorkRecord.read(folder.record());
                if (work.isPresent()) {
                    adopt(id, folder, work.get());
                } else {
                    moveToTrash(path, "unrecorded-" + path.getFileName());
                }
            } catch (IOException | IllegalArgumentException e) {
                // One bad folder must not leave the other attempts unattended. If the service still orders this
                // attempt, it is recorded again, and the marks beside the record prevent a second start.
                log.accept("ignoring %s: %s".formatted(path, e.getMessage()));
            }
        }
        for (Path mark : list(state.forgotten())) {
            UUID id = UUID.fromString(mark.getFileName().toString());
            forgotten.put(id, Files.getLastModifiedTime(mark).toInstant());
        }
        for (Path rest : list(state.trash())) {
            deletions.execute(() -> delete(rest));
        }
    }

    /** A crash may have left a recorded takeover without its mark: the earlier attempts then count as forgotten. */
    private void adopt(UUID first, AttemptFolder folder, WorkRecord work) throws IOException {
        Optional<Resume> resume = folder.readResume();
        UUID id = resume.map(Resume::attemptId).orElse(first);
        for (UUID earlier : resume.map(Resume::earlier).orElse(List.of())) {
            markForgotten(earlier);
        }
        attempts.put(id, new Attempt(id, folder, work));
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
                logOnce(id, e);
                state = observed.getOrDefault(id, new AttemptState.Starting());
            }
            states.put(id, state);
        }
        observed = states;
        return states;
    }

    /** Logs a problem of an attempt once, and not at every check. */
    private void logOnce(UUID id, IOException trouble) {
        if (!trouble.toString().equals(loggedProblems.put(id, trouble.toString()))) {
            log.accept("problem with attempt %s, the others continue: %s".formatted(id, trouble));
        }
    }

    private AttemptState observe(UUID id, Attempt attempt) throws IOException {
        Ended known = ends.get(id);
        if (known != null) {
            return known;
        }
        Optional<Ended> end = readEnd(attempt);
        if (end.isPresent()) {
            ends.put(id, end.get());
            supervisors.remove(id);
            pacing.recordBegin(id);
            return end.get();
        }
        Process started = supervisors.get(id);
        if (started == null || !started.isAlive()) {
            Optional<Claim> claim = attempt.folder.tryClaim();
            if (claim.isPresent()) {
                try (Claim held = claim.get()) {
                    return endUnsupervised(attempt);
                }
            }
        }
        Optional<Long> startedAt = attempt.startedAt();
        if (startedAt.isPresent()) {
            pacing.recordBegin(id);
        }
        Optional<StopRequest> stop = attempt.folder.readStop();
        if (stop.isPresent()) {
            return new AttemptState.Stopping(startedAt.orElse(null), stop.get().reason());
        }
        if (attempt.isPaused()) {
            return new AttemptState.Paused(startedAt.orElse(null));
        }
        return startedAt.isPresent() && attempt.folder.readLeader().isPresent()
                ? new AttemptState.Running(startedAt.get())
                : new AttemptState.Starting();
    }

    /** The recorded end; also empty if the record has been unreadable for too long. */
    private Optional<Ended> readEnd(Attempt attempt) throws IOException {
        try {
            Optional<Ended> end = attempt.folder.readEnd();
            unreadableEnds.remove(attempt.id);
            return end;
        } catch (IOException e) {
            long now = nowMillis();
            Long since = unreadableEnds.putIfAbsent(attempt.id, now);
            if (since == null || now - since < UNREADABLE_END_TIMEOUT_MILLIS) {
                throw e;
            }
            return Optional.empty();
        }
    }

    /**
     * Ends an attempt without a supervisor. The agent holds the claim, so no supervisor lives and none can begin: it
     * kills the remaining processes and writes the end.
     */
    private AttemptState endUnsupervised(Attempt attempt) throws IOException {
        AttemptFolder folder = attempt.folder;
        Optional<Ended> end = readEnd(attempt);
        if (end.isPresent()) {
            return end.get();
        }
        Optional<Long> startedAt = readable(attempt::startedAt);
        Optional<Long> group =
                readable(folder::readLeader).filter(Leader::isAlive).map(Leader::pid);
        try {
            if (!ProcessGroup.kill(group, attempt.work.attemptId(), KILL_TIMEOUT_MILLIS)) {
                // The attempt has not ended while a process runs; the next check tries again.
                return startedAt.isPresent()
                        ? new AttemptState.Stopping(startedAt.get(), StopReason.GIVEN_UP)
                        : new AttemptState.Starting();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        boolean unreadable = unreadableEnds.containsKey(attempt.id);
        boolean neverBegan = !unreadable && !folder.hasStarted();
        if (neverBegan) {
            UUID id = attempt.id;
            log.accept(
                    "the supervisor of attempt %s died before it began; see %s".formatted(id, folder.supervisorLog()));
            pacing.recordDeath(id, nowMillis());
        }
        String detail = unreadable
                ? "the file with its outcome cannot be read"
                : neverBegan ? "it was recorded, but never started" : "its supervisor died";
        Ended lost = new Ended(Outcome.LOST, null, startedAt.orElse(null), System.currentTimeMillis(), detail);
        try {
            folder.markEnded(lost, findDeath(folder));
        } catch (IOException e) {
            if (!unreadable) {
                throw e;
            }
            // The broken file cannot be replaced either. It matters more that no process of the attempt runs.
            logOnce(attempt.id, e);
            ends.put(attempt.id, lost);
        }
        return lost;
    }

    private interface Reading<T> {
        Optional<T> read() throws IOException;
    }

    /**
     * Reads a file that the end of an attempt does not depend on: after a crash of the machine, a file may exist
     * without its content.
     */
    private static <T> Optional<T> readable(Reading<T> reading) {
        try {
            return reading.read();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /**
     * The time by which all processes have ended. Those of an earlier boot died with it at the latest; all others were
     * killed just now.
     */
    private BootClock.Reading findDeath(AttemptFolder folder) throws IOException {
        return readable(folder::readLease)
                .filter(lease -> !lease.bootId().equals(clock.bootId()))
                .map(lease -> new BootClock.Reading(lease.bootId(), 0))
                .orElseGet(clock::read);
    }

    /** How long ago an attempt ended or was paused; empty if it did neither, or if the time is unknown. */
    OptionalLong endedAgoMillis(UUID id, AttemptState state) throws IOException {
        Attempt attempt = attempts.get(id);
        if (attempt == null) {
            return OptionalLong.empty();
        }
        Optional<BootClock.Reading> at =
                switch (state) {
                    case AttemptState.Ended ended -> {
                        Optional<BootClock.Reading> known = endedAt.get(id);
                        if (known == null) {
                            known = attempt.folder.readEndedAt();
                            endedAt.put(id, known);
                        }
                        yield known;
                    }
                    case AttemptState.Paused paused -> attempt.folder.readPausedAt();
                    case AttemptState.Starting starting -> Optional.empty();
                    case AttemptState.Running running -> Optional.empty();
                    case AttemptState.Stopping stopping -> Optional.empty();
                };
        return at.isEmpty() ? OptionalLong.empty() : clock.ageMillis(at.get());
    }

    /** The local record of each attempt, forgotten ones included, for {@link Reconciler}. */
    SortedMap<UUID, LocalState> locals() throws IOException {
        SortedMap<UUID, LocalState> locals = new TreeMap<>();
        dropOldMarks();
        forgotten.keySet().forEach(id -> locals.put(id, new LocalState.Forgotten()));
        attempts.forEach((id, attempt) -> locals.put(id, local(attempt)));
        return locals;
    }

    private LocalState local(Attempt attempt) {
        long grace = attempt.work.graceMillis();
        try {
            return attempt.folder.hasEnded()
                    ? new LocalState.Ended()
                    : new LocalState.Live(attempt.folder.readStop(), grace, pauseStatus(attempt));
        } catch (IOException e) {
            logOnce(attempt.id, e);
            return new LocalState.Live(Optional.empty(), grace, PauseStatus.CANNOT_PAUSE);
        }
    }

    private static PauseStatus pauseStatus(Attempt attempt) throws IOException {
        if (attempt.isPaused()) {
            return PauseStatus.PAUSED;
        }
        boolean asked = attempt.folder
                .readPause()
                .filter(request -> request.attemptId().equals(attempt.id))
                .isPresent();
        if (asked) {
            return PauseStatus.PAUSE_REQUESTED;
        }
        return attempt.work.pausing().isPresent() ? PauseStatus.CAN_PAUSE : PauseStatus.CANNOT_PAUSE;
    }

    private void dropOldMarks() throws IOException {
        Instant oldest = Instant.now().minus(FORGOTTEN_MARK_RETENTION);
        for (UUID id : List.copyOf(forgotten.keySet())) {
            if (forgotten.getOrDefault(id, oldest).isBefore(oldest)) {
                Files.deleteIfExists(state.forgotten().resolve(id.toString()));
                forgotten.remove(id);
            }
        }
    }

    /** Extends the lease of all attempts that have not ended. If that fails for one, its supervisor ends it in time. */
    void renew(Lease lease) {
        for (Attempt attempt : attempts.values()) {
            try {
                if (!attempt.folder.hasEnded()) {
                    attempt.folder.renew(lease);
                }
            } catch (IOException e) {
                logOnce(attempt.id, e);
            }
        }
    }

    void carryOut(Action action, Lease lease) throws IOException {
        switch (action) {
            case Action.Start(AttemptOrder order) -> start(order, lease);
            case Action.Refuse(AttemptOrder order, Outcome outcome, String detail) -> {
                log.accept("attempt %s is not started: %s".formatted(order.attemptId(), detail));
                end(record(order, List.of()), outcome, detail);
            }
            case Action.Stop(UUID id, StopRequest request) -> stop(id, request);
            case Action.Pause(PauseRequest request) -> pause(request);
            case Action.Resume(AttemptOrder order, UUID paused) -> resume(order, paused);
            case Action.Forget(UUID id) -> forget(id);
        }
    }

    private void start(AttemptOrder order, Lease lease) throws IOException {
        long pause = pacing.pauseMillis(nowMillis());
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
        Attempt attempt = record(order, launcherArguments);
        try {
            works.prepare(order, attempt.work);
            attempt.folder.renew(lease);
            supervisors.put(order.attemptId(), supervise(attempt.folder));
            pacing.recordStart(order.attemptId(), nowMillis());
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

    private void fail(Attempt attempt, IOException reason) throws IOException {
        log.accept("attempt %s cannot start: %s".formatted(attempt.id, reason.getMessage()));
        end(attempt, Outcome.FAILED, "cannot start: " + reason.getMessage());
    }

    /** Records the attempt durably. After this returns, a crash may end the attempt, but never starts it twice. */
    private Attempt record(AttemptOrder order, List<String> launcherArguments) throws IOException {
        Path path = state.attempts().resolve(order.attemptId().toString());
        if (attempts.values().stream().anyMatch(other -> other.folder.path().equals(path))) {
            throw new IOException("attempt %s was taken over by a later one".formatted(order.attemptId()));
        }
        Files.createDirectories(path);
        StateFile.syncFolder(path);
        AttemptFolder folder = new AttemptFolder(path);
        WorkRecord work = works.describe(order, launcherArguments);
        work.write(folder.record());
        Attempt attempt = new Attempt(order.attemptId(), folder, work);
        attempts.put(order.attemptId(), attempt);
        return attempt;
    }

    private void end(Attempt attempt, Outcome outcome, String detail) throws IOException {
        try (Claim claim = attempt.folder.claim()) {
            attempt.folder.markEnded(new Ended(outcome, null, null, System.currentTimeMillis(), detail), clock.read());
        }
    }

    void stop(UUID id, StopRequest request) throws IOException {
        Attempt attempt = attempts.get(id);
        if (attempt != null) {
            log.accept("attempt %s is asked to stop (%s) within %d ms"
                    .formatted(id, request.reason(), request.graceMillis()));
            attempt.folder.requestStop(request);
        }
    }

    private void pause(PauseRequest request) throws IOException {
        Attempt attempt = attempts.get(request.attemptId());
        if (attempt != null) {
            log.accept(
                    "attempt %s is asked to pause within %d ms".formatted(request.attemptId(), request.graceMillis()));
            attempt.folder.requestPause(request);
        }
    }

    /** As with {@link #record}: once this is on disk, the new attempt is recorded, and owns the processes. */
    private void resume(AttemptOrder order, UUID paused) throws IOException {
        Attempt attempt = attempts.get(paused);
        if (attempt == null) {
            return;
        }
        Optional<Resume> before = attempt.folder.readResume();
        List<UUID> earlier = new ArrayList<>(before.map(Resume::earlier).orElse(List.of()));
        earlier.add(paused);
        List<Integer> devices = WorkEnvironment.devices(order);
        String deviceMap = GpuSuspender.deviceMap(
                deviceIds.get(), before.map(Resume::devices).orElse(attempt.work.devices()), devices);
        attempt.folder.requestResume(new Resume(
                order.attemptId(), earlier, devices, deviceMap, Optional.ofNullable(order.maxRuntimeMillis())));
        log.accept("attempt %s takes over the processes of %s: attempt %d of workload %s, tenant %s"
                .formatted(order.attemptId(), paused, order.attemptNumber(), order.workloadId(), order.tenant()));
        attempts.remove(paused);
        attempts.put(order.attemptId(), new Attempt(order.attemptId(), attempt.folder, attempt.work));
        Process supervisor = supervisors.remove(paused);
        if (supervisor != null) {
            supervisors.put(order.attemptId(), supervisor);
        }
        markForgotten(paused);
    }

    private void markForgotten(UUID id) throws IOException {
        new StateFile().writeDurably(state.forgotten().resolve(id.toString()));
        forgotten.put(id, Instant.now());
    }

    private void forget(UUID id) throws IOException {
        Attempt attempt = attempts.get(id);
        if (attempt != null) {
            markForgotten(id);
            moveToTrash(attempt.work.workFolder(), id + "-work");
            markUsed(attempt.work.checkpointFolder());
            moveToTrash(attempt.folder.path(), id.toString());
            attempts.remove(id);
            loggedProblems.remove(id);
            ends.remove(id);
            endedAt.remove(id);
            unreadableEnds.remove(id);
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
        attempts.values().forEach(attempt -> used.add(attempt.work.checkpointFolder()));
        Instant oldest = Instant.now().minus(retention);
        for (Path folder : state.allCheckpoints()) {
            boolean old = Files.getLastModifiedTime(folder, LinkOption.NOFOLLOW_LINKS)
                    .toInstant()
                    .isBefore(oldest);
            if (old && !used.contains(folder)) {
                log.accept("deleting the checkpoints %s, unused for %s".formatted(folder, retention));
                moveToTrash(folder, "checkpoints-" + UUID.randomUUID());
            }
        }
    }

    /** The folders of an attempt's output and of its checkpoints. */
    record WorkFolders(Path output, Path checkpoints) {}

    WorkFolders folders(UUID id) {
        Attempt attempt = attempts.get(id);
        if (attempt == null) {
            throw new IllegalArgumentException("no attempt " + id);
        }
        return new WorkFolders(attempt.folder.path(), attempt.work.checkpointFolder());
    }

    private static long nowMillis() {
        return System.nanoTime() / 1_000_000;
    }

    private static List<Path> list(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(entry -> !entry.getFileName().toString().startsWith("."))
                    .sorted()
                    .toList();
        }
    }

    private void moveToTrash(Path folder, String name) throws IOException {
        Path aside = state.trash().resolve(name);
        try {
            Files.move(folder, aside, StandardCopyOption.ATOMIC_MOVE);
        } catch (NoSuchFileException e) {
            return; // Work that could not be prepared has no folder.
        } catch (AccessDeniedException e) {
            // Work that runs as the agent's user can close its folder to the agent. That must not block the rest.
            log.accept("cannot delete " + folder);
            return;
        }
        deletions.execute(() -> delete(aside));
    }

    /** Deletes by rm, because a link that a tenant creates meanwhile cannot redirect it. */
    private void delete(Path folder) {
        try {
            Commands.output(DELETE_TIMEOUT_MILLIS, "/bin/rm", "-rf", "--", folder.toString());
        } catch (IOException e) {
            log.accept("cannot delete %s, and tries again at the agent's next start: %s"
                    .formatted(folder, e.getMessage()));
        }
    }

    @Override
    public void close() {
        deletions.shutdownNow();
    }
}
