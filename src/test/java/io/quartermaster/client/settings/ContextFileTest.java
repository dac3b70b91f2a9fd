package io.quartermaster.client.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.client.output.CommandFailure;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ContextFileTest {

    private Path folder = Path.of("");
    private ContextFile file = new ContextFile(folder);

    @BeforeEach
    void emptyFolder(@TempDir Path home) {
        folder = home.resolve("config/qm");
        file = new ContextFile(folder);
    }

    private static ServerContext context(String name, String tenant) {
        return new ServerContext(name, URI.create("https://qm.example.org/"), tenant);
    }

    @Test
    void theFirstContextIsTheCurrentOneAndALaterOneIfWanted() {
        file.put(context("a", "acme"), false);
        file.put(context("b", "globex"), false);
        assertThat(file.read().current()).isEqualTo("a");

        file.put(context("c", "initech"), true);

        assertThat(file.read().current()).isEqualTo("c");
        assertThat(file.read().sorted())
                .containsExactly(context("a", "acme"), context("b", "globex"), context("c", "initech"));
    }

    @Test
    void removingTheCurrentContextLeavesNone() {
        file.put(context("a", "acme"), true);
        file.put(context("b", "globex"), false);

        file.remove("a");

        assertThat(file.read().currentContext()).isEmpty();
        assertThat(file.read().byName()).containsOnlyKeys("b");
        assertThatThrownBy(() -> file.use("a")).hasMessage("there is no context a; known contexts: b");
    }

    @Test
    void theFileAndItsFolderAreTheOwnersAlone() throws Exception {
        file.put(context("a", "acme"), true);

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.path())))
                .isEqualTo("rw-------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
                .isEqualTo("rwx------");
        assertThat(Files.readString(file.path())).isEqualTo("""
                current: a
                contexts:
                  a:
                    server: https://qm.example.org
                    tenant: acme
                """);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "contexts: {a: {server: 'https://x', tenant: acme, token: t}} | context a has the unknown key token",
                "contexts: {a: {server: 'https://x'}}                        | context a has no tenant",
                "contexts: {a: {server: 'ftp://x', tenant: acme}}             | \"ftp://x\" is not the address",
                "contexts: {a: {server: 'https://x', tenant: A}}              | \"A\" is not the name of a tenant",
                "- a                                                          | the file is not a mapping",
                "a: [                                                         | cannot be used",
            })
    void aFileThatIsWrongIsRefusedAndNamesThePlace(String text, String message) throws Exception {
        Files.createDirectories(folder);
        Files.writeString(file.path(), text);

        assertThatThrownBy(file::read)
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining(file.path().toString())
                .hasMessageContaining(message);
        assertThatThrownBy(() -> file.put(context("b", "globex"), true)).isInstanceOf(CommandFailure.class);
        assertThat(Files.readString(file.path())).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://127.0.0.1:8080", "http://localhost", "http://[::1]:1", "https://example.org"})
    void loopbackAndHttpsAreNotWarnedAbout(String server) {
        assertThat(new ServerContext("a", URI.create(server), "acme").isUnencrypted())
                .isFalse();
        assertThat(new ServerContext("a", URI.create("http://example.org"), "acme").isUnencrypted())
                .isTrue();
    }

    @Test
    void theFolderFollowsTheVariableIfItIsAbsolute() {
        assertThat(ClientFolder.of(Map.of(), "/home/jo")).isEqualTo(Path.of("/home/jo/.config/qm"));
        assertThat(ClientFolder.of(Map.of("XDG_CONFIG_HOME", "/x"), "/home/jo")).isEqualTo(Path.of("/x/qm"));
        assertThat(ClientFolder.of(Map.of("XDG_CONFIG_HOME", "x"), "/home/jo"))
                .isEqualTo(Path.of("/home/jo/.config/qm"));
    }
}
