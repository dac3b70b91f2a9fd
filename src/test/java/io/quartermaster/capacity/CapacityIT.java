package io.quartermaster.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.vertx.mutiny.sqlclient.Tuple;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Clusters, pools and allotments through the public API, with two tenants. */
@QuarkusTest
class CapacityIT extends OperatorsWork {

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
                .body("{}")
                .patch("/v1/operator/pools/versioned")
                .then()
                .statusCode(200)
                .header("ETag", "\"0\"");
        operator()
                .header("If-Match", "\"0\"")
                .body(Map.of("placement", "spread", "waitBeforePreempting", "P8D", "maxGrace", "PT1H1S"))
                .patch("/v1/operator/pools/versioned")
                .then()
                .statusCode(400)
                .body("errors.field", contains("waitBeforePreempting", "maxGrace"))
                .body("errors[1].accepted", equalTo("PT0S to PT1H"));
        operator()
                .header("If-Match", "\"0\"")
                .body(Map.of("placement", "spread", "waitBeforePreempting", "PT2M", "maxGrace", "PT45S"))
                .patch("/v1/operator/pools/versioned")
                .then()
                .statusCode(200)
                .header("ETag", "\"1\"")
                .body("placement", equalTo("spread"))
                .body("waitBeforePreempting", equalTo("PT2M"))
                .body("maxGrace", equalTo("PT45S"))
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
                .statusCode(200)
                .body("status", equalTo(201))
                .body("resource.id", nullValue());
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
    void anAllotmentIsGrantedChangedAndTakenBack() {
        operator().body(Map.of("name", "granted", "capacity", "10")).post("/v1/operator/pools");
        String path = "/v1/operator/tenants/" + A + "/allotments/granted";

        operator()
                .body(Map.of("reserved", "8", "limit", "10", "lendable", "2.5", "weight", 3, "fence", true))
                .put(path)
                .then()
                .statusCode(201)
                .header("ETag", "\"0\"")
                .body("lendable", equalTo("2.5"))
                .body("fence", equalTo(true))
                .body("warnings", hasSize(0));
        operator()
                .body(Map.of("reserved", "8", "limit", "10", "lendable", "2.5", "weight", 3, "fence", true))
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
                .body("warnings", contains("reservations in pool granted add up to 11 GPUs, but only 10 are up"));

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
    void theOrderOfProfilesInAPoolIsSetChangedAndRemoved() {
        operator()
                .body(Map.of("name", "ordered", "capacity", "1", "profileOrder", List.of("large", "small")))
                .post("/v1/operator/pools")
                .then()
                .statusCode(400)
                .body("errors.field", contains("profileOrder"));
        operator()
                .body(Map.of(
                        "name",
                        "ordered",
                        "capacity",
                        "1",
                        "tenantsTrustEachOther",
                        true,
                        "profileOrder",
                        List.of("large", "small")))
                .post("/v1/operator/pools")
                .then()
                .statusCode(201)
                .body("profileOrder", contains("large", "small"));
        operator()
                .header("If-Match", "\"0\"")
                .body(Map.of("profileOrder", List.of("small", "small")))
                .patch("/v1/operator/pools/ordered")
                .then()
                .statusCode(400)
                .body("errors.field", contains("profileOrder"));
        operator()
                .header("If-Match", "\"0\"")
                .body(Map.of("tenantsTrustEachOther", false))
                .patch("/v1/operator/pools/ordered")
                .then()
                .statusCode(400)
                .body("errors.field", contains("profileOrder"));
        operator()
                .header("If-Match", "\"0\"")
                .body("{\"profileOrder\": null}")
                .patch("/v1/operator/pools/ordered")
                .then()
                .statusCode(200)
                .body("profileOrder", empty());
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
                        .preparedQuery("select actor || ' ' || action || ' ' || actor_realm from audit_entry where "
                                + "resource = $1")
                        .execute(Tuple.of("pools/audited")))
                .await()
                .atMost(Duration.ofSeconds(10))
                .iterator()
                .next()
                .getString(0);

        assertThat(actor).isEqualTo("service-account-quartermaster-cli pools:create operator");
    }
}
