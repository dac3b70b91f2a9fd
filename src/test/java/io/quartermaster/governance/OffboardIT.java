package io.quartermaster.governance;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.tenancy.TestTenants;
import io.quartermaster.testing.Identity;
import io.restassured.RestAssured;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The offboarding of a tenant, in which every package above tenancy removes its part. */
@QuarkusTest
class OffboardIT {

    private static final String LEAVES = "offboard-a";
    private static final String WORKS = "offboard-b";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Inject
    SystemDatabase database;

    @BeforeAll
    static void twoTenantsWithAQueue() {
        request(operatorToken())
                .body(Map.of("name", "offboarding", "capacity", "8"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(201);
        TestTenants.provision(LEAVES, WORKS);
        for (String tenant : List.of(LEAVES, WORKS)) {
            request(operatorToken())
                    .body(Map.of("reserved", "4"))
                    .put("/v1/operator/tenants/" + tenant + "/allotments/offboarding")
                    .then()
                    .statusCode(201);
            request(adminToken(tenant))
                    .body(Map.of("name", "one", "gpus", "1", "pools", List.of("offboarding")))
                    .post("/v1/tenants/" + tenant + "/profiles")
                    .then()
                    .statusCode(201);
            request(adminToken(tenant))
                    .body(Map.of(
                            "name",
                            "rnd",
                            "group",
                            "/rnd",
                            "quotas",
                            List.of(Map.of("pool", "offboarding", "reserved", "2")),
                            "profiles",
                            List.of("one")))
                    .post("/v1/tenants/" + tenant + "/policies")
                    .then()
                    .statusCode(201);
        }
    }

    @Test
    void suspendedTenantLeavesAndItsBooksStay() {
        String held = submit(LEAVES, true);
        String token = adminToken(LEAVES);
        offboard(LEAVES, 409);
        suspend(LEAVES);
        request(operatorToken())
                .queryParam("dryRun", true)
                .delete("/v1/operator/tenants/" + LEAVES)
                .then()
                .statusCode(200)
                .body("status", equalTo(202));
        assertThat(stateOf(LEAVES)).isEqualTo("suspended");

        String operation = offboard(LEAVES, 202);
        request(token).get("/v1/tenants/" + LEAVES).then().statusCode(401);
        TestTenants.awaitState(operation, "succeeded");

        assertThat(stateOf(LEAVES)).isEqualTo("deleted");
        RestAssured.given()
                .baseUri(Identity.url())
                .port(-1)
                .get("/realms/" + LEAVES)
                .then()
                .statusCode(404);
        assertThat(count("select count(*) from allotment where tenant_id = $1", LEAVES))
                .isZero();
        assertThat(count("select count(*) from policy where tenant_id = $1 and retired_at is null", LEAVES))
                .isZero();
        assertThat(count("select count(*) from policy where tenant_id = $1", LEAVES))
                .isEqualTo(1);
        Awaitility.await()
                .atMost(PATIENCE)
                .until(() -> count(
                                "select count(*) from workload where tenant_id = $1 and state = 'cancelled' and "
                                        + "id::text = '"
                                        + held + "'",
                                LEAVES)
                        == 1);
        assertThat(offboard(LEAVES, 202)).isEqualTo(operation);
        request(operatorToken())
                .body(Map.of("id", LEAVES, "plan", "demo", "displayName", "Tenant " + LEAVES))
                .post("/v1/operator/tenants")
                .then()
                .statusCode(409)
                .body("code", equalTo("tenant-exists"));
        request(token).get("/v1/tenants/" + LEAVES + "/audit-entries").then().statusCode(401);
        request(operatorToken())
                .queryParam("action", "tenants:offboard")
                .get("/v1/tenants/" + LEAVES + "/audit-entries")
                .then()
                .statusCode(200)
                .body("items", hasSize(1));
        request(operatorToken())
                .queryParam("from", "2025-01-01T00:00:00Z")
                .queryParam("to", "2025-01-02T00:00:00Z")
                .get("/v1/tenants/" + LEAVES + "/usage")
                .then()
                .statusCode(200)
                .body("tenant", equalTo(LEAVES));
        request(operatorToken())
                .get("/v1/tenants/" + LEAVES + "/policies")
                .then()
                .statusCode(404);
        request(adminToken(WORKS))
                .get("/v1/tenants/" + LEAVES + "/audit-entries")
                .then()
                .statusCode(404);
        request(adminToken(WORKS))
                .get("/v1/tenants/" + WORKS + "/policies")
                .then()
                .statusCode(200);
    }

    @Test
    void tenantWhoseWorkHoldsDevicesStays() {
        String work = submit(WORKS, false);
        Awaitility.await().atMost(PATIENCE).until(() -> "starting"
                .equals(request(adminToken(WORKS))
                        .get("/v1/tenants/" + WORKS + "/workloads/" + work)
                        .path("workload.state")));
        suspend(WORKS);

        request(operatorToken())
                .delete("/v1/operator/tenants/" + WORKS)
                .then()
                .statusCode(409)
                .body("code", equalTo("in-use"));

        assertThat(stateOf(WORKS)).isEqualTo("suspended");
        request(operatorToken())
                .queryParam("action", "tenants:offboard")
                .get("/v1/tenants/" + WORKS + "/audit-entries")
                .then()
                .body("items", empty());
        resume(WORKS);
    }

    private static String submit(String tenant, boolean hold) {
        return request(memberToken(tenant, "rnd-member"))
                .body(Map.of(
                        "queue",
                        "rnd-one",
                        "name",
                        "work",
                        "type",
                        "training",
                        "command",
                        List.of("sleep", "60"),
                        "hold",
                        hold))
                .post("/v1/tenants/" + tenant + "/workloads")
                .then()
                .statusCode(201)
                .extract()
                .path("id");
    }

    private static String offboard(String tenant, int status) {
        return request(operatorToken())
                .delete("/v1/operator/tenants/" + tenant)
                .then()
                .statusCode(status)
                .extract()
                .path("id");
    }

    private static void suspend(String tenant) {
        move(tenant, "suspended");
    }

    private static void resume(String tenant) {
        move(tenant, "active");
    }

    private static void move(String tenant, String state) {
        String path = "/v1/operator/tenants/" + tenant;
        request(operatorToken())
                .header("If-Match", request(operatorToken()).get(path).header("ETag"))
                .body(Map.of("state", state))
                .patch(path)
                .then()
                .statusCode(200);
    }

    private static String stateOf(String tenant) {
        return request(operatorToken()).get("/v1/operator/tenants/" + tenant).path("state");
    }

    private long count(String sql, String tenant) {
        return database.on(connection -> connection.preparedQuery(sql).execute(Tuple.of(tenant)))
                .map(rows -> rows.iterator().next().getLong(0))
                .await()
                .atMost(PATIENCE);
    }
}
