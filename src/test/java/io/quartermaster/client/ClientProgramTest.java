package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.client.settings.SavedLogin;
import io.quartermaster.client.settings.TokenFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Options, exit codes, outputs and repetitions of people's commands, against prepared answers. */
class ClientProgramTest {

    private static final String ID = "019ab1c2-d3e4-7000-8000-000000000001";
    private static final String WORKLOADS = "/v1/tenants/acme/workloads";
    private static final String WORKLOAD = "{\"id\":\"" + ID
            + "\",\"name\":\"train\",\"queue\":\"q\",\"submittedBy\":\"jo\",\"state\":\"waiting\",\"gpus\":\"1\","
            + "\"submittedAt\":\"2026-12-01T08:00:00Z\"}";

    private FakeApi api;
    private ClientRun client;

    @BeforeEach
    void start(@TempDir Path home) throws IOException {
        api = new FakeApi();
        client = new ClientRun(home)
                .with("QM_SERVER", api.url())
                .with("QM_TENANT", "acme")
                .with("QM_TOKEN", "a-token");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private static List<CommandSpec> commands() {
        CommandLine root = ClientProgram.commandLine(new io.quartermaster.client.commands.ClientEnvironment(
                Map.of(), "/", java.io.InputStream.nullInputStream(), false, false));
        List<CommandSpec> all = new ArrayList<>();
        root.getSubcommands().forEach((name, command) -> {
            if (!name.equals("help")) {
                all.add(command.getCommandSpec());
                command.getSubcommands().values().forEach(below -> all.add(below.getCommandSpec()));
            }
        });
        return all;
    }

    @Test
    void everyCommandHasFormatsAnExampleAndExitCodes() {
        assertThat(commands()).hasSizeGreaterThan(18).allSatisfy(command -> {
            String help = command.commandLine().getUsageMessage(CommandLine.Help.Ansi.OFF);
            assertThat(command.findOption("-o")).as(command.qualifiedName()).isNotNull();
            assertThat(help)
                    .as(command.qualifiedName())
                    .containsPattern("Examples?:\\s+" + command.qualifiedName())
                    .contains("Exit codes:", "  3 ", "  6 ")
                    .doesNotContain("%n", "${");
            assertThat(command.usageMessage().description()).isNotEmpty();
        });
    }

    @Test
    void everyOptionIsDescribed() {
        assertThat(commands()).allSatisfy(command -> assertThat(command.options())
                .allSatisfy(option -> assertThat(option.description())
                        .as(command.qualifiedName() + " " + option.longestName())
                        .isNotEmpty()));
    }

    @Test
    void completionNamesEveryCommandAndOption() {
        for (String shell : List.of("bash", "zsh", "fish")) {
            String script = client.run("completion", shell).out();
            for (CommandSpec command : commands()) {
                assertThat(script).as(shell).contains(command.name());
            }
            assertThat(script).as(shell).contains("max-runtime");
        }
        assertThat(client.run("completion", "tcsh").exitCode()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"401,3", "403,5", "404,4", "409,5", "422,5", "400,5", "500,6"})
    void aProblemEndsTheCommandWithItsTextAndTheCodeOfItsKind(int status, int exitCode) {
        api.given(
                "GET " + WORKLOADS + "/" + ID,
                status,
                "{\"code\":\"c\",\"detail\":\"what is wrong\",\"errors\":[{\"field\":\"f\",\"message\":\"m\",\"accepted\":\"a\"}]}");

        ClientRun.Result result = client.run("show", ID);

        assertThat(result.exitCode()).isEqualTo(exitCode);
        assertThat(result.out()).isEmpty();
        assertThat(result.err())
                .isEqualTo(
                        status == 401
                                ? "qm: the service does not accept the token in QM_TOKEN; it may have expired\n"
                                : "qm: what is wrong\n  f: m; accepted: a\n");
    }

    @Test
    void theRequestIdIsPrintedForDebuggingOnly() {
        api.given("GET " + WORKLOADS + "/" + ID, 404, "{\"detail\":\"nothing here\"}");

        assertThat(client.run("show", ID).err()).doesNotContain("request-");
        assertThat(client.run("show", ID, "--debug").err())
                .contains("GET " + api.url() + WORKLOADS + "/" + ID + ": 404 after ")
                .contains("  request id: request-2")
                .doesNotContain("a-token");
    }

    @Test
    void aServiceThatDoesNotAnswerHasItsOwnCode() {
        api.close();

        ClientRun.Result result = client.run("show", ID);

        assertThat(result.exitCode()).isEqualTo(6);
        assertThat(result.err())
                .startsWith("qm: " + api.url() + " does not answer")
                .doesNotContain("\tat ");
    }

    @Test
    void anUnavailableServiceIsAskedAgainWithTheSameKey() {
        api.given(
                        "POST " + WORKLOADS,
                        503,
                        "{\"code\":\"unavailable\",\"detail\":\"later\"}",
                        Map.of("Retry-After", "0"))
                .given("POST " + WORKLOADS, 201, "{\"id\":\"" + ID + "\",\"name\":\"train.py\"}");

        ClientRun.Result result = client.run("submit", "-q", "q", "-o", "name", "--", "python", "train.py");

        assertThat(result.line()).isEqualTo(ID);
        assertThat(api.requests()).hasSize(2);
        assertThat(api.requests().stream().map(FakeApi.Request::idempotencyKey).distinct())
                .singleElement()
                .asString()
                .hasSizeGreaterThan(20);
    }

    @Test
    void aFullQueueIsARefusalThatIsNotRepeated() {
        api.given(
                "POST " + WORKLOADS,
                429,
                "{\"code\":\"queue-full\",\"detail\":\"queue q is full\"}",
                Map.of("Retry-After", "1"));

        ClientRun.Result result = client.run("submit", "-q", "q", "--", "true");

        assertThat(result.exitCode()).isEqualTo(5);
        assertThat(api.requests()).hasSize(1);
    }

    @Test
    void optionsAndFilesMakeOneBody(@TempDir Path folder) throws Exception {
        api.given("POST " + WORKLOADS, 201, "{\"id\":\"" + ID + "\",\"name\":\"n\"}");
        Path file = Files.writeString(
                folder.resolve("job.yaml"),
                "queue: other\nname: from-file\ngpus: 1\nenvironment: {A: x, B: y}\ncommand: [a]\n");
        client.with("OWN", "mine");

        ClientRun.Result result = client.run(
                "submit",
                "-f",
                file.toString(),
                "-q",
                "q",
                "--gpus",
                "4",
                "-e",
                "B=z=1",
                "-e",
                "OWN",
                "-l",
                "team=nlp",
                "--max-runtime",
                "2h",
                "--no-preemptible",
                "--on-stop",
                "save now",
                "--hold",
                "python",
                "train.py",
                "--lr",
                "3");

        assertThat(result.err()).doesNotContain("error");
        assertThat(new ObjectMapper().readTree(api.requests().getFirst().body()))
                .isEqualTo(new ObjectMapper().readTree("""
                        {"queue":"q","name":"from-file","type":"training","gpus":"4","maxRuntime":"PT2H","hold":true,
                         "preemptible":false,"environment":{"A":"x","B":"z=1","OWN":"mine"},"labels":{"team":"nlp"},
                         "abortCallback":["sh","-c","save now"],"command":["python","train.py","--lr","3"]}"""));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "submit -- true                         | no queue is given",
                "submit -q q                            | no command is given",
                "submit -q q --max-runtime 2x -- true   | --max-runtime: \"2x\" is not a duration",
                "submit -q q -e NOT_MINE -- true        | --env NOT_MINE is not KEY=VALUE, and you have no variable",
                "submit -q q -l a -- true               | --label a is not KEY=VALUE",
                "submit -q q --wait --follow -- true    | Error: --wait, --follow are mutually exclusive",
                "submit -q q --wait --dry-run -- true   | --wait and --follow are for one job",
                "submit -f /no/such/file                | cannot read /no/such/file",
                "submit -q q -o pretty -- true          | Invalid value for option '--output'",
                "submit --que q                         | Unknown option: '--que'",
                "subnit                                 | Unmatched argument at index 0: 'subnit'",
                "try                                    | no queue is given",
                "top --interval 0s                      | --interval is at least 1s",
                "clone x y                              | qm clone takes one job; the words of another command follow --",
                "clone x y -- z                         | qm clone takes one job; the words of another command follow --",
                "submit -q q --idempotency-key \u00e9 -- a   | --idempotency-key is 1 to 255 characters of ASCII",
                "submit -q q -- a\uFFFDb                 | the letters of \"a\uFFFDb\" are not those of your locale",
                "clone x --workers 2                    | --workers is not for a clone",
                "clone x --wait --dry-run               | --wait and --follow are for a job",
                "edit x                                 | nothing to change is given",
                "edit x -l a                            | --label a is not KEY=VALUE",
                "cancel                                 | Missing required parameter: 'JOB'",
                "cancel x --grace soon                  | --grace: \"soon\" is not a duration",
                "context add a                          | qm context add needs --server URL and --tenant TENANT",
                "context use nowhere                    | there is no context nowhere; add one with qm context add",
                "login --client-id a                    | --client-id needs the client's secret",
            })
    void aWrongUseIsRefusedBeforeAnyRequest(String arguments, String message) {
        ClientRun.Result result = client.run(arguments.split(" +"));

        assertThat(result.err()).startsWith("qm: " + message).doesNotContain("\tat ", "Usage:");
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(api.requests()).isEmpty();
    }

    @Test
    void eachFormatOfAList() {
        api.given(
                "GET " + WORKLOADS + "?pageSize=51&state=held%2Cwaiting%2Cpaused%2Cstarting%2Crunning%2Cstopping",
                200,
                "{\"items\":[" + WORKLOAD + "]}");

        assertThat(client.run("list", "-o", "name").line()).isEqualTo(ID);
        assertThat(client.run("list", "-o", "yaml").line()).startsWith("items:\n  - id: " + ID + "\n");
        assertThat(client.run("list", "-o", "JSON").line()).startsWith("{\n  \"items\" : [");
        assertThat(client.run("list").out())
                .matches("ID +NAME +QUEUE +BY +STATE +GPUS +SUBMITTED +RAN +REASON\\n"
                        + "019ab1c2-d3e4 +train +q +jo +waiting +1 +[a-z0-9 ]+ +- +-\\n");
    }

    @Test
    void aJobIsNamedByIdBeginningOfIdOrName() {
        String other = ID.replace("7000", "7001");
        api.given("GET " + WORKLOADS + "?name=train&pageSize=500", 200, "{\"items\":[" + WORKLOAD + "]}")
                .given("GET " + WORKLOADS + "?name=019AB1C2-d3e4-7000&pageSize=500", 200, "{\"items\":[]}")
                .given("GET " + WORKLOADS + "?name=019ab1&pageSize=500", 200, "{\"items\":[]}")
                .given("GET " + WORKLOADS + "?name=tra&pageSize=500", 200, "{\"items\":[" + WORKLOAD + "]}")
                .given(
                        "GET " + WORKLOADS + "?pageSize=500",
                        200,
                        "{\"items\":[" + WORKLOAD + "," + WORKLOAD.replace(ID, other) + "]}")
                .given("GET " + WORKLOADS + "/" + ID, 200, "{\"workload\":" + WORKLOAD + "}");

        for (String name : List.of(ID, "train", "019AB1C2-d3e4-7000")) {
            assertThat(client.run("show", "-o", "name", name).line()).as(name).isEqualTo(ID);
        }
        assertThat(client.run("show", "019ab1").err()).contains("2 jobs whose id begins with 019ab1", ID, other);
        assertThat(client.run("show", "tra").err()).startsWith("qm: there is no job tra.");
        assertThat(client.run("show", "tra").exitCode()).isEqualTo(4);
    }

    @Test
    void aNameStandsForTheJobThatHasNotEnded() {
        String other = ID.replace("7000", "7001");
        String ended = WORKLOAD.replace("waiting", "failed").replace(ID, other);
        api.given("GET " + WORKLOADS + "?name=train&pageSize=500", 200, "{\"items\":[" + ended + "," + WORKLOAD + "]}")
                .given("GET " + WORKLOADS + "/" + ID, 200, "{\"workload\":" + WORKLOAD + "}");

        assertThat(client.run("show", "-o", "name", "train").line()).isEqualTo(ID);
    }

    @Test
    void aWaitEndsWithTheOutcomeOrWhenItsTimeIsOver() {
        String running = WORKLOAD.replace("waiting", "running");
        String cancelled = WORKLOAD.replace("waiting", "cancelled");
        api.given("GET " + WORKLOADS + "/" + ID, 200, "{\"workload\":" + WORKLOAD + "}")
                .given("GET " + WORKLOADS + "/" + ID, 200, "{\"workload\":" + running + "}")
                .given("GET " + WORKLOADS + "/" + ID, 200, "{\"workload\":" + running + "}")
                .given("GET " + WORKLOADS + "/" + ID, 200, "{\"workload\":" + cancelled + "}");

        ClientRun.Result started = client.run("wait", ID, "--for", "started");
        ClientRun.Result late = client.run("wait", ID, "--timeout", "0s");
        ClientRun.Result ended = client.run("wait", ID);

        assertThat(started.out()).isEqualTo("train running\n");
        assertThat(started.exitCode()).isZero();
        assertThat(late.err()).isEqualTo("qm: train is still running after 0s\n");
        assertThat(ended.out()).isEqualTo("train cancelled\n");
        assertThat(List.of(late.exitCode(), ended.exitCode())).containsExactly(1, 1);
    }

    @Test
    void aCloneSendsWhatDiffers() throws Exception {
        api.given("POST " + WORKLOADS + "/" + ID + "/clone", 201, "{\"id\":\"" + ID + "\",\"name\":\"again\"}");

        ClientRun.Result result = client.run(
                "clone", ID, "--name", "again", "-e", "SEED=8", "--max-runtime", "90m", "-o", "name", "--", "a", "-b");

        assertThat(result.line()).as(result.err()).isEqualTo(ID);
        assertThat(new ObjectMapper().readTree(api.requests().getFirst().body()))
                .isEqualTo(new ObjectMapper().readTree("""
                        {"name":"again","environment":{"SEED":"8"},"maxRuntime":"PT1H30M","command":["a","-b"]}"""));
    }

    @Test
    void anEditIsAPatchOfTheVersionThatWasRead() throws Exception {
        api.given("GET " + WORKLOADS + "/" + ID, 200, "{\"workload\":" + WORKLOAD + "}", Map.of("ETag", "\"7\""))
                .given("PATCH " + WORKLOADS + "/" + ID, 200, WORKLOAD);

        ClientRun.Result result =
                client.run("edit", ID, "--priority", "60", "--max-runtime", "none", "-l", "a=1", "--remove-label", "b");

        assertThat(result.out()).as(result.err()).isEqualTo("train is changed.\n");
        FakeApi.Request patch = api.requests().getLast();
        assertThat(patch.method()).isEqualTo("PATCH");
        assertThat(patch.ifMatch()).isEqualTo("\"7\"");
        assertThat(new ObjectMapper().readTree(patch.body())).isEqualTo(new ObjectMapper().readTree("""
                        {"priority":60,"maxRuntime":null,"labels":{"b":null,"a":"1"}}"""));
    }

    @Test
    void logsThatLookLikeJsonStayText() {
        api.givenText("GET " + WORKLOADS + "/" + ID + "/logs?bytes=65536", "12 of {\"a\":1}\n");

        assertThat(client.run("logs", ID).out()).isEqualTo("12 of {\"a\":1}\n");
    }

    @Test
    void aFailedJobEndsAWaitWithOne() {
        String failed = WORKLOAD.replace("waiting", "failed").replace("}", ",\"endReason\":\"exit code 3\"}");
        api.given("POST " + WORKLOADS, 201, "{\"id\":\"" + ID + "\",\"name\":\"train\"}")
                .given("GET " + WORKLOADS + "/" + ID, 200, "{\"workload\":" + WORKLOAD + ",\"attempts\":[]}")
                .given("GET " + WORKLOADS + "/" + ID, 200, "{\"workload\":" + failed + ",\"attempts\":[]}");

        ClientRun.Result result = client.run("submit", "-q", "q", "--wait", "--", "false");

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).contains("train: waiting\n", "train: failed (exit code 3)\n");
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
    void explanationsSpeakInLocalTimesAndNameTheHolders() {
        api.given("GET " + WORKLOADS + "/" + ID + "/explain", 200, """
                {"sentence":"train waits. Forecast: it starts at 2020-01-01 08:00:00 UTC.","reasons":[{"pool":"a"},
                  {"pool":"b","sentence":"No room.","remedy":"Wait."}],
                 "position":{"aheadInQueue":2,"waitingInQueue":5,"aheadInGroup":3},
                 "outlook":{"pools":[{"pool":"a","heldByOthers":true,
                   "holders":[{"name":"big","submittedBy":"kim","queue":"q"}]}]}}""");

        assertThat(client.run("why", ID).out())
                .doesNotContain("UTC")
                .contains(
                        "In pool b: No room. Wait.\n",
                        "Position: 3 of 5 in its queue; 3 of its group before it.\n",
                        "In pool a these hold GPUs that it needs: big (kim, q), and work of other tenants.\n");
    }

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

    /** A token without a signature, of a realm and a person. */
    private static String token(String tenant, String username) {
        String claims = "{\"iss\":\"https://id.example.org/realms/" + tenant + "\",\"preferred_username\":\"" + username
                + "\"}";
        return "e30."
                + Base64.getUrlEncoder().withoutPadding().encodeToString(claims.getBytes(StandardCharsets.UTF_8))
                + ".e30";
    }

    @Test
    void noWordIsReplacedByAFile(@TempDir Path folder) throws Exception {
        api.given("POST " + WORKLOADS, 201, "{\"id\":\"" + ID + "\",\"name\":\"n\"}");
        String word = "@" + Files.writeString(folder.resolve("file"), "--hold\nsecret\n");

        client.run("submit", "-q", "q", "-e", word + "=" + word, "-l", "l=@@x", "--", "sh", word, "@@x");

        assertThat(new ObjectMapper().readTree(api.requests().getFirst().body()))
                .isEqualTo(new ObjectMapper().readTree("""
                        {"queue":"q","environment":{"WORD":"WORD"},"labels":{"l":"@@x"},"name":"file","type":"training",
                         "command":["sh","WORD","@@x"]}""".replace("WORD", word)));
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

    @Test
    void noTextOfTheServiceSteersTheTerminal() {
        String escape = "\\u001b]0;x\\u0007";
        api.given(
                        "GET " + WORKLOADS + "/" + ID,
                        200,
                        "{\"workload\":"
                                + WORKLOAD.replace("\"waiting\"", "\"waiting\",\"reason\":\"r" + escape + "\"")
                                        .replace(
                                                "\"submittedAt\"",
                                                "\"labels\":{\"l\":\"" + escape + "\"},\"submittedAt\"")
                                + ",\"environment\":{\"A\":\"" + escape + "\"}}")
                .given("GET " + WORKLOADS + "/" + ID + "/explain", 200, "{\"sentence\":\"a" + escape + "\"}")
                .given("POST /v1/tenants/acme/simulations", 200, "{\"warnings\":[\"w" + escape + "\"]}")
                .given(
                        "POST " + WORKLOADS + "/" + ID + "/cancel",
                        409,
                        "{\"detail\":\"d" + escape + "\",\"errors\":[{\"field\":\"" + escape
                                + "\",\"message\":\"m\"}]}");

        List<ClientRun.Result> results = List.of(
                client.run("show", ID), client.run("why", ID), client.run("try", "-q", "q"), client.run("cancel", ID));

        assertThat(results).allSatisfy(result -> assertThat(result.out() + result.err())
                .contains("\uFFFD")
                .doesNotContain("\u001b", "\u0007"));
    }

    @Test
    void aNameStandsForOnesOwnJobFirst() {
        String other = ID.replace("7000", "7001");
        String ended = WORKLOAD.replace("waiting", "failed");
        String others = WORKLOAD.replace(ID, other).replace("\"jo\"", "\"kim\"");
        String longer = WORKLOAD.replace("\"train\"", "\"train-2\"");
        client.with("QM_TOKEN", token("acme", "jo"));
        api.given(
                        "GET " + WORKLOADS + "?name=train&pageSize=500&submittedBy=jo",
                        200,
                        "{\"items\":[" + longer + "],\"nextPageToken\":\"t\"}")
                .given(
                        "GET " + WORKLOADS + "?name=train&pageSize=500&pageToken=t&submittedBy=jo",
                        200,
                        "{\"items\":[" + ended + "]}")
                .given(
                        "GET " + WORKLOADS + "?name=train&pageSize=500",
                        200,
                        "{\"items\":[" + others + "," + ended + "]}")
                .given("POST " + WORKLOADS + "/" + ID + "/clone", 201, "{\"id\":\"new\",\"name\":\"train\"}");

        assertThat(client.run("clone", "train", "-o", "name").line()).isEqualTo("new");
    }

    @Test
    void anotherPersonsJobIsChangedByItsIdOnly() {
        String others = WORKLOAD.replace("\"jo\"", "\"kim\"");
        client.with("QM_TOKEN", token("acme", "jo"));
        api.given("GET " + WORKLOADS + "?name=train&pageSize=500&submittedBy=jo", 200, "{\"items\":[]}")
                .given("GET " + WORKLOADS + "?name=train&pageSize=500", 200, "{\"items\":[" + others + "]}")
                .given("GET " + WORKLOADS + "/" + ID, 200, "{\"workload\":" + others + "}")
                .given("POST " + WORKLOADS + "/" + ID + "/cancel", 200, others.replace("waiting", "cancelled"));

        assertThat(client.run("show", "train", "-o", "name").line()).isEqualTo(ID);
        for (String command : List.of("clone", "cancel", "hold", "release")) {
            ClientRun.Result refused = client.run(command, "train");
            assertThat(refused.exitCode()).as(command).isEqualTo(4);
            assertThat(refused.err())
                    .isEqualTo(
                            "qm: you have no job named train; one of kim has that name. If you mean it, give its id: "
                                    + ID + "\n");
        }
        assertThat(client.run("edit", "train", "--priority", "1").exitCode()).isEqualTo(4);
        assertThat(client.run("cancel", ID).out()).isEqualTo("train is cancelled.\n");
    }

    @Test
    void aNameThatBeginsAnIdIsAmbiguous() {
        String other = ID.replace("7000", "7001");
        String named = WORKLOAD.replace(ID, other).replace("\"train\"", "\"019ab1c2-d3e4-7000\"");
        api.given("GET " + WORKLOADS + "?name=019ab1c2-d3e4-7000&pageSize=500", 200, "{\"items\":[" + named + "]}")
                .given("GET " + WORKLOADS + "?pageSize=500", 200, "{\"items\":[" + named + "," + WORKLOAD + "]}");

        ClientRun.Result result = client.run("show", "019ab1c2-d3e4-7000");

        assertThat(result.exitCode()).isEqualTo(4);
        assertThat(result.err())
                .startsWith("qm: 2 jobs have the name 019ab1c2-d3e4-7000 or an id that begins with it")
                .contains(ID, other);
    }

    @Test
    void aWaitOutlivesAnOutage() {
        String done = WORKLOAD.replace("waiting", "succeeded");
        api.given("GET " + WORKLOADS + "/" + ID, 500, "{\"detail\":\"a fault\"}")
                .given("GET " + WORKLOADS + "/" + ID, 200, "{\"workload\":" + done + "}");

        ClientRun.Result result = client.run("wait", ID);

        assertThat(result.out()).isEqualTo("train succeeded\n");
        assertThat(result.err()).isEqualTo("qm: a fault; asking again for 10m\n");
    }

    @Test
    void aWaitWithATimeoutEndsAnOutageWithIt() {
        api.given("GET " + WORKLOADS + "/" + ID, 500, "{\"detail\":\"a fault\"}");

        ClientRun.Result result = client.run("wait", ID, "--timeout", "1s");

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).endsWith("qm: the end is not known after 1s: a fault\n");
        assertThat(api.requests()).hasSizeBetween(2, 3);
    }

    @Test
    void aSubmissionWhoseAnswerIsLostCanBeRepeatedUnderItsKey() {
        api.given("POST " + WORKLOADS, 500, "{\"detail\":\"a fault\"}")
                .given("POST " + WORKLOADS, 201, "{\"id\":\"" + ID + "\",\"name\":\"true\"}");

        ClientRun.Result lost = client.run("submit", "-q", "q", "--", "true");
        String key = api.requests().getFirst().idempotencyKey();
        ClientRun.Result repeated =
                client.run("submit", "-q", "q", "--idempotency-key", key, "-o", "name", "--", "true");

        assertThat(lost.exitCode()).isEqualTo(6);
        assertThat(lost.err())
                .isEqualTo("qm: a fault\n  it may have been submitted; repeat the command with --idempotency-key " + key
                        + "\n");
        assertThat(repeated.line()).isEqualTo(ID);
        assertThat(api.requests().getLast().idempotencyKey()).isEqualTo(key);
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

    @Test
    void theWorstOfSeveralFailuresIsTheExitCode() {
        String other = ID.replace("7000", "7001");
        api.given("POST " + WORKLOADS + "/" + ID + "/hold", 500, "{\"detail\":\"a fault\"}")
                .given("POST " + WORKLOADS + "/" + other + "/hold", 409, "{\"detail\":\"no\"}");

        assertThat(client.run("hold", ID, other).exitCode()).isEqualTo(6);
    }

    @Test
    void anOutputThatCannotBeWrittenIsAFailure(@TempDir Path home) {
        CommandLine line = ClientProgram.commandLine(new io.quartermaster.client.commands.ClientEnvironment(
                Map.of("XDG_CONFIG_HOME", home.toString()),
                home.toString(),
                java.io.InputStream.nullInputStream(),
                false,
                false));
        Writer full = Writer.nullWriter();
        StringWriter err = new StringWriter();
        try {
            full.close();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        line.setOut(new PrintWriter(full)).setErr(new PrintWriter(err));

        assertThat(line.execute("context", "list", "-o", "json")).isEqualTo(1);
        assertThat(err).hasToString("qm: the output could not be written\n");
    }

    @Test
    void optionsAddToAMappingOnly(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("job.yaml"), "queue: q\nenvironment: none\ncommand: [a]\n");

        ClientRun.Result result = client.run("submit", "-f", file.toString(), "-e", "A=1");

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).startsWith("qm: environment in the file is no mapping of names to values");
    }
}
