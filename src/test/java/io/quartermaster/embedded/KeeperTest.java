package io.quartermaster.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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

/** A Redis that ends, and that does not come up at once. */
class KeeperTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final CompletableFuture<StartFailure> broken = new CompletableFuture<>();

    private Keeper keeper(Supplier<? extends EmbeddedProgram> start) {
        return new Keeper("Redis", "here", start, Progress.silent(), broken, true);
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
        try (Keeper keeper = keeper(() -> {
            if (starts.incrementAndGet() == 2) {
                throw new StartFailure("it ended while starting");
            }
            running.set(EmbeddedRedis.start(folder, Secrets.in(folder), port));
            return running.get();
        })) {
            keeper.begin();
            keeper.ready().join();
            EmbeddedRedis first = Objects.requireNonNull(running.get());

            ProcessHandle.of(first.child().pid()).orElseThrow().destroyForcibly();

            Awaitility.await().atMost(PATIENCE).until(() -> starts.get() == 3 && running.get() != first);
            assertThat(broken).isNotDone();
        }
    }

    @Test
    void aProgramThatNeverComesUpIsGivenUpWithTheReason() {
        Keeper keeper = keeper(() -> {
            throw new StartFailure("no room on the disk");
        });
        keeper.begin();

        assertThatThrownBy(() -> keeper.ready().join()).hasMessageContaining("no room on the disk");
        keeper.close();
    }
}
