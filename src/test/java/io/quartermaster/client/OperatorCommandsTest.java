package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The operator's commands: their requests, tables and refusals. */
class OperatorCommandsTest extends CommandTest {

    private static final String OPERATOR = "/v1/operator";
    private static final String NODE = "{\"name\":\"node-1\",\"pool\":\"h100\",\"cluster\":\"c\",\"contact\":\"up\","
            + "\"schedulable\":true,\"gpus\":[{\"healthy\":true},{\"healthy\":false}],\"agent\":{\"version\":\"1\"},"
            + "\"version\":4}";

    @Test
    void nodesAreListedWithWhatIsWrongWithThem() {
        api.given("GET " + OPERATOR + "/nodes?pageSize=500&pool=h100&schedulable=false", 200, items(NODE));

        ClientRun.Result result = client.run("nodes", "--pool", "h100", "--closed");

        assertThat(result.out()).contains("node-1  h100  c        up       yes       2, 1 not healthy  1      -");
    }

    private static String items(String... items) {
        return "{\"items\":[" + String.join(",", items) + "]}";
    }

    @Test
    void aNodeIsClosedInTheVersionThatItHasAtLast() {
        api.given("GET " + OPERATOR + "/nodes/node-1", 200, NODE, Map.of("ETag", "\"4\""));
        api.given("GET " + OPERATOR + "/nodes/node-1", 200, NODE, Map.of("ETag", "\"5\""));
        api.given("PATCH " + OPERATOR + "/nodes/node-1", 412, "{\"code\":\"changed\",\"detail\":\"stale\"}");
        api.given("PATCH " + OPERATOR + "/nodes/node-1", 200, NODE);
        api.given("GET " + OPERATOR + "/nodes/node-2", 404, "{\"detail\":\"no such node\"}");

        ClientRun.Result result = client.run("nodes", "cordon", "node-2", "node-1");

        assertThat(result.exitCode()).isEqualTo(4);
        assertThat(result.out()).isEqualTo("node-1 takes no new work.\n");
        assertThat(result.err()).isEqualTo("qm: node-2: no such node\n");
        List<FakeApi.Request> changes = api.requests().stream()
                .filter(request -> request.method().equals("PATCH"))
                .toList();
        assertThat(changes).extracting(FakeApi.Request::ifMatch).containsExactly("\"4\"", "\"5\"");
        assertThat(changes).extracting(FakeApi.Request::body).containsOnly("{\"schedulable\":false}");
    }

    @Test
    void aDrainWaitsUntilTheNodeIsEmpty() {
        api.given("GET " + OPERATOR + "/nodes/node-1", 200, NODE, Map.of("ETag", "\"4\""));
        api.given("PATCH " + OPERATOR + "/nodes/node-1", 200, NODE);
        String holder = "{\"workload\":\"w\",\"tenant\":\"acme\"}";
        String fleet = "GET " + OPERATOR + "/fleet?pageSize=500&pool=h100";
        api.given(
                fleet,
                200,
                items("{\"node\":\"node-1\",\"gpus\":[{\"holders\":[" + holder + "]},{\"holders\":[" + holder
                        + "]}],\"withoutGpu\":[]}"));
        api.given(fleet, 200, items("{\"node\":\"node-1\",\"gpus\":[{\"holders\":[]}],\"withoutGpu\":[]}"));

        ClientRun.Result result = client.run("nodes", "drain", "node-1");

        assertThat(result.exitCode()).isZero();
        assertThat(result.err()).isEqualTo("node-1 takes no new work.\nnode-1 has work of 1 job.\nnode-1 is empty.\n");
    }

    @Test
    void aDrainWhoseTimeIsOverNamesTheNodesWithWork() {
        api.given("GET " + OPERATOR + "/nodes/node-1", 200, NODE, Map.of("ETag", "\"4\""));
        api.given("PATCH " + OPERATOR + "/nodes/node-1", 200, NODE);
        api.given(
                "GET " + OPERATOR + "/fleet?pageSize=500&pool=h100",
                200,
                items("{\"node\":\"node-1\",\"gpus\":[],\"withoutGpu\":[{\"workload\":\"w\"}]}"));

        ClientRun.Result result = client.run("nodes", "drain", "node-1", "--timeout", "0s");

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).endsWith("qm: after 0s work is still on node-1. The nodes take no new work\n");
    }

    @Test
    void aCredentialIsPrintedOnce() {
        api.given(
                "POST " + OPERATOR + "/nodes/node-1/credential",
                201,
                "{\"node\":\"node-1\",\"clientId\":\"node-node-1\",\"clientSecret\":\"s3\",\"tokenUrl\":\"http://t\"}");

        ClientRun.Result result = client.run("nodes", "credential", "node-1");

        assertThat(result.out()).isEqualTo("Client    node-node-1\nSecret    s3\nToken URL http://t\n");
        assertThat(result.err()).doesNotContain("s3");
    }

    @Test
    void theFleetIsAGridWithASignForEachGpu() {
        String gpu = "{\"index\":0,\"healthy\":%s,\"free\":\"%s\",\"holders\":[%s]}";
        String acme = "{\"tenant\":\"acme\",\"name\":\"train\",\"gpus\":\"1\",\"group\":\"/v\",\"worker\":0,\"state\":"
                + "\"running\",\"boundAt\":\"2026-11-01T00:00:00Z\"}";
        String umbra = acme.replace("acme", "umbra");
        api.given(
                "GET " + OPERATOR + "/fleet?pageSize=500&pool=h100",
                200,
                items(
                        "{\"node\":\"node-1\",\"pool\":\"h100\",\"up\":true,\"schedulable\":true,\"withoutGpu\":[],\"gpus\":["
                                + String.join(
                                        ",",
                                        gpu.formatted("true", "0", acme),
                                        gpu.formatted("true", "0.5", umbra),
                                        gpu.formatted("true", "0", acme + "," + umbra),
                                        gpu.formatted("true", "1", ""),
                                        gpu.formatted("false", "1", ""))
                                + "]}",
                        "{\"node\":\"n2\",\"pool\":\"h100\",\"up\":true,\"schedulable\":false,\"gpus\":["
                                + gpu.formatted("true", "1", "") + "]}"));

        assertThat(client.run("fleet", "--pool", "h100").out()).isEqualTo("""
                NODE    POOL  STATE   GPUS
                node-1  h100  up      A b * . #
                n2      h100  closed  .

                A acme  B umbra  . free  * several tenants  # not healthy
                6 GPUs, of which 1 takes new work now.
                """);
        assertThat(client.run("fleet", "--pool", "h100", "--jobs").out())
                .contains("node-1  0    1      acme    /v     train  0       running  ");
    }

    @Test
    void tenantsAreSuspendedAndResumed() {
        api.given("GET " + OPERATOR + "/tenants/acme", 200, "{\"id\":\"acme\"}", Map.of("ETag", "\"1\""));
        api.given("PATCH " + OPERATOR + "/tenants/acme", 200, "{\"id\":\"acme\",\"state\":\"suspended\"}");

        assertThat(client.run("tenants", "suspend", "acme").out()).isEqualTo("acme is suspended.\n");
        assertThat(client.run("tenants", "resume", "acme").out()).isEqualTo("acme is active.\n");
        assertThat(api.requests().stream()
                        .filter(request -> request.method().equals("PATCH"))
                        .map(FakeApi.Request::body))
                .containsExactly("{\"state\":\"suspended\"}", "{\"state\":\"active\"}");
    }

    @Test
    void anOffboardingNeedsTheIdTwiceAndEndsWithItsOperation() {
        api.given("DELETE " + OPERATOR + "/tenants/acme", 202, "{\"id\":\"op\",\"steps\":[]}");
        api.given(
                "GET " + OPERATOR + "/operations/op",
                200,
                "{\"id\":\"op\",\"state\":\"running\",\"steps\":[{\"name\":\"realm\",\"state\":\"running\"}]}");
        api.given(
                "GET " + OPERATOR + "/operations/op",
                200,
                "{\"id\":\"op\",\"state\":\"failed\",\"steps\":[],\"error\":{\"step\":\"realm\",\"message\":\"no\"}}");

        ClientRun.Result unconfirmed = client.run("tenants", "offboard", "acme");
        ClientRun.Result other = client.run("tenants", "offboard", "acme", "--confirm", "umbra");
        assertThat(List.of(unconfirmed.exitCode(), other.exitCode())).containsOnly(2);
        assertThat(api.requests()).isEmpty();

        ClientRun.Result failed = client.run("tenants", "offboard", "acme", "--confirm", "acme");

        assertThat(failed.exitCode()).isEqualTo(1);
        assertThat(failed.err()).isEqualTo("realm: running\nqm: operation op failed: realm: no\n");
    }

    @Test
    void tenantsAndAllotmentsAreAppliedInTheirOrder() throws Exception {
        api.given("GET " + OPERATOR + "/tenants/acme", 404, "{}");
        api.given("GET " + OPERATOR + "/tenants/acme/allotments/h100", 404, "{}");
        api.given("POST " + OPERATOR + "/tenants?dryRun=true", 200, "{\"status\":202,\"warnings\":[]}");
        api.given("POST " + OPERATOR + "/tenants", 202, "{\"id\":\"op\",\"steps\":[]}");
        api.given("GET " + OPERATOR + "/operations/op", 200, "{\"id\":\"op\",\"state\":\"succeeded\",\"steps\":[]}");
        String allotment = OPERATOR + "/tenants/acme/allotments/h100";
        api.given("PUT " + allotment + "?dryRun=true", 200, "{\"status\":201,\"warnings\":[\"too much\"]}");
        api.given("PUT " + allotment, 201, "{}");
        String file = file("tenant.yaml", """
                {kind: allotment, name: acme/h100, spec: {reserved: 8, weight: 2}}
                ---
                {kind: tenant, name: acme, spec: {plan: standard, groups: [/v]}}
                """);

        ClientRun.Result result = client.run("tenants", "apply", "-f", file);

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(writes()).containsExactly("POST " + OPERATOR + "/tenants", "PUT " + allotment);
        assertThat(json(request("PUT", allotment).body())).isEqualTo(json("{\"reserved\":\"8\",\"weight\":2}"));
        assertThat(json(request("POST", OPERATOR + "/tenants").body()))
                .isEqualTo(json("{\"id\":\"acme\",\"plan\":\"standard\",\"groups\":[\"/v\"]}"));
    }

    @Test
    void aTenantThatExistsKeepsItsPlan() throws Exception {
        String tenant =
                "{\"id\":\"acme\",\"plan\":\"standard\",\"displayName\":\"Acme\",\"state\":\"%s\",\"version\":1}";
        api.given("GET " + OPERATOR + "/tenants/acme", 200, tenant.formatted("active"));
        String same = file("same.yaml", "{kind: tenant, name: acme, spec: {plan: standard, groups: [/v]}}");
        String other = file("other.yaml", "{kind: tenant, name: acme, spec: {plan: large}}");

        assertThat(client.run("tenants", "apply", "-f", same).line())
                .isEqualTo("Plan: 0 to create, 0 to change, 1 unchanged.");
        ClientRun.Result refused = client.run("tenants", "apply", "-f", other);
        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.err()).contains("has the plan standard, which cannot change");
        String wrong = file("wrong.yaml", "{kind: allotment, name: acme, spec: {}}");
        assertThat(client.run("tenants", "apply", "-f", wrong).err())
                .contains("\"acme\" is not the name of an allotment");
    }

    @Test
    void operationsAreListedAndShownWithTheirSteps() {
        String operation = "{\"id\":\"op\",\"kind\":\"provision-tenant\",\"tenant\":\"acme\",\"state\":\"running\","
                + "\"attempts\":2,\"createdAt\":\"2026-11-01T00:00:00Z\",\"updatedAt\":\"2026-11-01T00:00:00Z\","
                + "\"error\":{\"step\":\"realm\",\"message\":\"away\"},\"steps\":[{\"name\":\"realm\",\"state\":"
                + "\"waiting\",\"error\":\"away\"}]}";
        api.given("GET " + OPERATOR + "/operations?pageSize=500&state=running&tenant=acme", 200, items(operation));
        api.given("GET " + OPERATOR + "/operations/op", 200, operation);

        assertThat(client.run("operations", "--of", "acme", "--state", "running")
                        .out())
                .contains("op         provision-tenant  acme    running  ", "realm: away\n");
        assertThat(client.run("operations", "op").out()).contains("STEP   STATE    BEGUN", "realm  waiting  -");
        assertThat(client.run("operations", "--wait").exitCode()).isEqualTo(2);
    }

    @Test
    void entriesOfTheQuarantineAreListedRetriedAndDropped() {
        String entry = "{\"id\":\"workload-1\",\"kind\":\"workload\",\"tenant\":\"acme\",\"subject\":\"1 train\","
                + "\"why\":\"broken\",\"since\":\"2026-11-01T00:00:00Z\",\"times\":1,\"gpus\":\"0\"}";
        api.given("GET " + OPERATOR + "/quarantine-entries?pageSize=500", 200, items(entry));
        api.given("POST " + OPERATOR + "/quarantine-entries/workload-1/retries", 200, entry);
        api.given("DELETE " + OPERATOR + "/quarantine-entries/workload-1", 204, "");
        api.given(
                "DELETE " + OPERATOR + "/quarantine-entries/tenant-acme",
                409,
                "{\"detail\":\"a tenant cannot be dropped\"}");

        assertThat(client.run("quarantine").out()).contains("workload-1  workload  acme    1 train  0     ", "broken");
        assertThat(client.run("quarantine", "retry", "workload-1").out()).startsWith("workload-1 is retried");
        ClientRun.Result dropped = client.run("quarantine", "drop", "tenant-acme", "workload-1", "-o", "name");
        assertThat(dropped.exitCode()).isEqualTo(5);
        assertThat(dropped.line()).isEqualTo("workload-1");
        assertThat(dropped.err()).isEqualTo("qm: tenant-acme: a tenant cannot be dropped\n");
    }

    @Test
    void poolsAreListedWithWhatIsReserved() {
        api.given(
                "GET " + OPERATOR + "/pools?pageSize=500",
                200,
                items(
                        "{\"name\":\"h100\",\"up\":\"16\",\"reserved\":\"12\",\"nodes\":2,\"nodesUp\":2,\"placement\":\"pack\","
                                + "\"shareGpus\":\"tenant\"}"));

        assertThat(client.run("pools").out()).endsWith("h100  16       12        2      2         pack       tenant\n");
        assertThat(client.run("pools", "-o", "name").line()).isEqualTo("h100");
    }
}
