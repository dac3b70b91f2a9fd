package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.testing.ExternalProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The wheel of the Python client, in an environment of its own. Without Python 3.11 or PyPI its tests are skipped. */
final class PythonPackage {

    static final Path SOURCES = Path.of("clients", "python").toAbsolutePath();

    private static final Path FOLDER = Path.of("target", "python-client").toAbsolutePath();
    private static final Path LIBRARIES = FOLDER.resolve("libraries");
    private static final Path WHEELS = FOLDER.resolve("wheels");
    private static final Path PROGRAM = FOLDER.resolve("venv/bin/python");
    private static final Pattern REQUIREMENTS =
            Pattern.compile("(?m)^(?:requires|dependencies) = \\[(.*)]$", Pattern.UNIX_LINES);
    private static final Pattern QUOTED = Pattern.compile("\"([^\"]+)\"");

    private static boolean installed;

    private PythonPackage() {}

    /** The Python that has the wheel. The first call builds the wheel and installs it. */
    static synchronized Path python() throws IOException {
        if (!installed) {
            install();
            installed = true;
        }
        return PROGRAM;
    }

    private static void install() throws IOException {
        installLibraries();
        if (Files.exists(WHEELS)) {
            Files.delete(wheel());
        }
        ExternalProgram.Ended built = ExternalProgram.end(
                List.of(PROGRAM.toString(), "-m", "hatchling", "build", "-t", "wheel", "-d", WHEELS.toString()),
                Map.of("PYTHONDONTWRITEBYTECODE", "1"),
                SOURCES);
        assertThat(built.exitCode()).as(built.output()).isZero();
        ExternalProgram.run(pip("--no-deps", "--force-reinstall", wheel().toString()));
    }

    /** The wheel that {@link #python} built. */
    static Path wheel() throws IOException {
        try (Stream<Path> files = Files.list(WHEELS)) {
            List<Path> wheels = files.toList();
            assertThat(wheels).hasSize(1);
            return wheels.getFirst();
        }
    }

    /** The requirements of the build and of the package, from its project file. */
    private static void installLibraries() throws IOException {
        String python =
                ExternalProgram.onPath("python3").orElseThrow(() -> skipped("there is no python3 on this machine"));
        if (ExternalProgram.end(List.of(python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"), Map.of())
                        .exitCode()
                != 0) {
            throw skipped("python3 is older than 3.11");
        }
        List<String> wanted = REQUIREMENTS
                .matcher(Files.readString(SOURCES.resolve("pyproject.toml")))
                .results()
                .map(list -> list.group(1))
                .flatMap(list -> QUOTED.matcher(list).results())
                .map((MatchResult requirement) -> requirement.group(1))
                .toList();
        assertThat(wanted).hasSizeGreaterThan(3);
        if (Files.exists(LIBRARIES) && Files.readAllLines(LIBRARIES).equals(wanted)) {
            return;
        }
        Files.createDirectories(FOLDER);
        for (List<String> command : List.of(
                List.of(python, "-m", "venv", "--clear", FOLDER.resolve("venv").toString()),
                pip(wanted.toArray(String[]::new)))) {
            ExternalProgram.Ended ended = ExternalProgram.end(command, Map.of());
            if (ended.exitCode() != 0) {
                throw skipped("its libraries cannot be installed: " + ended.output());
            }
        }
        Files.write(LIBRARIES, wanted);
    }

    private static List<String> pip(String... what) {
        List<String> command = new ArrayList<>(List.of(
                PROGRAM.toString(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries=1"));
        command.addAll(List.of(what));
        return command;
    }

    private static RuntimeException skipped(String reason) {
        return ExternalProgram.skipped("the tests of the Python client", reason);
    }
}
