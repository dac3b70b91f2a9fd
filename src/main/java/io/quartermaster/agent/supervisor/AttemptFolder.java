package io.quartermaster.agent.supervisor;

import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.StopReason;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * The folder of one attempt on disk. Its supervisor and the agent share nothing else.
 *
 * <ul>
 *   <li>{@code record}: the order. The agent writes it durably before any other step.
 *   <li>{@code lock}: locked by the supervisor for as long as it lives, and by any other process that decides the
 *   outcome of the attempt.
 *   <li>{@code lease}: the time until which the attempt may run; the agent writes it at each renewal.
 *   <li>{@code stop}: the request to end; written by the agent, or by the supervisor when the lease or the run time
 *   ends.
 *   <li>{@code started}: written durably by the supervisor before it starts the work. A process that finds it must not
 *   start the work.
 *   <li>{@code work}: the leader of the work's process group, once it exists.
 *   <li>{@code exit}: the outcome; durable, final, and written only when all processes have ended.
 *   <li>{@code pause}: the request to pause; written by the agent. {@code paused}: its completion; written by the
 *       supervisor.
 *   <li>{@code resume}: the attempt that takes the processes over, with all attempts before it; written durably by the
 *       agent before it reports that attempt. {@code resumed}: that they continue as that attempt; written by the
 *       supervisor.
 *   <li>{@code output-*}: see {@link AttemptOutput}. {@code supervisor.log}: errors of the supervisor itself.
 * </ul>
 *
 * <p>The lock guarantees "at most once": only its holder writes {@code started} and {@code exit}, after it has looked
 * for both. A lock of the operating system ends with the process, however that ends.
 */
public record AttemptFolder(Path path) {
    private static final Duration CLAIM_TIMEOUT = Duration.ofSeconds(1);
    private static final long CLAIM_RETRY_MILLIS = 20;

    public Path record() {
        return path.resolve("record");
    }

    private Path lease() {
        return path.resolve("lease");
    }

    private Path stop() {
        return path.resolve("stop");
    }

    private Path started() {
        return path.resolve("started");
    }

    private Path work() {
        return path.resolve("work");
    }

    private Path pause() {
        return path.resolve("pause");
    }

    private Path paused() {
        return path.resolve("paused");
    }

    private Path resume() {
        return path.resolve("resume");
    }

    private Path resumed() {
        return path.resolve("resumed");
    }

    private Path exit() {
        return path.resolve("exit");
    }

    public Path supervisorLog() {
        return path.resolve("supervisor.log");
    }

    /**
     * The time until which work may run, on the {@link BootClock} of the named boot, and the length of the lease when
     * it was granted.
     */
    public record Lease(String bootId, long untilMillis, long lengthMillis) {
        /** The end of the lease; zero, and so long past, for a lease of another boot. */
        long untilMillis(BootClock clock) {
            return bootId.equals(clock.bootId()) ? untilMillis : 0;
        }
    }

    public void renew(Lease lease) throws IOException {
        new StateFile()
                .with("bootId", lease.bootId)
                .with("untilMillis", lease.untilMillis)
                .with("lengthMillis", lease.lengthMillis)
                .writeForThisBoot(lease());
    }

    public Optional<Lease> readLease() throws IOException {
        Optional<StateFile> read = StateFile.read(lease());
        if (read.isEmpty()) {
            return Optional.empty();
        }
        StateFile stateFile = read.get();
        return Optional.of(
                new Lease(stateFile.text("bootId"), stateFile.number("untilMillis"), stateFile.number("lengthMillis")));
    }

    /** A request to end: all processes must have ended by {@code deadlineMillis} of the boot clock. */
    public record StopRequest(StopReason reason, long graceMillis, long deadlineMillis) {}

    public void requestStop(StopRequest request) throws IOException {
        new StateFile()
                .with("reason", request.reason)
                .with("graceMillis", request.graceMillis)
                .with("deadlineMillis", request.deadlineMillis)
                .writeForThisBoot(stop());
    }

    public Optional<StopRequest> readStop() throws IOException {
        Optional<StateFile> read = StateFile.read(stop());
        if (read.isEmpty()) {
            return Optional.empty();
        }
        StateFile stateFile = read.get();
        return Optional.of(new StopRequest(
                stateFile.constant(StopReason.class, "reason"),
                stateFile.number("graceMillis"),
                stateFile.number("deadlineMillis")));
    }

    public void markStarted(long startedAtEpochMillis) throws IOException {
        new StateFile().with("startedAtEpochMillis", startedAtEpochMillis).writeDurably(started());
    }

    /** Whether the supervisor was about to start the work. The file counts even if it is unreadable. */
    public boolean hasStarted() {
        return Files.exists(started());
    }

    /** The time at which the supervisor was about to start the work, if it was. */
    public Optional<Long> readStarted() throws IOException {
        Optional<StateFile> stateFile = StateFile.read(started());
        return stateFile.isEmpty()
                ? Optional.empty()
                : Optional.of(stateFile.get().number("startedAtEpochMillis"));
    }

    /**
     * The leader of the work's process group. The start time distinguishes it from a later process with the same id.
     */
    public record Leader(long pid, long startedAtEpochMillis) {
        private static final long START_TOLERANCE_MILLIS = 2_000;

        static Leader of(ProcessHandle process) {
            return new Leader(process.pid(), startOf(process));
        }

        public boolean isAlive() {
            // The system derives the start time from the time of day, so two readings differ if the clock was set
            // meanwhile.
            return ProcessHandle.of(pid)
                    .filter(process -> Math.abs(startOf(process) - startedAtEpochMillis) <= START_TOLERANCE_MILLIS)
                    .isPresent();
        }

        private static long startOf(ProcessHandle process) {
            return process.info()
                    .startInstant()
                    .map(start -> start.toEpochMilli())
                    .orElse(0L);
        }
    }

    void markRunning(Leader leader) throws IOException {
        new StateFile()
                .with("pid", leader.pid)
                .with("startedAtEpochMillis", leader.startedAtEpochMillis)
                .writeForThisBoot(work());
    }

    public Optional<Leader> readLeader() throws IOException {
        Optional<StateFile> read = StateFile.read(work());
        return read.isEmpty()
                ? Optional.empty()
                : Optional.of(new Leader(read.get().number("pid"), read.get().number("startedAtEpochMillis")));
    }

    /** A request to pause: the devices must be free by {@code deadlineMillis} of the boot clock. */
    public record PauseRequest(UUID attemptId, long graceMillis, long deadlineMillis) {}

    public void requestPause(PauseRequest request) throws IOException {
        new StateFile()
                .with("attemptId", request.attemptId)
                .with("graceMillis", request.graceMillis)
                .with("deadlineMillis", request.deadlineMillis)
                .writeForThisBoot(pause());
    }

    public Optional<PauseRequest> readPause() throws IOException {
        Optional<StateFile> read = StateFile.read(pause());
        if (read.isEmpty()) {
            return Optional.empty();
        }
        StateFile stateFile = read.get();
        return Optional.of(new PauseRequest(
                stateFile.id("attemptId"), stateFile.number("graceMillis"), stateFile.number("deadlineMillis")));
    }

    /** @param at when its processes had stopped */
    void markPaused(UUID attemptId, BootClock.Reading at) throws IOException {
        with(new StateFile().with("attemptId", attemptId), at).writeForThisBoot(paused());
    }

    /** The attempt that was paused last; another attempt may have taken it over since. */
    public Optional<UUID> readPaused() throws IOException {
        Optional<StateFile> read = StateFile.read(paused());
        return read.isEmpty() ? Optional.empty() : Optional.of(read.get().id("attemptId"));
    }

    /** The time at which its processes had stopped; empty if an older supervisor did not record it. */
    public Optional<BootClock.Reading> readPausedAt() throws IOException {
        return reading(StateFile.read(paused()));
    }

    private static StateFile with(StateFile stateFile, BootClock.Reading at) {
        return stateFile.with("atBoot", at.bootId()).with("atMillis", at.millis());
    }

    private static Optional<BootClock.Reading> reading(Optional<StateFile> stateFile) throws IOException {
        if (stateFile.isEmpty() || stateFile.get().optional("atBoot").isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new BootClock.Reading(
                stateFile.get().text("atBoot"), stateFile.get().number("atMillis")));
    }

    /**
     * The attempt that owns the processes from now on.
     *
     * @param earlier the earlier owners of the processes, the first one first
     * @param devices their indices, in the order in which the work counts them
     * @param deviceMap see {@link GpuSuspender#deviceMap}
     * @param maxRuntimeMillis counted from the moment at which they continue
     */
    public record Resume(
            UUID attemptId,
            List<UUID> earlier,
            List<Integer> devices,
            String deviceMap,
            Optional<Long> maxRuntimeMillis) {
        public Resume {
            earlier = List.copyOf(earlier);
            devices = List.copyOf(devices);
        }
    }

    public void requestResume(Resume resume) throws IOException {
        StateFile stateFile = new StateFile()
                .with("attemptId", resume.attemptId)
                .with("earlier", resume.earlier.stream().map(UUID::toString).toList())
                .with("devices", resume.devices.stream().map(String::valueOf).toList())
                .with("deviceMap", resume.deviceMap);
        resume.maxRuntimeMillis.ifPresent(millis -> stateFile.with("maxRuntimeMillis", millis));
        stateFile.writeDurably(resume());
    }

    public Optional<Resume> readResume() throws IOException {
        Optional<StateFile> read = StateFile.read(resume());
        if (read.isEmpty()) {
            return Optional.empty();
        }
        StateFile stateFile = read.get();
        return Optional.of(new Resume(
                stateFile.id("attemptId"),
                stateFile.ids("earlier"),
                stateFile.integers("devices"),
                stateFile.text("deviceMap"),
                stateFile.optionalNumber("maxRuntimeMillis")));
    }

    /** A record that the processes continue as this attempt. */
    public record Resumed(UUID attemptId, long startedAtEpochMillis) {}

    void markResumed(Resumed resumed) throws IOException {
        new StateFile()
                .with("attemptId", resumed.attemptId)
                .with("startedAtEpochMillis", resumed.startedAtEpochMillis)
                .writeForThisBoot(resumed());
    }

    public Optional<Resumed> readResumed() throws IOException {
        Optional<StateFile> read = StateFile.read(resumed());
        return read.isEmpty()
                ? Optional.empty()
                : Optional.of(new Resumed(read.get().id("attemptId"), read.get().number("startedAtEpochMillis")));
    }

    /** @param at when all its processes had ended */
    public void markEnded(Ended end, BootClock.Reading at) throws IOException {
        StateFile stateFile = with(new StateFile(), at)
                .with("outcome", end.outcome())
                .with("endedAtEpochMillis", end.endedAtEpochMillis())
                .with("detail", end.detail());
        if (end.exitCode() != null) {
            stateFile.with("exitCode", end.exitCode());
        }
        if (end.startedAtEpochMillis() != null) {
            stateFile.with("startedAtEpochMillis", end.startedAtEpochMillis());
        }
        stateFile.writeDurably(exit());
    }

    public boolean hasEnded() {
        return Files.exists(exit());
    }

    public Optional<Ended> readEnd() throws IOException {
        Optional<StateFile> read = StateFile.read(exit());
        if (read.isEmpty()) {
            return Optional.empty();
        }
        StateFile stateFile = read.get();
        return Optional.of(new Ended(
                stateFile.constant(Outcome.class, "outcome"),
                stateFile.optionalInteger("exitCode").orElse(null),
                stateFile.optionalNumber("startedAtEpochMillis").orElse(null),
                stateFile.number("endedAtEpochMillis"),
                stateFile.text("detail")));
    }

    /** The time at which all its processes had ended; empty if an older supervisor did not record it. */
    public Optional<BootClock.Reading> readEndedAt() throws IOException {
        return reading(StateFile.read(exit()));
    }

    /** The exclusive right to decide the outcome of the attempt. */
    public record Claim(FileChannel channel) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /**
     * Takes the claim. It waits only briefly for another holder, since the waiting loop also renews the node's lease.
     */
    public Claim claim() throws IOException {
        return claim(CLAIM_TIMEOUT);
    }

    /** Takes the claim; throws an IOException if another process still holds it at the end of the limit. */
    Claim claim(Duration limit) throws IOException {
        long begunNanos = System.nanoTime();
        Optional<Claim> claim = tryClaim();
        while (claim.isEmpty()) {
            if (System.nanoTime() - begunNanos >= limit.toNanos()) {
                throw new IOException("another process has held %s for %s".formatted(path.resolve("lock"), limit));
            }
            try {
                TimeUnit.MILLISECONDS.sleep(CLAIM_RETRY_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
            claim = tryClaim();
        }
        return claim.get();
    }

    /** Takes the claim if it is free; empty while another process, usually the living supervisor, holds it. */
    public Optional<Claim> tryClaim() throws IOException {
        FileChannel channel = open();
        try {
            FileLock lock = channel.tryLock();
            if (lock != null) {
                return Optional.of(new Claim(channel));
            }
        } catch (OverlappingFileLockException e) {
            // Another agent in this process holds it, which counts like any other holder.
        }
        channel.close();
        return Optional.empty();
    }

    private FileChannel open() throws IOException {
        return FileChannel.open(path.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }
}
