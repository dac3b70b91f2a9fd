package io.quartermaster;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.agent.protocol.ProgramVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The version is in {@code pom.xml}; the program reads it from there, and files that repeat it have the same version.
 */
class VersionDocTest {

    private static final Pattern OWN_VERSION =
            Pattern.compile("<artifactId>quartermaster</artifactId>\\s*<version>([^<]+)</version>");
    private static final Pattern TAG = Pattern.compile("\\bquartermaster(?::|-migration-)(\\d+\\.\\d+\\.\\d+[^\\s`]*)");
    /** The files in which the release script writes the version. */
    private static final List<Path> REPEATING = List.of(
            Path.of("deploy/Containerfile"),
            Path.of("deploy/compose.yaml"),
            Path.of("k8s/25-migration.yaml"),
            Path.of("k8s/30-deployment.yaml"),
            Path.of("docs/guides/installation.md"));

    @Test
    void theProgramSaysTheVersionOfThePom() throws IOException {
        assertThat(ProgramVersion.current()).isEqualTo(versionOfThePom());
    }

    @Test
    void namesOfImagesAndJobsHaveTheVersionOfThePom() throws IOException {
        String version = versionOfThePom();
        for (Path file : REPEATING) {
            assertThat(TAG.matcher(Files.readString(file)).results().map(tag -> tag.group(1)))
                    .as("%s", file)
                    .isNotEmpty()
                    .allMatch(version::equals);
            assertThat(Files.readString(Path.of(".ci/release"))).contains("\"" + file + "\"");
        }
    }

    @Test
    void noSourceStatesTheVersionItself() throws IOException {
        String literal = "[\"=]([A-Za-z ]+ )?" + Pattern.quote(versionOfThePom()) + "([\"\\s]|$)";
        try (Stream<Path> sources = Files.walk(Path.of("src/main"))) {
            assertThat(sources.filter(Files::isRegularFile)
                            .filter(file -> file.toString().matches(".*\\.(java|properties)")))
                    .noneMatch(
                            file -> Pattern.compile(literal).matcher(read(file)).find());
        }
    }

    private static String versionOfThePom() throws IOException {
        return OWN_VERSION
                .matcher(Files.readString(Path.of("pom.xml")))
                .results()
                .map(found -> found.group(1))
                .findFirst()
                .orElseThrow();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
