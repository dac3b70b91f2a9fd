package io.quartermaster.capacity;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.notNullValue;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.platform.SystemDatabase;
import io.quartermaster.tenancy.TestTenants;
import io.restassured.specification.RequestSpecification;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Clusters, pools, nodes and allotments through the public API, with two tenants. */
@QuarkusTest
class CapacityIT {

    private static final String A = "capacity-a";
    private static final String B = "capacity-b";

    @Inject
    SystemDatabase database;

    @BeforeAll
    static void twoTenants() {
        TestTenants.provision(A);
        TestTenants.provision(B);
    }

    @Test
    void theSameAgainChangesNothingAndOtherContentIsRefused() {
        Map<String, String> cluster = Map.of("name", "same", "kind", "agent", "region", "north");

        operator()
                .body(cluster)
                .post("/v1/operator/clusters")
                .then()
                .statusCode(201)
                .header("ETag", "\"0\"");
        operator()
                .body(cluster)
                .post("/v1/operator/clusters")
                .then()
                .statusCode(200)
                .body("version", equalTo(0));
        operator()
                .body(Map.of("name", "same", "kind", "slurm", "region", "north"))
                .post("/v1/operator/clusters")
                .then()
                .statusCode(409)
                .body("code", equalTo("already-exists"));
    }

    @Test
    void anIdempotencyKeyGivesTheFirstAnswerAgain() {
        String key = UUID.randomUUID().toString();
        Map<String, String> pool = Map.of("name", "once", "capacity", "4");

        String first = operator()
                .header("Idempotency-Key", key)
                .body(pool)
                .post("/v1/operator/pools")
                .path("id");
        operator()
                .header("Idempotency-Key", key)
                .body(pool)
                .post("/v1/operator/pools")
                .then()
                .statusCode(201)
                .body("id", equalTo(first));
        operator()
                .header("Idempotency-Key", key)
                .body(Map.of("name", "twice"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(422)
                .body("code", equalTo("idempotency-key-reused"));
        operator()
                .header("Idempotency-Key", key)
                .queryParam("dryRun", false)
                .body(pool)
                .post("/v1/operator/pools")
                .then()
                .statusCode(422);
    }

    @Test
    void updatesNameTheVersionTheyAreBasedOn() {
        operator()
                .body(Map.of("name", "versioned"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(201);

        operator()
                .body(Map.of("elastic", true))
                .patch("/v1/operator/pools/versioned")
                .then()
                .statusCode(428);
        operator()
                .header("If-Match", "\"0\"")
                .body(Map.of("placement", "spread"))
                .patch("/v1/operator/pools/versioned")
                .then()
                .statusCode(200)
                .header("ETag", "\"1\"")
                .body("placement", equalTo("spread"))
                .body("shareGpus", equalTo("tenant"));
        operator()
                .header("If-Match", "\"0\"")
                .body(Map.of("elastic", true))
                .patch("/v1/operator/pools/versioned")
                .then()
                .statusCode(412);
    }

    @Test
    void aDryRunChecksEverythingAndLeavesNothing() {
        operator()
                .queryParam("dryRun", true)
                .body(Map.of("name", "tried"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(201);
        operator().get("/v1/operator/pools/tried").then().statusCode(404);
    }

    @Test
    void badInputIsToldFieldByField() {
        operator()
                .body(Map.of("name", "No!", "kind", "agent"))
                .post("/v1/operator/clusters")
                .then()
                .statusCode(400)
                .contentType("application/problem+json")
                .body("errors.field", contains("name", "region"));
        operator()
                .body(Map.of("name", "fine", "kind", "mesos", "region", "north"))
                .post("/v1/operator/clusters")
                .then()
                .statusCode(400)
                .body("errors[0].field", equalTo("kind"))
                .body("errors[0].accepted", containsString("kubernetes"));
        operator()
                .body(Map.of("name", "fine", "capacity", "1.0005"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(400)
                .body("errors.field", contains("capacity"));
        operator()
                .body(Map.of("name", "fine", "capacty", "1"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(400)
                .body("errors[0].accepted", containsString("capacity"));
        operator().post("/v1/operator/pools").then().statusCode(400).body("errors.field", contains("body"));
        operator().get("/v1/operator/pools/fine").then().statusCode(404);
    }

    @Test
    void nodesAreAddedCordonedMovedAndRetired() {
        fleet("nodes");
        operator()
                .body(Map.of(
                        "name", "nodes-1", "cluster", "nodes", "pool", "nodes", "topology", List.of("z1", "rack7")))
                .post("/v1/operator/nodes")
                .then()
                .statusCode(201)
                .body("contact", equalTo("never-heard"))
                .body("schedulable", equalTo(true))
                .body("topology", contains("z1", "rack7"))
                .body("gpus", hasSize(0));
        operator()
                .header("If-Match", "\"0\"")
                .body(Map.of("schedulable", false, "labels", Map.of("gpu", "h100")))
                .patch("/v1/operator/nodes/nodes-1")
                .then()
                .statusCode(200)
                .body("schedulable", equalTo(false))
                .body("labels.gpu", equalTo("h100"))
                .body("pool", equalTo("nodes"));
        operator()
                .queryParam("pool", "nodes")
                .queryParam("schedulable", false)
                .get("/v1/operator/nodes")
                .then()
                .body("items.name", contains("nodes-1"));
        operator().delete("/v1/operator/pools/nodes").then().statusCode(409).body("code", equalTo("in-use"));
        operator().delete("/v1/operator/clusters/nodes").then().statusCode(409);
        operator().delete("/v1/operator/nodes/nodes-1").then().statusCode(204);
        operator().get("/v1/operator/nodes/nodes-1").then().statusCode(404);
        operator().delete("/v1/operator/nodes/nodes-1").then().statusCode(204);
        operator().delete("/v1/operator/nodes/never").then().statusCode(404);
        operator().delete("/v1/operator/pools/nodes").then().statusCode(204);
        operator()
                .body(Map.of("name", "nodes"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(409)
                .body("code", equalTo("name-was-used"));
        operator().delete("/v1/operator/clusters/nodes").then().statusCode(204);
    }

    @Test
    void aPoolCountsTheHealthyGpusOfNodesThatAreHeard() {
        fleet("counted");
        node("counted", "counted-1", "container", 3);
        database.in(connection -> connection
                        .query("update gpu set healthy = false where device_index = 2")
                        .execute())
                .await()
                .atMost(Duration.ofSeconds(10));

        operator()
                .get("/v1/operator/pools/counted")
                .then()
                .statusCode(200)
                .body("up", equalTo("2"))
                .body("nodes", equalTo(1))
                .body("nodesUp", equalTo(1));
        operator()
                .get("/v1/operator/nodes/counted-1")
                .then()
                .body("contact", equalTo("up"))
                .body("agent.isolation", equalTo("container"))
                .body("gpus.index", contains(0, 1, 2))
                .body("gpus.healthy", contains(true, true, false));
    }

    @Test
    void anAllotmentIsGrantedChangedAndTakenBack() {
        operator().body(Map.of("name", "granted", "capacity", "10")).post("/v1/operator/pools");
        String path = "/v1/operator/tenants/" + A + "/allotments/granted";

        operator()
                .body(Map.of("reserved", "8", "limit", "10", "lendable", "2.5", "weight", 3))
                .put(path)
                .then()
                .statusCode(201)
                .header("ETag", "\"0\"")
                .body("lendable", equalTo("2.5"))
                .body("warnings", hasSize(0));
        operator()
                .body(Map.of("reserved", "8", "limit", "10", "lendable", "2.5", "weight", 3))
                .put(path)
                .then()
                .statusCode(200);
        operator().body(Map.of("reserved", "9")).put(path).then().statusCode(428);
        operator()
                .header("If-Match", "\"0\"")
                .body(Map.of("reserved", "9"))
                .put(path)
                .then()
                .statusCode(200)
                .body("version", equalTo(1))
                .body("limit", nullValue());
        operator()
                .body(Map.of("reserved", "2"))
                .put("/v1/operator/tenants/" + B + "/allotments/granted")
                .then()
                .statusCode(201)
                .body("warnings", contains("reservations in pool granted add up to 11 GPUs, and 10 are up"));

        admin(A).get("/v1/tenants/" + A + "/pools")
                .then()
                .body("items.find { it.name == 'granted' }.reserved", equalTo("9"));
        admin(B).get("/v1/tenants/" + B + "/pools")
                .then()
                .body("items.find { it.name == 'granted' }.reserved", equalTo("2"));
        operator().get("/v1/operator/pools/granted").then().body("reserved", equalTo("11"));
        operator().delete("/v1/operator/pools/granted").then().statusCode(409);

        operator().delete(path).then().statusCode(204);
        operator().get(path).then().statusCode(404);
        admin(A).get("/v1/tenants/" + A + "/pools").then().body("items.name", not(hasItem("granted")));
    }

    @Test
    void termsThatContradictEachOtherAreToldAllAtOnce() {
        operator().body(Map.of("name", "terms", "capacity", "10")).post("/v1/operator/pools");

        operator()
                .body(Map.of("reserved", "4", "limit", "3", "lendable", "5", "weight", -1))
                .put("/v1/operator/tenants/" + A + "/allotments/terms")
                .then()
                .statusCode(400)
                .body("errors.field", contains("limit", "lendable", "weight"))
                .body("errors.accepted", contains("at least 4", "at most 4", "0 to 1000000"));
        operator()
                .body(Map.of("reserved", "4"))
                .put("/v1/operator/tenants/nobody/allotments/terms")
                .then()
                .statusCode(404);
        operator()
                .body(Map.of("reserved", "4"))
                .put("/v1/operator/tenants/" + A + "/allotments/nowhere")
                .then()
                .statusCode(404);
    }

    @Test
    void aNodeThatCannotKeepTenantsApartServesOneTenantOnly() {
        fleet("alone");
        node("alone", "alone-1", "none", 1);
        operator()
                .body(Map.of("reserved", "1"))
                .put("/v1/operator/tenants/" + A + "/allotments/alone")
                .then()
                .statusCode(201);

        operator()
                .body(Map.of("reserved", "0"))
                .put("/v1/operator/tenants/" + B + "/allotments/alone")
                .then()
                .statusCode(422)
                .body("code", equalTo("not-isolated"))
                .body("detail", containsString("alone-1"));
    }

    @Test
    void aNodeWithoutIsolationDoesNotJoinAPoolOfSeveralTenants() {
        fleet("shared");
        fleet("single");
        node("single", "single-1", "none", 1);
        for (String tenant : List.of(A, B)) {
            operator()
                    .body(Map.of("reserved", "0"))
                    .put("/v1/operator/tenants/" + tenant + "/allotments/shared")
                    .then()
                    .statusCode(201);
        }

        operator()
                .header("If-Match", "\"0\"")
                .body(Map.of("pool", "shared"))
                .patch("/v1/operator/nodes/single-1")
                .then()
                .statusCode(422)
                .body("code", equalTo("not-isolated"));
    }

    @Test
    void tenantsSeeNothingOfTheOperatorsPart() {
        admin(A).get("/v1/operator/pools").then().statusCode(404);
        admin(A).body(Map.of("name", "mine")).post("/v1/operator/pools").then().statusCode(404);
        admin(A).get("/v1/operator/tenants/" + A + "/allotments").then().statusCode(404);
        admin(A).get("/v1/tenants/" + B + "/pools").then().statusCode(404);
    }

    @Test
    void everyChangeIsAudited() {
        operator().body(Map.of("name", "audited", "capacity", "1")).post("/v1/operator/pools");

        String actor = database.on(connection -> connection
                        .preparedQuery(
                                "select actor || ' ' || action || ' ' || actor_realm from audit_entry where resource = $1")
                        .execute(Tuple.of("pools/audited")))
                .await()
                .atMost(Duration.ofSeconds(10))
                .iterator()
                .next()
                .getString(0);

        assertThat(actor).isEqualTo("service-account-quartermaster-cli pools:create operator");
    }

    @Test
    void aNodesCredentialIsToldOnce() {
        fleet("keyed");
        operator()
                .body(Map.of("name", "keyed-1", "cluster", "keyed", "pool", "keyed"))
                .post("/v1/operator/nodes");

        operator()
                .post("/v1/operator/nodes/keyed-1/credential")
                .then()
                .statusCode(201)
                .header("Cache-Control", containsString("no-store"))
                .body("clientId", equalTo("node-keyed-1"))
                .body("clientSecret", notNullValue())
                .body("tokenUrl", notNullValue());
        operator().post("/v1/operator/nodes/nobody/credential").then().statusCode(404);
    }

    /** A cluster and a pool of nodes, both of this name. */
    private static void fleet(String name) {
        operator()
                .body(Map.of("name", name, "kind", "simulated", "region", "north"))
                .post("/v1/operator/clusters")
                .then()
                .statusCode(201);
        operator().body(Map.of("name", name)).post("/v1/operator/pools").then().statusCode(201);
    }

    /** A node that was heard, as its agent's report leaves it. */
    private void node(String fleet, String name, String isolation, int gpus) {
        String id = operator()
                .body(Map.of("name", name, "cluster", fleet, "pool", fleet))
                .post("/v1/operator/nodes")
                .then()
                .statusCode(201)
                .extract()
                .path("id");
        database.in(connection -> connection
                        .preparedQuery(
                                "insert into node_contact (node_id, agent_version, boot_id, instance_id, isolation, last_heard, lease_until)"
                                        + " values ($1, '1', 'b', 'i', $2, now(), now())")
                        .execute(Tuple.of(UUID.fromString(id), isolation))
                        .chain(() -> connection
                                .preparedQuery("insert into gpu (node_id, device_index, uuid, model, memory_mib)"
                                        + " select $1, i, 'gpu-' || i, 'H100', 81920 from generate_series(0, $2 - 1) i")
                                .execute(Tuple.of(UUID.fromString(id), gpus))))
                .await()
                .atMost(Duration.ofSeconds(10));
    }

    private static RequestSpecification operator() {
        return request(operatorToken());
    }

    private static RequestSpecification admin(String tenant) {
        return request(adminToken(tenant));
    }
}
