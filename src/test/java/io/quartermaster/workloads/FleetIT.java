package io.quartermaster.workloads;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.notNullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.restassured.response.Response;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What the operator sees of the work of all tenants. */
@QuarkusTest
class FleetIT extends TwoTenantsWork {

    private static final String SECRET = "secret-of-the-fleet";

    private static String secretive(String queue, String name) {
        return request(member())
                .body(with(
                        with(
                                with(training(queue, name), "environment", Map.of("TOKEN", SECRET)),
                                "labels",
                                Map.of("hidden", SECRET)),
                        "command",
                        List.of("sleep", SECRET)))
                .post(WORKLOADS)
                .then()
                .statusCode(201)
                .extract()
                .path("id");
    }

    private static Response get(String path, Map<String, ?> query) {
        Response response = request(operatorToken()).queryParams(query).get("/v1/operator/" + path);
        response.then().statusCode(200);
        assertThat(response.asString()).doesNotContain(SECRET);
        return response;
    }

    @Test
    void theOperatorSeesWhatRunsOnEachGpuAndNothingOfItsContent() {
        endAll();
        String id = secretive(rnd, "on-a-gpu");
        eventually(id, "starting");

        get("fleet", Map.of("pool", "workloads", "tenant", A))
                .then()
                .body("items", hasSize(1))
                .body("items[0].node", equalTo("workloads"))
                .body("items[0].up", equalTo(true))
                .body("items[0].gpus", hasSize(4))
                .body("items[0].gpus.findAll { it.holders.size() > 0 }.free", contains("0"))
                .body("items[0].gpus.collectMany { it.holders }.workload", contains(id))
                .body("items[0].gpus.collectMany { it.holders }.tenant", contains(A))
                .body("items[0].gpus.collectMany { it.holders }.group", contains("/rnd"))
                .body("items[0].gpus.collectMany { it.holders }.gpus", contains("1"));
        get("fleet", Map.of("pool", "workloads", "tenant", B)).then().body("items", empty());
        get("workloads", Map.of("tenant", A, "state", "starting,running"))
                .then()
                .body("items.id", contains(id))
                .body("items[0].name", equalTo("on-a-gpu"))
                .body("items[0].pool", equalTo("workloads"))
                .body("items[0].heldGpus", equalTo("1"));
        get("workloads", Map.of("tenant", B, "state", "starting")).then().body("items", empty());
        endAll();
    }

    @Test
    void theOperatorSeesWhatWaitsByReason() {
        endAll();
        String id = secretive(small, "waits");
        Awaitility.await().atMost(PATIENCE).untilAsserted(() -> get("waiting", Map.of("tenant", A, "pool", "workloads"))
                .then()
                .body("items.reason", hasItem("LIMIT"))
                .body("items.find { it.reason == 'LIMIT' }.workloads", equalTo(1))
                .body("items.find { it.reason == 'LIMIT' }.oldestSubmittedAt", notNullValue())
                .body("items.find { it.reason == 'LIMIT' }.tenants.tenant", contains(A)));
        get("workloads", Map.of("reason", "LIMIT", "tenant", A, "pool", "workloads"))
                .then()
                .body("items.id", contains(id))
                .body("items.reason", everyItem(equalTo("LIMIT")));
        request(operatorToken())
                .queryParam("reason", "BORED")
                .get("/v1/operator/workloads")
                .then()
                .statusCode(400)
                .body("errors.field", contains("reason"));
        endAll();
    }

    @Test
    void theOperatorSeesOperationsPlansRolesAndTheLeader() {
        String operation = get("operations", Map.of("tenant", A, "kind", "provision-tenant", "state", "succeeded"))
                .then()
                .body("items", hasSize(1))
                .body("items[0].tenant", equalTo(A))
                .extract()
                .path("items[0].id");
        get("operations/" + operation, Map.of()).then().body("kind", equalTo("provision-tenant"));
        request(operatorToken())
                .queryParam("kind", "dance")
                .get("/v1/operator/operations")
                .then()
                .statusCode(400)
                .body("errors.field", contains("kind"));

        Response plans = get("plans", Map.of());
        plans.then()
                .body("items.name", hasItem("demo"))
                .body("items.find { it.name == 'demo' }.groups", hasItem("/rnd"))
                .body("items.find { it.name == 'demo' }.adminsManagePeople", equalTo(true));
        assertThat(plans.asString()).doesNotContain("demo-admin-password", "\"password\"");
        get("plans/demo", Map.of()).then().body("name", equalTo("demo"));
        request(operatorToken()).get("/v1/operator/plans/none").then().statusCode(404);

        get("roles", Map.of())
                .then()
                .body("items.find { it.name == 'viewer' }.permissions", hasItem("workloads:read"))
                .body("items.find { it.name == 'operator' }.ofTenants", equalTo(false))
                .body("items.find { it.name == 'group-admin' }.boundToGroups", equalTo(true));
        get("permissions", Map.of())
                .then()
                .body("items.find { it.name == 'people:write' }.roles", contains("tenant-admin"));
        request(adminToken(A))
                .get("/v1/tenants/" + A + "/roles")
                .then()
                .statusCode(200)
                .body("items.name", hasItem("member"))
                .body("items.findAll { !it.ofTenants }", empty());

        dispatcher.wake();
        Awaitility.await().atMost(PATIENCE).untilAsserted(() -> get("cells/main", Map.of())
                .then()
                .body("epoch", greaterThanOrEqualTo(1))
                .body("cycles.median", notNullValue())
                .body("inbox.rows", notNullValue())
                .body("quarantined", notNullValue()));
    }
}
