package io.quartermaster.agent;

import io.quartermaster.agent.supervisor.Commands;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/** Deletes folders on a thread of its own. A folder is first moved into the trash, where the next agent finds it. */
final class DeletionQueue implements AutoCloseable {
    private static final long DELETE_TIMEOUT_MILLIS = 600_000;

    private final Path trash;
    private final Consumer<String> log;
    private final ExecutorService deletions = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("deletions").factory());

    /** Also deletes the folders that an earlier agent left in the trash. */
    DeletionQueue(Path trash, Consumer<String> log) throws IOException {
        this.trash = trash;
        this.log = log;
        for (Path rest : StateFolder.entries(trash)) {
            deletions.execute(() -> delete(rest));
        }
    }

    /** Moves a folder into the trash, under a name that is not there yet, and deletes it soon. */
    void add(Path folder, String name) throws IOException {
        Path aside = trash.resolve(name);
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
