package io.quartermaster.agent;

import io.quartermaster.agent.protocol.AttemptReport;
import io.quartermaster.agent.protocol.AttemptReport.Checkpoint;
import io.quartermaster.agent.protocol.AttemptReport.LogTail;
import io.quartermaster.agent.protocol.AttemptState;
import io.quartermaster.agent.protocol.Protocol;
import io.quartermaster.agent.supervisor.AttemptOutput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The reports of attempts, and how much of each output the service has received. The agent sends output again only when
 * it has grown. A tail counts as received when the service has answered the request that carried it. Threads: the
 * agent's loop only.
 */
final class ReportCache {
    /** The most entries of a folder that are examined. */
    private static final int MAX_CHECKPOINTS = 10_000;

    private final Map<UUID, Long> receivedBytes = new HashMap<>();

    List<AttemptReport> buildReports(SortedMap<UUID, AttemptState> states, Attempts attempts) {
        List<AttemptReport> reports = new ArrayList<>();
        for (var entry : states.entrySet()) {
            if (reports.size() == Protocol.MAX_ATTEMPTS) {
                break; // The service lets the agent forget ended attempts, which makes room for the rest.
            }
            UUID id = entry.getKey();
            Attempts.WorkFolders places = attempts.folders(id);
            reports.add(new AttemptReport(
                    id,
                    entry.getValue(),
                    orNull(() -> newestCheckpoint(places.checkpoints()).orElse(null)),
                    orNull(() -> tail(id, places.output())),
                    orNull(() -> {
                        OptionalLong endedAgo = attempts.endedAgoMillis(id, entry.getValue());
                        return endedAgo.isPresent() ? endedAgo.getAsLong() : null;
                    })));
        }
        return reports;
    }

    private interface PartReader<T> {
        @Nullable
        T read() throws IOException;
    }

    /** Omits an unreadable part of the report: work may close its own folders, and its node must still report. */
    private static <T> @Nullable T orNull(PartReader<T> partReader) {
        try {
            return partReader.read();
        } catch (IOException | UncheckedIOException e) {
            return null;
        }
    }

    private @Nullable LogTail tail(UUID id, Path output) throws IOException {
        if (AttemptOutput.totalBytes(output) == receivedBytes.getOrDefault(id, 0L)) {
            return null;
        }
        AttemptOutput.Tail tail = AttemptOutput.tail(output, Protocol.MAX_LOG_TAIL_BYTES);
        return new LogTail(tail.text(), tail.totalBytes());
    }

    /** Records that the service has received these reports. */
    void recordReceived(List<AttemptReport> reports) {
        for (AttemptReport report : reports) {
            LogTail log = report.log();
            if (log != null) {
                receivedBytes.put(report.attemptId(), log.totalBytes());
            }
        }
    }

    /** Whether some output has grown since the service last received it. */
    boolean outputHasGrown(Iterable<UUID> ids, Attempts attempts) {
        for (UUID id : ids) {
            Long total =
                    orNull(() -> AttemptOutput.totalBytes(attempts.folders(id).output()));
            if (total != null && !total.equals(receivedBytes.getOrDefault(id, 0L))) {
                return true;
            }
        }
        return false;
    }

    void retainOnly(SortedMap<UUID, AttemptState> states) {
        receivedBytes.keySet().retainAll(states.keySet());
    }

    /** The finished entry that was changed last (ties: the last by name). The agent does not read the content. */
    static Optional<Checkpoint> newestCheckpoint(Path folder) throws IOException {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        @Nullable Checkpoint newest = null;
        try (Stream<Path> entries = Files.list(folder)) {
            for (Path entry : (Iterable<Path>) entries.limit(MAX_CHECKPOINTS)::iterator) {
                String name = entry.getFileName().toString();
                if (name.startsWith(".") || name.endsWith(".tmp") || name.endsWith(".partial")) {
                    continue;
                }
                Optional<Long> saved = modified(entry);
                if (saved.isPresent()
                        && (newest == null
                                || saved.get() > newest.savedAtEpochMillis()
                                || (saved.get() == newest.savedAtEpochMillis() && name.compareTo(newest.name()) > 0))) {
                    newest = new Checkpoint(name, saved.get());
                }
            }
        }
        return Optional.ofNullable(newest);
    }

    private static Optional<Long> modified(Path entry) {
        try {
            return Optional.of(
                    Files.getLastModifiedTime(entry, LinkOption.NOFOLLOW_LINKS).toMillis());
        } catch (IOException e) {
            return Optional.empty(); // The work has just removed the entry.
        }
    }
}
