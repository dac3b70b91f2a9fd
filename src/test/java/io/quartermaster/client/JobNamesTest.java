package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** How a person names a job. */
class JobNamesTest extends CommandTest {

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
}
