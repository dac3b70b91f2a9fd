package io.quartermaster.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogRotationTest {

    @Test
    void aLogIsEmptiedWhileItsProgramWritesAndWhatItHeldIsKept(@TempDir Path logs) throws IOException {
        Path log = logs.resolve("postgres.log");
        try (OutputStream program = Files.newOutputStream(log, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            program.write("0123456789".getBytes(StandardCharsets.UTF_8));
            LogRotation.rotateAll(logs, 9);
            program.write("abc".getBytes(StandardCharsets.UTF_8));
        }

        assertThat(log).hasContent("abc");
        assertThat(logs.resolve("postgres.log.1")).hasContent("0123456789");
    }

    @Test
    void aShortLogAndTheServicesOwnStayAsTheyAre(@TempDir Path logs) throws IOException {
        Files.writeString(logs.resolve("redis.log"), "012345678");
        Files.writeString(logs.resolve("service.log"), "0123456789");

        LogRotation.rotateAll(logs, 9);

        assertThat(logs.resolve("redis.log")).hasContent("012345678");
        assertThat(logs.resolve("service.log")).hasContent("0123456789");
        assertThat(logs.resolve("service.log.1")).doesNotExist();
    }
}
