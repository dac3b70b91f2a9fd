package io.quartermaster.agent;

import io.quartermaster.agent.supervisor.StateFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/** The attempts that were on this node and never start again: an empty file for each, kept for a week. */
final class ForgottenAttempts {
    private static final Duration MARK_RETENTION = Duration.ofDays(7);

    private final Path folder;
    private final SortedMap<UUID, Instant> marks = new TreeMap<>();

    private ForgottenAttempts(Path folder) {
        this.folder = folder;
    }

    static ForgottenAttempts read(Path folder) throws IOException {
        ForgottenAttempts forgotten = new ForgottenAttempts(folder);
        for (Path mark : StateFolder.entries(folder)) {
            UUID id = UUID.fromString(mark.getFileName().toString());
            forgotten.marks.put(id, Files.getLastModifiedTime(mark).toInstant());
        }
        return forgotten;
    }

    /** The mark is on disk when this returns. */
    void add(UUID id) throws IOException {
        new StateFile().writeDurably(folder.resolve(id.toString()));
        marks.put(id, Instant.now());
    }

    SortedSet<UUID> ids() {
        return Collections.unmodifiableSortedSet(new TreeSet<>(marks.keySet()));
    }

    void dropOld() throws IOException {
        Instant oldest = Instant.now().minus(MARK_RETENTION);
        for (UUID id : List.copyOf(marks.keySet())) {
            if (marks.getOrDefault(id, oldest).isBefore(oldest)) {
                Files.deleteIfExists(folder.resolve(id.toString()));
                marks.remove(id);
            }
        }
    }
}
