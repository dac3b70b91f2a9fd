package io.quartermaster.agent.supervisor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.agent.supervisor.AttemptFolder.PauseRequest;
import io.quartermaster.agent.supervisor.AttemptFolder.Resume;
import io.quartermaster.agent.supervisor.AttemptFolder.Resumed;
import io.quartermaster.agent.supervisor.AttemptFolder.StopRequest;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AttemptFolderTest {

    @Test
    void aClaimThatAnotherProcessKeepsIsWaitedForInVainAndNotForLong(@TempDir Path path) throws Exception {
        AttemptFolder folder = new AttemptFolder(path);
        Process holder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        Path.of(Holder.class
                                        .getProtectionDomain()
                                        .getCodeSource()
                                        .getLocation()
                                        .toURI())
                                .toString(),
                        Holder.class.getName(),
                        path.resolve("lock").toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            assertThat(holder.getInputStream().read()).isEqualTo('h');

            assertTimeoutPreemptively(Duration.ofSeconds(20), () -> assertThatThrownBy(folder::claim)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("another process"));
        } finally {
            holder.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        }
        folder.claim().close();
    }

    /**
     * A damaged file must cause an IOException, which callers expect: then only this attempt is affected, and the
     * others continue.
     */
    @Test
    void aFileWithValuesThatAreNoneIsReportedAsTroubleOfThisAttempt(@TempDir Path path) throws IOException {
        AttemptFolder folder = new AttemptFolder(path);
        UUID attempt = UUID.randomUUID();
        folder.requestStop(new StopRequest(StopReason.CANCELLED, 1, 1));
        assertDamageIsTrouble(path.resolve("stop"), "reason", folder::readStop);
        folder.requestPause(new PauseRequest(attempt, 1, 1));
        assertDamageIsTrouble(path.resolve("pause"), "attemptId", folder::readPause);
        folder.markPaused(attempt, new BootClock.Reading("boot", 1));
        assertDamageIsTrouble(path.resolve("paused"), "attemptId", folder::readPaused);
        assertDamageIsTrouble(path.resolve("paused"), "atMillis", folder::readPausedAt);
        folder.markResumed(new Resumed(attempt, 1));
        assertDamageIsTrouble(path.resolve("resumed"), "attemptId", folder::readResumed);
        for (String value : List.of("attemptId", "earlier.0", "devices.0", "maxRuntimeMillis")) {
            folder.requestResume(new Resume(attempt, List.of(attempt), List.of(1), "", Optional.of(1L)));
            assertDamageIsTrouble(path.resolve("resume"), value, folder::readResume);
        }
        for (String value : List.of("outcome", "exitCode", "startedAtEpochMillis", "endedAtEpochMillis")) {
            folder.markEnded(new Ended(Outcome.FAILED, 1, 1L, 2, ""), new BootClock.Reading("boot", 1));
            assertDamageIsTrouble(path.resolve("exit"), value, folder::readEnd);
        }
    }

    private static void assertDamageIsTrouble(Path file, String value, ThrowingCallable reading) throws IOException {
        String whole = Files.readString(file);
        String damaged = whole.replaceAll("(?m)^%s=.*$".formatted(Pattern.quote(value)), value + "=damaged");
        assertThat(damaged).isNotEqualTo(whole);
        Files.writeString(file, damaged);
        assertThatThrownBy(reading).as("%s of %s", value, file).isInstanceOf(IOException.class);
        Files.writeString(file, whole);
        assertThatNoException().isThrownBy(reading);
    }

    /** Holds the lock of a file until it is killed. */
    static final class Holder {

        private Holder() {}

        public static void main(String... arguments) throws IOException, InterruptedException {
            try (FileChannel channel =
                    FileChannel.open(Path.of(arguments[0]), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                channel.lock();
                System.out.print('h');
                System.out.flush();
                Thread.sleep(Duration.ofMinutes(5));
            }
        }
    }
}
