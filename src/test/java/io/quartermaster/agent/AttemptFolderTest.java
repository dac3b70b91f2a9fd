package io.quartermaster.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
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
