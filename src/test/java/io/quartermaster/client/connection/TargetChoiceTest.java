package io.quartermaster.client.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.client.settings.ContextFile;
import io.quartermaster.client.settings.ServerContext;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TargetChoiceTest {

    private static final TargetChoice NOTHING = new TargetChoice(null, null, null);

    private ContextFile file = new ContextFile(Path.of(""));

    @BeforeEach
    void twoContexts(@TempDir Path folder) {
        file = new ContextFile(folder);
        file.put(new ServerContext("one", URI.create("https://one.example.org"), "acme"), true);
        file.put(new ServerContext("two", URI.create("https://two.example.org"), "globex"), false);
    }

    @Test
    void theCurrentContextDecidesIfNothingElseDoes() {
        assertThat(NOTHING.resolve(Map.of(), file).server()).hasHost("one.example.org");
        assertThat(NOTHING.resolve(Map.of("QM_CONTEXT", "two"), file).tenant()).isEqualTo("globex");
        assertThat(new TargetChoice("one", null, null)
                        .resolve(Map.of("QM_CONTEXT", "two"), file)
                        .tenant())
                .isEqualTo("acme");
    }

    @Test
    void anOptionGoesBeforeAVariableAndAVariableBeforeTheContext() {
        Map<String, String> variables = Map.of("QM_SERVER", "https://three.example.org/", "QM_TENANT", "initech");

        ServerContext fromVariables = NOTHING.resolve(variables, file);
        ServerContext fromOptions =
                new TargetChoice(null, "https://four.example.org", "umbrella").resolve(variables, file);

        assertThat(fromVariables).isEqualTo(new ServerContext("", URI.create("https://three.example.org"), "initech"));
        assertThat(fromOptions).isEqualTo(new ServerContext("", URI.create("https://four.example.org"), "umbrella"));
        assertThat(NOTHING.resolve(Map.of("QM_TENANT", "initech", "QM_SERVER", " "), file))
                .isEqualTo(new ServerContext("one", URI.create("https://one.example.org"), "initech"));
    }

    @Test
    void aContextOfAnOptionGoesBeforeEveryVariable() {
        Map<String, String> variables =
                Map.of("QM_SERVER", "https://three.example.org", "QM_TENANT", "initech", "QM_CONTEXT", "one");

        assertThat(new TargetChoice("two", null, null).resolve(variables, file))
                .isEqualTo(new ServerContext("two", URI.create("https://two.example.org"), "globex"));
        assertThat(new TargetChoice("two", null, "acme").resolve(variables, file))
                .isEqualTo(new ServerContext("two", URI.create("https://two.example.org"), "acme"));
    }

    @Test
    void onlyThisMachineIsReachedWithoutANetwork() {
        for (String here : new String[] {"http://localhost:8080", "http://127.0.0.9", "http://[::1]", "https://a.b"}) {
            assertThat(ServerContext.isUnencrypted(URI.create(here))).as(here).isFalse();
        }
        for (String away : new String[] {"http://a.b", "http://127.example.org", "http://127.0.0.1.example.org"}) {
            assertThat(ServerContext.isUnencrypted(URI.create(away))).as(away).isTrue();
        }
    }

    @Test
    void anEncryptedServerSendsNobodyToAPlainSignIn() {
        URI encrypted = URI.create("https://qm.example.org");

        assertThatThrownBy(() -> RealmLogin.requireEncryption(encrypted, "http://id.example.org/realms/acme"))
                .hasMessageContaining("its sign-in is at http://id.example.org/realms/acme, which is not");
        RealmLogin.requireEncryption(encrypted, "https://id.example.org/realms/acme");
        RealmLogin.requireEncryption(URI.create("http://localhost:8080"), "http://localhost:8081/realms/acme");
    }

    @Test
    void whatIsMissingOrWrongIsNamed(@TempDir Path empty) {
        ContextFile none = new ContextFile(empty);

        assertThatThrownBy(() -> NOTHING.resolve(Map.of(), none)).hasMessageStartingWith("no server is chosen");
        assertThatThrownBy(() -> NOTHING.resolve(Map.of("QM_SERVER", "https://a"), none))
                .hasMessageStartingWith("no tenant is chosen");
        assertThatThrownBy(() -> NOTHING.resolve(Map.of("QM_SERVER", "a b", "QM_TENANT", "acme"), none))
                .hasMessageStartingWith("\"a b\" is not the address of a server");
        assertThatThrownBy(() -> new TargetChoice("three", null, null).resolve(Map.of(), file))
                .hasMessage("there is no context three; known contexts: one, two");
    }
}
