package io.quartermaster.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** Runs of programs that the machine may have or not, such as Python. Each run ends within minutes. */
public final class ExternalProgram {

    private static final Path OUTPUT = Path.of("target", "external-programs");
    private static final long MAX_MINUTES = 5;

    private ExternalProgram() {}

    /** The exit code and the output of a program. */
    public record Ended(int exitCode, String output) {}

    /** Runs a program to its end and returns its output; fails with the output if the program fails. */
    public static String run(List<String> command) throws IOException {
        Ended ended = end(command, Map.of());
        assertThat(ended.exitCode()).as(ended.output()).isZero();
        return ended.output();
    }

    /** Runs a program to its end, in an environment with these variables added. */
    public static Ended end(List<String> command, Map<String, String> environment) throws IOException {
        return end(command, environment, Path.of(""));
    }

    /** Runs a program to its end in a folder, in an environment with these variables added. */
    public static Ended end(List<String> command, Map<String, String> environment, Path folder) throws IOException {
        Files.createDirectories(OUTPUT);
        Path log = Files.createTempFile(OUTPUT, "run", ".log");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toAbsolutePath().toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            assertThat(process.waitFor(MAX_MINUTES, TimeUnit.MINUTES))
                    .as("%s ends in time: %s", command.getFirst(), Files.readString(log))
                    .isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } finally {
            process.destroyForcibly();
        }
        return new Ended(process.exitValue(), Files.readString(log));
    }

    /** The Java of this process. */
    public static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** The absolute path of a program that the shell would find. */
    public static Optional<String> onPath(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
                .map(folder -> Path.of(folder, program))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst();
    }

    /** Skips the test, and states so in the output of the run. */
    public static RuntimeException skipped(String test, String reason) {
        String text = "SKIPPED: " + test + ": " + reason;
        System.out.println(text);
        return Assumptions.abort(text);
    }
}
