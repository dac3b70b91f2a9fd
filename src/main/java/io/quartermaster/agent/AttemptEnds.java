package io.quartermaster.agent;

import io.quartermaster.agent.protocol.AttemptState;
import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.agent.supervisor.AttemptFolder;
import io.quartermaster.agent.supervisor.AttemptFolder.Claim;
import io.quartermaster.agent.supervisor.AttemptFolder.Leader;
import io.quartermaster.agent.supervisor.BootClock;
import io.quartermaster.agent.supervisor.ProcessGroup;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.function.Consumer;

/** The ends of this node's attempts: those that supervisors recorded, and those of attempts without a supervisor. */
final class AttemptEnds {
    private static final long KILL_TIMEOUT_MILLIS = 1_000;

    /**
     * How long an unreadable record of an end may still become readable. After that, the outcome of the attempt stays
     * unknown.
     */
    private static final long UNREADABLE_END_TIMEOUT_MILLIS = 10_000;

    private final BootClock clock;
    private final StartPacing pacing;
    private final ProblemLog problems;
    private final Consumer<String> log;
    private final Map<UUID, Ended> ends = new HashMap<>();
    private final Map<UUID, Optional<BootClock.Reading>> endedAt = new HashMap<>();
    private final Map<UUID, Long> unreadableEnds = new HashMap<>();

    AttemptEnds(BootClock clock, StartPacing pacing, ProblemLog problems, Consumer<String> log) {
        this.clock = clock;
        this.pacing = pacing;
        this.problems = problems;
        this.log = log;
    }

    /** The end, if it was read before. */
    Optional<Ended> known(UUID attempt) {
        return Optional.ofNullable(ends.get(attempt));
    }

    void remember(UUID attempt, Ended end) {
        ends.put(attempt, end);
    }

    void forget(UUID attempt) {
        ends.remove(attempt);
        endedAt.remove(attempt);
        unreadableEnds.remove(attempt);
    }

    /** The recorded end; also empty if the record has been unreadable for too long. */
    Optional<Ended> read(LocalAttempt attempt) throws IOException {
        try {
            Optional<Ended> end = attempt.folder().readEnd();
            unreadableEnds.remove(attempt.id());
            return end;
        } catch (IOException e) {
            long now = StartPacing.nowMillis();
            Long since = unreadableEnds.putIfAbsent(attempt.id(), now);
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
    AttemptState endUnsupervised(LocalAttempt attempt) throws IOException {
        AttemptFolder folder = attempt.folder();
        Optional<Ended> end = read(attempt);
        if (end.isPresent()) {
            return end.get();
        }
        Optional<Long> startedAt = readable(attempt::startedAt);
        Optional<Long> group =
                readable(folder::readLeader).filter(Leader::isAlive).map(Leader::pid);
        try {
            if (!ProcessGroup.kill(group, attempt.work().attemptId(), KILL_TIMEOUT_MILLIS)) {
                // The attempt has not ended while a process runs; the next check tries again.
                return startedAt.isPresent()
                        ? new AttemptState.Stopping(startedAt.get(), StopReason.GIVEN_UP)
                        : new AttemptState.Starting();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        boolean unreadable = unreadableEnds.containsKey(attempt.id());
        boolean neverBegan = !unreadable && !folder.hasStarted();
        if (neverBegan) {
            UUID id = attempt.id();
            log.accept(
                    "the supervisor of attempt %s died before it began; see %s".formatted(id, folder.supervisorLog()));
            pacing.recordDeath(id, StartPacing.nowMillis());
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
            problems.add(attempt.id(), e);
            ends.put(attempt.id(), lost);
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
    OptionalLong agoMillis(LocalAttempt attempt, AttemptState state) throws IOException {
        Optional<BootClock.Reading> at =
                switch (state) {
                    case AttemptState.Ended ended -> {
                        Optional<BootClock.Reading> known = endedAt.get(attempt.id());
                        if (known == null) {
                            known = attempt.folder().readEndedAt();
                            endedAt.put(attempt.id(), known);
                        }
                        yield known;
                    }
                    case AttemptState.Paused paused -> attempt.folder().readPausedAt();
                    case AttemptState.Starting starting -> Optional.empty();
                    case AttemptState.Running running -> Optional.empty();
                    case AttemptState.Stopping stopping -> Optional.empty();
                };
        return at.isEmpty() ? OptionalLong.empty() : clock.ageMillis(at.get());
    }

    /** Ends an attempt that has no process. */
    void end(LocalAttempt attempt, Outcome outcome, String detail) throws IOException {
        try (Claim claim = attempt.folder().claim()) {
            attempt.folder()
                    .markEnded(new Ended(outcome, null, null, System.currentTimeMillis(), detail), clock.read());
        }
    }
}
