package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.client.settings.SavedLogin;
import io.quartermaster.client.settings.TokenFile;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Contexts, tokens and logins, and where tokens are sent. */
class SignInTest extends CommandTest {

    @Test
    void contextsAreKeptInTheFolder(@TempDir Path home) {
        ClientRun person = new ClientRun(home);

        assertThat(person.run("context", "add", "a", "--server", api.url(), "--tenant", "acme")
                        .exitCode())
                .isZero();
        assertThat(person.run(
                                "context",
                                "add",
                                "b",
                                "--server",
                                "http://qm.example.org",
                                "--tenant",
                                "globex",
                                "--keep")
                        .err())
                .contains("is not encrypted");
        assertThat(person.run("context", "-o", "name").out()).isEqualTo("a\nb\n");
        assertThat(person.run("context", "use", "b").exitCode()).isZero();
        assertThat(person.run("context", "list").out()).containsPattern("\\* +b +globex +http://qm.example.org +no");
        assertThat(person.run("context", "remove", "a").exitCode()).isZero();
        assertThat(person.run("context", "-o", "name").line()).isEqualTo("b");
    }

    @Test
    void anExpiredTokenIsRenewedAndStored(@TempDir Path home) {
        ClientRun person = new ClientRun(home).with("QM_SERVER", api.url()).with("QM_TENANT", "acme");
        TokenFile tokens = new TokenFile(person.folder());
        tokens.put(
                URI.create(api.url()),
                "acme",
                new SavedLogin("i", api.url() + "/token", null, "qm-cli", null, "old", 1, "refresh-1"));
        api.given("POST /token", 200, "{\"access_token\":\"new\",\"expires_in\":300,\"refresh_token\":\"refresh-2\"}")
                .given("GET " + WORKLOADS + "/" + ID, 200, "{\"workload\":" + WORKLOAD + "}");

        assertThat(person.run("show", "-o", "name", ID).line()).isEqualTo(ID);

        assertThat(api.requests().getFirst().body())
                .isEqualTo("client_id=qm-cli&grant_type=refresh_token&refresh_token=refresh-1");
        assertThat(api.requests().getLast().authorization()).isEqualTo("Bearer new");
        assertThat(tokens.find(URI.create(api.url()), "acme").orElseThrow().refreshToken())
                .isEqualTo("refresh-2");
    }

    @Test
    void aLoginThatEndedSaysHowToSignIn(@TempDir Path home) {
        ClientRun person = new ClientRun(home).with("QM_SERVER", api.url()).with("QM_TENANT", "acme");
        assertThat(person.run("list").err()).contains("you are not signed in to tenant acme", "qm login");
        new TokenFile(person.folder())
                .put(
                        URI.create(api.url()),
                        "acme",
                        new SavedLogin("i", api.url() + "/token", null, "qm-cli", null, "old", 1, "refresh-1"));
        api.given("POST /token", 400, "{\"error\":\"invalid_grant\"}");

        ClientRun.Result result = person.run("list");

        assertThat(result.exitCode()).isEqualTo(3);
        assertThat(result.err()).contains("your login to tenant acme").contains("has ended. Run: qm login");
    }

    @Test
    void aTokenOfAnotherFormIsRefusedAndNotPrinted() {
        ClientRun.Result result = client.with("QM_TOKEN", "secret\u0001 \u00e9").run("list", "--debug");

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err())
                .startsWith("qm: QM_TOKEN is not an access token")
                .doesNotContain("secret");
        assertThat(api.requests()).isEmpty();
    }

    @Test
    void aTokenIsSentToANamedServerOnlyIfItIsOneOfTheTenant() {
        api.given("GET " + WORKLOADS + "/" + ID, 200, "{\"workload\":" + WORKLOAD + "}");
        client.with("QM_SERVER", "http://127.0.0.1:1").with("QM_TOKEN", token("other", "jo"));

        ClientRun.Result refused = client.run("show", ID, "-o", "name", "--server", api.url());
        ClientRun.Result sent =
                client.with("QM_TOKEN", token("acme", "jo")).run("show", ID, "-o", "name", "--server", api.url());

        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.err()).startsWith("qm: the token in QM_TOKEN is not one of tenant acme");
        assertThat(sent.line()).as(sent.err()).isEqualTo(ID);
        assertThat(api.requests()).hasSize(1);
    }

    @Test
    void aContextOfAnOptionGoesBeforeVariables() {
        client.run("context", "add", "mine", "--server", api.url(), "--tenant", "acme");
        api.given("GET " + WORKLOADS + "/" + ID, 200, "{\"workload\":" + WORKLOAD + "}");

        ClientRun.Result result = client.with("QM_SERVER", "http://127.0.0.1:1")
                .with("QM_TENANT", "other")
                .with("QM_TOKEN", token("acme", "jo"))
                .run("show", ID, "-o", "name", "--context", "mine");

        assertThat(result.line()).as(result.err()).isEqualTo(ID);
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 403})
    void aRealmThatCannotRenewNowEndsNoLogin(int status, @TempDir Path home) {
        ClientRun person = new ClientRun(home).with("QM_SERVER", api.url()).with("QM_TENANT", "acme");
        new TokenFile(person.folder())
                .put(
                        URI.create(api.url()),
                        "acme",
                        new SavedLogin("i", api.url() + "/token", null, "qm-cli", null, "old", 1, "refresh-1"));
        api.given("POST /token", status, "too many", Map.of("Retry-After", "0"));

        ClientRun.Result result = person.run("wait", ID, "--timeout", "0s");

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).contains("cannot renew the login now (HTTP " + status + ")");
    }

    @Test
    void aLoginAtAnEncryptedServerIsNotRenewedInPlainText(@TempDir Path home) {
        String server = "https://127.0.0.1:1";
        ClientRun person = new ClientRun(home).with("QM_SERVER", server).with("QM_TENANT", "acme");
        new TokenFile(person.folder())
                .put(
                        URI.create(server),
                        "acme",
                        new SavedLogin("i", api.url() + "/token", null, "qm-cli", null, "old", 1, "refresh-1"));

        assertThat(person.run("list").err()).contains(api.url() + "/token, which is not");
        assertThat(api.requests()).isEmpty();
    }
}
