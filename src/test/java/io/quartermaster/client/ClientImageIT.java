package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.agent.protocol.ProgramVersion;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The small distribution of people's commands: it needs no JDK and starts from a record of its classes. */
class ClientImageIT {

    /** Twice the size that was measured; a library too many passes it. */
    private static final long MOST_BYTES = 200L * 1024 * 1024;

    private static Path folder;

    private record Ended(int exitCode, String output) {}

    @BeforeAll
    static void image(@TempDir Path shared) throws Exception {
        folder = shared;
        Ended made = run(
                Map.of("JAVA_HOME", System.getProperty("java.home"), "PATH", System.getenv("PATH")),
                Path.of("deploy", "client", "make-image").toAbsolutePath().toString(),
                folder.toString());

        assertThat(made.exitCode()).as(made.output()).isZero();
    }

    @Test
    void itRunsWithoutAJdkAndThroughALink() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("link"), folder.resolve("qm/bin/qm"));

        Ended version = run(Map.of("PATH", "/usr/bin:/bin"), link.toString(), "--version");
        Ended wrong = run(
                Map.of(
                        "PATH",
                        "/usr/bin:/bin",
                        "XDG_CONFIG_HOME",
                        folder.resolve("config").toString()),
                link.toString(),
                "queues");

        assertThat(version).isEqualTo(new Ended(0, "Quartermaster " + version() + "\n"));
        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.output()).startsWith("qm: no server is chosen.");
    }

    @Test
    void itHasARecordOfItsClassesAndIsSmall() throws IOException {
        assertThat(folder.resolve("qm/quartermaster-client.aot")).isNotEmptyFile();
        assertThat(folder.resolve("qm/completions/qm.fish")).isNotEmptyFile();
        try (Stream<Path> files = Files.walk(folder.resolve("qm"))) {
            assertThat(files.filter(Files::isRegularFile)
                            .mapToLong(file -> file.toFile().length())
                            .sum())
                    .isLessThan(MOST_BYTES);
        }
    }

    @Test
    void itMovesWithItsFolder() throws Exception {
        Path moved = Files.createDirectories(folder.resolve("elsewhere"));
        Ended copied = run(
                Map.of("PATH", "/usr/bin:/bin"),
                "cp",
                "-Rp",
                folder.resolve("qm").toString(),
                moved.toString());
        assertThat(copied.exitCode()).as(copied.output()).isZero();

        Ended help =
                run(Map.of("PATH", "/usr/bin:/bin"), moved.resolve("qm/bin/qm").toString(), "submit", "--help");

        assertThat(help.exitCode()).as(help.output()).isZero();
        assertThat(help.output()).startsWith("Usage: qm submit ");
    }

    private static String version() {
        return ProgramVersion.current();
    }

    private static Ended run(Map<String, String> environment, String... command) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(List.of(command)).redirectErrorStream(true);
        builder.environment().clear();
        builder.environment().putAll(environment);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), output);
    }
}
