package io.quartermaster.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.launch.StartFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A Redis that ends, and whose restart fails the first time. */
class RestartingProcessTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final CompletableFuture<StartFailure> broken = new CompletableFuture<>();

    private RestartingProcess keeper(Supplier<? extends EmbeddedProgram> start) {
        return new RestartingProcess("Redis", "here", start, ProgressListener.silent(), broken, true);
    }

    @Test
    void aProgramThatEndsWhileItIsStartedAgainIsTriedOnceMore(@TempDir Path directory) throws IOException {
        for (String part : List.of("bin", "log", "run")) {
            Files.createDirectory(directory.resolve(part));
        }
        DataFolder folder = new DataFolder(directory);
        int port = Ports.anyFree();
        AtomicInteger starts = new AtomicInteger();
        AtomicReference<EmbeddedRedis> running = new AtomicReference<>();
        try (RestartingProcess restartingProcess = keeper(() -> {
            if (starts.incrementAndGet() == 2) {
                throw new StartFailure("it ended while starting");
            }
            running.set(EmbeddedRedis.start(folder, Secrets.in(folder), port));
            return running.get();
        })) {
            restartingProcess.start();
            restartingProcess.ready().join();
            EmbeddedRedis first = Objects.requireNonNull(running.get());

            ProcessHandle.of(first.process().pid()).orElseThrow().destroyForcibly();

            Awaitility.await().atMost(PATIENCE).until(() -> starts.get() == 3 && running.get() != first);
            assertThat(broken).isNotDone();
        }
    }

    @Test
    void aProgramThatNeverComesUpIsGivenUpWithTheReason() {
        RestartingProcess restartingProcess = keeper(() -> {
            throw new StartFailure("no room on the disk");
        });
        restartingProcess.start();

        assertThatThrownBy(() -> restartingProcess.ready().join()).hasMessageContaining("no room on the disk");
        restartingProcess.close();
    }
}
