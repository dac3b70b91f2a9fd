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
 * What is kept of one attempt, in a folder of its own: the only thing that its supervisor and the agent share.
 *
 * <ul>
 *   <li>{@code record}: what was ordered. Written by the agent, durably, before anything else happens.
 *   <li>{@code lock}: held by the supervisor for as long as it lives, and by whoever else decides the attempt's fate.
 *   <li>{@code lease}: until when it may run; written by the agent at each renewal.
 *   <li>{@code stop}: that it should end; by the agent, or by the supervisor when lease or run time are used up.
 *   <li>{@code started}: durably written by the supervisor before it starts the work. Whoever finds it starts nothing.
 *   <li>{@code work}: the leader of the work's process group, once there is one.
 *   <li>{@code exit}: how it ended; durable, final, and only written when nothing of it runs any more.
 *   <li>{@code pause}: that its processes should stand still; by the agent. {@code paused}: that they do; by the supervisor.
 *   <li>{@code resume}: the attempt that takes the processes over, with every one before it; durably written by the agent before
 *       it is heard of again. {@code resumed}: that they go on as that attempt; by the supervisor.
 *   <li>{@code output-*}: see {@link AttemptOutput}. {@code supervisor.log}: complaints of the supervisor itself.
 * </ul>
 *
 * <p>The lock makes "at most once" hold: {@code started} and {@code exit} are only written by its holder, who has
 * looked for both while holding it. A lock of the operating system ends with the process, however that ends.
 */
public record AttemptFolder(Path path) {
    private static final Duration CLAIM_LIMIT = Duration.ofSeconds(1);
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

    /** Until when work may run, on the {@link BootClock} of the named boot, and how long it was when it was granted. */
    public record Lease(String bootId, long untilMillis, long lengthMillis) {
        /** Zero, so long past, when the lease was granted in another boot. */
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

    /** A request to end: by {@code deadlineMillis} of the boot clock nothing may run any more. */
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

    /** Whether its work was about to be started: what was written then need not be readable for that. */
    public boolean hasStarted() {
        return Files.exists(started());
    }

    /** When its work was about to be started, if it came to that. */
    public Optional<Long> readStarted() throws IOException {
        Optional<StateFile> stateFile = StateFile.read(started());
        return stateFile.isEmpty()
                ? Optional.empty()
                : Optional.of(stateFile.get().number("startedAtEpochMillis"));
    }

    /** The leader of the work's process group. The start time tells it from a later process with the same id. */
    public record Leader(long pid, long startedAtEpochMillis) {
        private static final long START_TOLERANCE_MILLIS = 2_000;

        static Leader of(ProcessHandle process) {
            return new Leader(process.pid(), startOf(process));
        }

        public boolean isAlive() {
            // The system derives a start from the time of day, so two readings differ when that was set meanwhile.
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

    /** A request to stand still: by {@code deadlineMillis} of the boot clock the devices are free. */
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

    /** @param at when its processes had come to a stand */
    void markPaused(UUID attemptId, BootClock.Reading at) throws IOException {
        with(new StateFile().with("attemptId", attemptId), at).writeForThisBoot(paused());
    }

    /** The attempt that was paused last; it may have been taken over since. */
    public Optional<UUID> readPaused() throws IOException {
        Optional<StateFile> read = StateFile.read(paused());
        return read.isEmpty() ? Optional.empty() : Optional.of(read.get().id("attemptId"));
    }

    /** When its processes came to a stand; empty where an older supervisor did not write it down. */
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
     * Which attempt the processes are of from now on.
     *
     * @param earlier those they were of before, the first one first
     * @param devices their indices, in the order in which the work counts them
     * @param deviceMap see {@link GpuSuspender#deviceMap}
     * @param maxRuntimeMillis from when they go on
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

    /** That the processes go on as this attempt. */
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

    /** @param at when nothing of it ran any more */
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

    /** When nothing of it ran any more; empty where an older supervisor did not write it down. */
    public Optional<BootClock.Reading> readEndedAt() throws IOException {
        return reading(StateFile.read(exit()));
    }

    /** Right to decide what becomes of the attempt. */
    public record Claim(FileChannel channel) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** Waits while another process holds the claim, but not for long: the loop that waits also renews the node's lease. */
    public Claim claim() throws IOException {
        return claim(CLAIM_LIMIT);
    }

    /** Throws an IOException when another process still holds the claim at the end of the limit. */
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

    /** Empty while somebody else, as a rule the living supervisor, holds the claim. */
    public Optional<Claim> tryClaim() throws IOException {
        FileChannel channel = open();
        try {
            FileLock lock = channel.tryLock();
            if (lock != null) {
                return Optional.of(new Claim(channel));
            }
        } catch (OverlappingFileLockException e) {
            // Another agent in this same process: to be treated like any other holder.
        }
        channel.close();
        return Optional.empty();
    }

    private FileChannel open() throws IOException {
        return FileChannel.open(path.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    }
}
