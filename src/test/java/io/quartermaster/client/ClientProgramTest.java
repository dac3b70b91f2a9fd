package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.client.commands.ClientEnvironment;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Options, exit codes, formats and outputs that all commands of people have, against prepared answers. */
class ClientProgramTest extends CommandTest {

    private static List<CommandSpec> commands() {
        CommandLine root = ClientProgram.commandLine(
                new ClientEnvironment(Map.of(), "/", InputStream.nullInputStream(), false, false));
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
    void theWorstOfSeveralFailuresIsTheExitCode() {
        String other = ID.replace("7000", "7001");
        api.given("POST " + WORKLOADS + "/" + ID + "/hold", 500, "{\"detail\":\"a fault\"}")
                .given("POST " + WORKLOADS + "/" + other + "/hold", 409, "{\"detail\":\"no\"}");

        assertThat(client.run("hold", ID, other).exitCode()).isEqualTo(6);
    }

    @Test
    void anOutputThatCannotBeWrittenIsAFailure(@TempDir Path home) {
        CommandLine line = ClientProgram.commandLine(new ClientEnvironment(
                Map.of("XDG_CONFIG_HOME", home.toString()),
                home.toString(),
                InputStream.nullInputStream(),
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
}
