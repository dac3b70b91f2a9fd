package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Commands that wait for a job, explain it, or print its output. */
class WatchCommandsTest extends CommandTest {

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
}
