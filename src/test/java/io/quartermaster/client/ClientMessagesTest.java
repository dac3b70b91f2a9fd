package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.client.settings.SavedLogin;
import io.quartermaster.client.settings.TokenFile;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The messages of commands about forecasts, refusals and logins, with prepared answers of the API. */
class ClientMessagesTest {

    private static final String ID = "019ab1c2-d3e4-7000-8000-000000000001";
    private static final String OTHER = "019ab1c2-d3e4-7001-8000-000000000002";
    private static final String WORKLOADS = "/v1/tenants/acme/workloads";
    private static final String SIMULATIONS = "POST /v1/tenants/acme/simulations";

    private FakeApi api;
    private ClientRun client;
    private ClientRun person;

    @BeforeEach
    void start(@TempDir Path home, @TempDir Path personsHome) throws IOException {
        api = new FakeApi();
        client = new ClientRun(home)
                .with("QM_SERVER", api.url())
                .with("QM_TENANT", "acme")
                .with("QM_TOKEN", "a-token");
        person = new ClientRun(personsHome);
        person.run("context", "add", "mine", "--server", api.url(), "--tenant", "acme");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private void givenALogin(long expiresAt, String accessToken) {
        new TokenFile(person.folder())
                .put(
                        URI.create(api.url()),
                        "acme",
                        new SavedLogin(
                                "i", api.url() + "/token", null, "qm-cli", null, accessToken, expiresAt, "refresh"));
    }

    @ParameterizedTest
    @CsvSource({"2026-12-02T08:00:00Z,24h", "2026-12-01T09:30:00Z,1h30m", "2026-12-08T08:00:00Z,168h"})
    void aForecastWithoutAStartClaimsNoLaterStart(String until, String horizon) {
        api.given(SIMULATIONS, 200, """
                {"asOf":"2026-12-01T08:00:00Z","until":"%s","complete":true,
                 "workloads":[{"name":"hypothetical","reasons":[]}]}""".formatted(until));

        String answer = client.run("try", "-q", "q").out();

        assertThat(answer)
                .startsWith("No start of the job was found within the next " + horizon + " (until ")
                .contains("running work ends at its maximum run time, and without one not at all")
                .doesNotContain("would not start", "time limit");
    }

    @Test
    void aForecastThatEndedEarlySaysSo() {
        api.given(SIMULATIONS, 200, """
                {"asOf":"2026-12-01T08:00:00Z","until":"2026-12-01T08:10:00Z","complete":false,
                 "workloads":[{"name":"hypothetical","reasons":[]}]}""");

        assertThat(client.run("try", "-q", "q").out())
                .contains("within the next 10m", "The service ended the forecast early, at its time limit.");
    }

    @Test
    void aForecastWithAStartHasNoRemarkOnItsEnd() {
        api.given(SIMULATIONS, 200, """
                {"asOf":"2026-12-01T08:00:00Z","until":"2026-12-02T08:00:00Z","complete":true,
                 "workloads":[{"name":"hypothetical","startsAt":"2026-12-01T08:00:00Z","pool":"p"}]}""");

        assertThat(client.run("try", "-q", "q").out()).isEqualTo("The job would start now in pool p.\n");
    }

    @Test
    void anExplanationSaysThatThereIsNoForecast() {
        api.given("GET " + WORKLOADS + "/" + ID + "/explain", 200, """
                {"sentence":"train waits.","outlook":{"asOf":"2026-12-01T08:00:00Z","pools":[]}}""")
                .given("GET " + WORKLOADS + "/" + OTHER + "/explain", 200, "{\"sentence\":\"train runs.\"}");

        assertThat(client.run("why", ID).out())
                .isEqualTo("train waits.\nThere is no forecast of its start: too little of the running work has a"
                        + " maximum run time.\n");
        assertThat(client.run("why", OTHER).out()).isEqualTo("train runs.\n");
    }

    @ParameterizedTest
    @CsvSource({"running,Started", "waiting,Last start", "failed,Started"})
    void aJobBetweenTwoAttemptsHasALastStart(String state, String label) {
        String end = state.equals("failed") ? ",\"endedAt\":\"2026-12-01T08:30:00Z\"" : "";
        api.given(
                "GET " + WORKLOADS + "/" + ID,
                200,
                "{\"workload\":{\"name\":\"train\",\"state\":\"%s\",\"startedAt\":\"2026-12-01T08:10:00Z\"%s}}"
                        .formatted(state, end));

        assertThat(client.run("show", ID).out()).containsPattern("(?m)^" + label + " +2026-12-01");
    }

    @Test
    void theTokenAloneIsPrintedAndRenewedBefore() {
        givenALogin(1, "old");
        api.given("POST /token", 200, "{\"access_token\":\"new\",\"expires_in\":300}");

        ClientRun.Result token = person.run("token");

        assertThat(token.out()).isEqualTo("new\n");
        assertThat(token.err()).isEmpty();
        assertThat(person.run("token", "-o", "json").out()).contains("\"accessToken\" : \"new\"");
        assertThat(api.requests()).as("one renewal").hasSize(1);
    }

    @Test
    void withoutALoginThereIsNoToken() {
        ClientRun.Result token = person.run("token");

        assertThat(token.exitCode()).isEqualTo(3);
        assertThat(token.out()).isEmpty();
    }

    @Test
    void theWayToSignInIsThatOfTheChosenTenant() {
        givenALogin(Instant.now().getEpochSecond() + 300, "valid");

        assertThat(person.run("queues", "--tenant", "globex").err())
                .isEqualTo("qm: you are not signed in to tenant globex at " + api.url() + ". Run: qm login --server "
                        + api.url() + " --tenant globex\n");
        person.run("logout");
        assertThat(person.run("queues").err()).endsWith(". Run: qm login\n");
        assertThat(person.run("context", "add", "b", "--server", api.url(), "--tenant", "globex", "--keep")
                        .out())
                .endsWith("Sign in with: qm login --server " + api.url() + " --tenant globex\n");
    }

    @Test
    void aServerThatDoesNotAnswerIsNotAskedForALogin() {
        ClientRun.Result result = person.run("queues", "--server", "http://127.0.0.1:1");

        assertThat(result.exitCode()).isEqualTo(6);
        assertThat(result.err())
                .startsWith("qm: http://127.0.0.1:1 does not answer")
                .doesNotContain("login");
    }

    @Test
    void theRemovalOfTheCurrentContextNamesTheOthers() {
        person.run("context", "add", "b", "--server", api.url(), "--tenant", "globex", "--keep");

        assertThat(person.run("context", "remove", "mine").err())
                .isEqualTo("No context is current now. Choose one: qm context use b\n");
        assertThat(person.run("list").err())
                .startsWith("qm: no server is chosen. Choose one of your contexts with qm context use NAME (b), or")
                .endsWith("or set QM_SERVER and QM_TENANT\n");
        assertThat(person.run("context", "remove", "b").err()).isEmpty();
        person.run("context", "add", "c", "--server", api.url(), "--tenant", "globex");
        assertThat(person.run("context", "remove", "c").err())
                .isEqualTo("No context is current now. Add one: qm context add NAME --server URL --tenant TENANT\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "lsit              | Did you mean: list?",
                "subnit            | Did you mean: submit?",
                "canecl            | Did you mean: cancel?",
                "comp              | Did you mean: completion?",
                "context ad        | Did you mean: add?",
                "submit --que q    | Did you mean: --queue?",
                "try --horizont 2h | Did you mean: --horizon?",
            })
    void aSlipOfAFingerIsRecognized(String arguments, String suggestion) {
        ClientRun.Result result = client.run(arguments.split(" +"));

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err().lines()).contains(suggestion);
    }

    @Test
    void aWordThatIsNearNoNameGetsNoSuggestion() {
        assertThat(client.run("frobnicate").err()).doesNotContain("Did you mean");
    }

    @Test
    void formatsAreNamedAsTheyAreTyped() {
        assertThat(client.run("list", "-o", "pretty").err())
                .contains("expected table, json, yaml, name but was 'pretty'");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "priority: out of range | priority | out of range | 0 to 1000 | accepted: 0 to 1000",
                "a user may not | preemptible | a user may not | true | preemptible: accepted: true",
                "there is no such queue, or you may not see it | queue | there is no such queue | the name of an open"
                        + " queue | accepted: the name of an open queue; qm queues lists yours",
                "maxRuntime: out of range | maxRuntime | out of range | an ISO-8601 duration from PT1S to PT8760H |"
                        + " accepted: an ISO-8601 duration from PT1S to PT8760H, that is 1s to 8760h",
                "2 fields are not accepted | name | is missing | one line | name: is missing; accepted: one line",
            })
    void aRefusalIsStatedOnce(String detail, String field, String message, String accepted, String line) {
        api.given(
                "POST " + WORKLOADS,
                422,
                "{\"detail\":\"%s\",\"errors\":[{\"field\":\"%s\",\"message\":\"%s\",\"accepted\":\"%s\"}]}"
                        .formatted(detail, field, message, accepted));

        assertThat(client.run("submit", "-q", "q", "--", "true").err())
                .isEqualTo("qm: " + detail + "\n  " + line + "\n");
    }

    @Test
    void oneOfSeveralJobsIsNamedAsItWasTyped() {
        String workload = "{\"id\":\"" + ID + "\",\"name\":\"sleeper\",\"state\":\"cancelled\",\"submittedBy\":\"jo\"}";
        api.given("GET " + WORKLOADS + "?name=sleeper&pageSize=500", 200, "{\"items\":[" + workload + "]}")
                .given("POST " + WORKLOADS + "/" + ID + "/cancel", 409, "{\"detail\":\"the workload was cancelled\"}")
                .given("POST " + WORKLOADS + "/" + OTHER + "/cancel", 200, workload);

        assertThat(client.run("cancel", "sleeper", OTHER).err()).isEqualTo("qm: sleeper: the job was cancelled\n");
    }

    @Test
    void aCloneCanBeWithoutAMaximumRunTime() throws Exception {
        api.given("POST " + WORKLOADS + "/" + ID + "/clone", 201, "{\"id\":\"" + OTHER + "\",\"name\":\"again\"}");

        assertThat(client.run("clone", ID, "--max-runtime", "none").exitCode()).isZero();
        assertThat(new ObjectMapper().readTree(api.requests().getFirst().body()))
                .isEqualTo(new ObjectMapper().readTree("{\"maxRuntime\":null}"));
    }

    @Test
    void whatIsWrongWithAFileIsSaidWithItsPlace(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("job.yaml"), "queue: q\nname: [a\ncommand: x\n");

        assertThat(client.run("submit", "-f", folder.resolve("none").toString()).err())
                .isEqualTo("qm: cannot read " + folder.resolve("none") + ": no such file\n");
        assertThat(client.run("submit", "-f", file.toString()).err())
                .startsWith("qm: " + file + " is neither YAML nor JSON: line 3, column 8: ");
        assertThat(client.run("submit", "-f", folder.toString()).err()).contains("directory");
    }
}
