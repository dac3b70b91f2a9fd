package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.client.output.TextStyle;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Following the output of jobs, against a service that cuts connections off. */
class LogFollowTest {

    private static final String ID = "019ab1c2-d3e4-7000-8000-000000000001";
    private static final String WORKLOAD = "/v1/tenants/acme/workloads/" + ID;
    private static final String STREAM = "GET " + WORKLOAD + "/logs/stream";
    private static final String END = "event: end\nid: 1:0:9\ndata: {\"state\":\"succeeded\"}\n\n";

    private FakeApi api;
    private ClientRun client;

    @BeforeEach
    void start(@TempDir Path home) throws IOException {
        api = new FakeApi();
        client = new ClientRun(home)
                .with("QM_SERVER", api.url())
                .with("QM_TENANT", "acme")
                .with("QM_TOKEN", "a-token");
        api.given(
                "GET " + WORKLOAD,
                200,
                "{\"workload\":{\"id\":\"" + ID + "\",\"name\":\"train\",\"state\":\"succeeded\"},\"attempts\":[]}");
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private static String line(String id, int attempt, int worker, String text, boolean partial) {
        return "event: log\nid: " + id + "\ndata: {\"attempt\":" + attempt + ",\"worker\":" + worker + ",\"line\":\""
                + text + "\",\"partial\":" + partial + "}\n\n";
    }

    @Test
    void aConnectionThatEndsIsMadeAgainAfterTheLastEvent() {
        api.givenEvents(
                        STREAM,
                        ": still here\n\n" + line("1:0:2", 1, 0, "a", false) + line("1:0:4", 1, 0, "b", true)
                                + "event: log\nid: 1:0:6\ndata: {\"att")
                .given(STREAM, 503, "{\"detail\":\"the database is away\"}")
                .given(STREAM, 503, "{\"detail\":\"the database is away\"}")
                .givenEvents(STREAM, line("1:0:6", 1, 0, "c", false) + line("2:0:2", 2, 0, "d", false) + END);

        ClientRun.Result result = client.run("logs", "-f", ID);

        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).isEqualTo("a\nb\nc\nd\n");
        assertThat(result.err())
                .isEqualTo("qm: the output stopped (the database is away); trying again\nqm: attempt 2\n");
        assertThat(api.requests())
                .filteredOn(request -> request.path().endsWith("/logs/stream"))
                .extracting(FakeApi.Request::lastEventId)
                .containsExactly("", "1:0:4", "1:0:4", "1:0:4");
    }

    @Test
    void linesOfSeveralWorkersNameTheirs() {
        api.givenEvents(
                STREAM,
                line("1:0:2", 1, 0, "a", false)
                        + line("1:0:2,1:1:1", 1, 1, "half", true)
                        + line("1:0:4,1:1:1", 1, 0, "b", false)
                        + line("1:0:4,1:1:3", 1, 1, "of it", false)
                        + "event: gap\ndata: {\"attempt\":1,\"worker\":1,\"lostBytes\":12}\n\n"
                        + END);

        ClientRun.Result result = client.run("logs", "-f", ID);

        assertThat(result.out()).isEqualTo("a\n[1] half\n[0] b\n[1] of it\n");
        assertThat(result.err()).isEqualTo("qm: 12 bytes of output came too fast, and are left out here\n");
    }

    @Test
    void aRefusalEndsTheCommand() {
        api.given(STREAM, 403, "{\"detail\":\"this needs the permission workloads:read\"}");

        ClientRun.Result result = client.run("logs", "-f", ID);

        assertThat(result.exitCode()).isEqualTo(5);
        assertThat(result.err()).isEqualTo("qm: this needs the permission workloads:read\n");
    }

    @Test
    void followingTakesNoFormatAndNoTail() {
        assertThat(client.run("logs", "-f", "-o", "json", ID).exitCode()).isEqualTo(2);
        assertThat(client.run("logs", "-f", "--tail", "9", ID).exitCode()).isEqualTo(2);
    }

    @Test
    void onATerminalOutputKeepsItsColoursAndNothingElseThatSteersIt() {
        assertThat(TextStyle.harmless("\u001B[1;32mok\u001B[0m\t50 %\r60 %"))
                .isEqualTo("\u001B[1;32mok\u001B[0m\t50 %\r60 %");
        assertThat(TextStyle.harmless("a\u001B]0;owned\u0007b\u001B[2Jc\u009Bd\u001B["))
                .isEqualTo("a\uFFFD]0;owned\uFFFDb\uFFFD[2Jc\uFFFDd\uFFFD[");
        assertThat(TextStyle.harmlessLines("a\n\u0007\n")).isEqualTo("a\n\uFFFD\n");
    }
}
