package io.quartermaster.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A started program can be found again, whenever the service crashes. */
class ManagedProcessTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir
    @SuppressWarnings("NullAway.Init") // set before each test
    private Path folder;

    private Path pidFile() {
        return folder.resolve("it's a.pid");
    }

    @AfterEach
    void end() {
        ManagedProcess.endRecorded("program", pidFile(), StopSignal.TERMINATE, PATIENCE);
    }

    @Test
    void isWrittenDownBeforeItsProgramBegins() throws Exception {
        Path seen = folder.resolve("seen");
        ManagedProcess managedProcess =
                ManagedProcess.start(spec("cp \"$1\" \"$2.next\" && mv \"$2.next\" \"$2\"; exec sleep 60", "1", seen));

        Awaitility.await().atMost(PATIENCE).until(() -> Files.exists(seen));

        assertThat(Files.readString(seen)).startsWith(managedProcess.pid() + " ");
        assertThat(ManagedProcess.runningPid(pidFile())).hasValue(managedProcess.pid());
    }

    @Test
    void isTakenOverOnlyWhenItWouldBeStartedJustSo() {
        ManagedProcess managedProcess = ManagedProcess.start(spec("exec sleep 60", "1", folder));
        Awaitility.await().atMost(PATIENCE).until(() -> ManagedProcess.runningPid(pidFile())
                .isPresent());

        assertThat(ManagedProcess.adopt(spec("exec sleep 60", "1", folder)))
                .hasValueSatisfying(adopted -> assertThat(adopted.pid()).isEqualTo(managedProcess.pid()));
        assertThat(ManagedProcess.adopt(spec("exec sleep 60", "2", folder))).isEmpty();
        assertThat(ManagedProcess.adopt(spec("exec sleep 61", "1", folder))).isEmpty();
    }

    @Test
    void isForgottenWhenItWasStopped() {
        ManagedProcess managedProcess = ManagedProcess.start(spec("exec sleep 60", "1", folder));
        Awaitility.await().atMost(PATIENCE).until(() -> ManagedProcess.runningPid(pidFile())
                .isPresent());

        managedProcess.stop(StopSignal.TERMINATE, PATIENCE);

        assertThat(managedProcess.isAlive()).isFalse();
        assertThat(pidFile()).doesNotExist();
        assertThat(ManagedProcess.adopt(spec("exec sleep 60", "1", folder))).isEmpty();
    }

    @Test
    void itsEndEndsTheWaitForIt() throws Exception {
        ManagedProcess managedProcess = ManagedProcess.start(spec("read line < \"$2\"", "1", fifo()));

        assertThat(managedProcess.endsWithin(Duration.ofMillis(1))).isFalse();
        Files.writeString(folder.resolve("fifo"), "end\n");

        assertThat(managedProcess.endsWithin(PATIENCE)).isTrue();
    }

    private Path fifo() throws Exception {
        Path fifo = folder.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor())
                .isZero();
        return fifo;
    }

    private ManagedProcess.Spec spec(String script, String fingerprint, Path argument) {
        return new ManagedProcess.Spec(
                "program",
                List.of("/bin/sh", "-c", script, "program", pidFile().toString(), argument.toString()),
                Map.of(),
                folder,
                folder.resolve("log"),
                pidFile(),
                fingerprint);
    }
}
