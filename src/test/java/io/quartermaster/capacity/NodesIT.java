package io.quartermaster.capacity;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.notNullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.access.Credential;
import io.quartermaster.access.NodeSessionIssuer;
import io.restassured.response.ValidatableResponse;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Nodes through the public API, and the pools that may contain them. */
@QuarkusTest
class NodesIT extends OperatorsWork {

    @Inject
    NodeSessionIssuer sessions;

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
    void aUserPerTenantKeepsTenantsNotApart() {
        fleet("users");
        node("users", "users-1", "os-user", 1);
        allot(A, "users").statusCode(201);

        allot(B, "users").statusCode(422).body("code", equalTo("not-isolated"));
        operator()
                .header("If-Match", "\"0\"")
                .body(Map.of("tenantsTrustEachOther", true))
                .patch("/v1/operator/pools/users")
                .then()
                .statusCode(200)
                .body("tenantsTrustEachOther", equalTo(true));
        allot(B, "users").statusCode(201);
        operator()
                .header("If-Match", "\"1\"")
                .body(Map.of("tenantsTrustEachOther", false))
                .patch("/v1/operator/pools/users")
                .then()
                .statusCode(422)
                .body("code", equalTo("not-isolated"));
    }

    private ValidatableResponse allot(String tenant, String pool) {
        return operator()
                .body(Map.of("reserved", "0"))
                .put("/v1/operator/tenants/" + tenant + "/allotments/" + pool)
                .then();
    }

    @Test
    void aNewCredentialAndTheEndOfANodeEndItsSessions() {
        fleet("rotated");
        operator()
                .body(Map.of("name", "rotated-1", "cluster", "rotated", "pool", "rotated"))
                .post("/v1/operator/nodes");
        String token = session("rotated-1");
        assertThat(statusOfSync("rotated-1", token)).isEqualTo(400);

        operator().post("/v1/operator/nodes/rotated-1/credential").then().statusCode(201);
        assertThat(statusOfSync("rotated-1", token)).isEqualTo(401);

        String another = session("rotated-1");
        operator().delete("/v1/operator/nodes/rotated-1").then().statusCode(204);
        assertThat(statusOfSync("rotated-1", another)).isEqualTo(401);
    }

    private String session(String node) {
        return sessions.open(node, new Credential.KeycloakToken(Instant.now().plusSeconds(60)))
                .await()
                .atMost(Duration.ofSeconds(10))
                .token();
    }

    /** The status of an empty report: 400 for an agent of the node. */
    private static int statusOfSync(String node, String token) {
        return given().header("Authorization", "Bearer " + token)
                .contentType("application/json")
                .body("{}")
                .post("/v1/nodes/" + node + "/sync")
                .statusCode();
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
}
