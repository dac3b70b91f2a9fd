package io.quartermaster.client.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.client.output.CommandFailure;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokenFileTest {

    private static final URI SERVER = URI.create("https://qm.example.org");

    private Path folder = Path.of("");
    private TokenFile file = new TokenFile(folder);

    @BeforeEach
    void emptyFolder(@TempDir Path home) {
        folder = home.resolve("qm");
        file = new TokenFile(folder);
    }

    private static SavedLogin login(String token) {
        return new SavedLogin("https://issuer", "https://issuer/token", null, "qm-cli", null, token, 1, "refresh");
    }

    @Test
    void eachServerAndTenantHasItsOwnLogin() {
        file.put(SERVER, "acme", login("a"));
        file.put(SERVER, "globex", login("b"));

        assertThat(file.find(SERVER, "acme")).contains(login("a"));
        assertThat(file.find(URI.create("https://other.example.org"), "acme")).isEmpty();
        assertThat(file.remove(SERVER, "acme")).contains(login("a"));
        assertThat(file.find(SERVER, "acme")).isEmpty();
        assertThat(file.find(SERVER, "globex")).contains(login("b"));
    }

    @Test
    void tokensAreReadableByTheirOwnerAloneAndNoOtherFileStays() throws Exception {
        file.put(SERVER, "acme", login("a"));
        file.put(SERVER, "acme", login("b"));

        Path tokens = folder.resolve("tokens.json");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(tokens)))
                .isEqualTo("rw-------");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(path -> path.getFileName().toString()))
                    .containsExactlyInAnyOrder("tokens.json", "tokens.json.lock");
        }
    }

    @Test
    void aFileThatOthersCanReadIsRefused() throws Exception {
        file.put(SERVER, "acme", login("a"));
        Path tokens = folder.resolve("tokens.json");
        Files.setPosixFilePermissions(tokens, PosixFilePermissions.fromString("rw-r--r--"));

        assertThatThrownBy(() -> file.find(SERVER, "acme"))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("chmod 600 " + tokens);
    }

    @Test
    void aRenewalSeesTheLoginThatAnotherProcessStored() {
        file.put(SERVER, "acme", login("old"));
        file.put(SERVER, "acme", login("newer"));

        assertThat(file.renew(SERVER, "acme", now -> now.accessToken().equals("old") ? login("mine") : now))
                .contains(login("newer"));
        assertThat(file.renew(SERVER, "acme", now -> login("mine"))).contains(login("mine"));
        assertThat(file.find(SERVER, "acme")).contains(login("mine"));
        assertThat(file.renew(SERVER, "globex", now -> login("mine"))).isEmpty();
    }

    @Test
    void aDamagedFileIsRefusedWithARemedy() throws Exception {
        Files.createDirectories(folder);
        Path tokens = Files.createFile(
                folder.resolve("tokens.json"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(tokens, "{");

        assertThatThrownBy(() -> file.find(SERVER, "acme"))
                .hasMessage(tokens + " cannot be used. Remove it, and sign in again with qm login.");
    }

    @Test
    void aLoginDoesNotPrintItsTokens() {
        assertThat(login("secret-token").toString()).doesNotContain("secret-token", "refresh");
    }
}
