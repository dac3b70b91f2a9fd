package io.quartermaster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The launcher {@code qm} alone, in a folder where a build would fail. */
class LauncherTest {

    private Path home = Path.of("");
    private final Path jdk = Path.of("jdk");

    @BeforeEach
    void launcherAlone(@TempDir Path folder) throws IOException {
        home = folder;
        Files.copy(Path.of("qm"), home.resolve("qm"));
        Files.createDirectories(home.resolve("src/main"));
    }

    private String run(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("sh", home.resolve("qm").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", home.resolve(jdk).toString());
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }

    /** Something newer than the program, and a JDK that says how it is called. */
    private void givenAnOldBuild() throws IOException {
        Path app = Files.createDirectories(home.resolve("target/quarkus-app"));
        Files.createFile(app.resolve("quarkus-run.jar"));
        Path bin = Files.createDirectories(home.resolve(jdk).resolve("bin"));
        Files.writeString(home.resolve(jdk).resolve("release"), "JAVA_VERSION=\"25.0.1\"\n");
        for (String program : List.of("java", "javac")) {
            Path file = Files.writeString(bin.resolve(program), "#!/bin/sh\necho called with \"$@\"\n");
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    private void assertNothingWasBuilt() throws IOException {
        try (Stream<Path> made = Files.list(home)) {
            assertThat(made.map(path -> path.getFileName().toString())).doesNotContain("target");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "help", "--help", "-h", "up --help", "help up", "load --tenants 3 -h"})
    void withoutABuildHelpIsShortAndNamesEveryCommand(String arguments) throws Exception {
        String help = run(arguments.isEmpty() ? new String[0] : arguments.split(" "));
        Set<String> commands =
                new CommandLine(new QuartermasterCommand()).getSubcommands().keySet();
        assertThat(commands).contains("up", "help");
        assertThat(help.lines().map(line -> line.strip().split(" ")[0])).containsAll(commands);
        assertNothingWasBuilt();
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help", "up --help"})
    void helpIsTheLastBuiltProgramsHoweverOldItIs(String arguments) throws Exception {
        givenAnOldBuild();
        assertThat(run(arguments.split(" "))).startsWith("called with").endsWith("quarkus-run.jar " + arguments + "\n");
    }

    @Test
    void helpOnTestsNeedsNothing() throws Exception {
        assertThat(run("test", "--help")).startsWith("Usage: qm test");
        assertNothingWasBuilt();
    }
}
