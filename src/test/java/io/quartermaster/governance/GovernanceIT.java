package io.quartermaster.governance;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsInAnyOrder;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasItems;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.restassured.response.Response;
import io.restassured.response.ValidatableResponse;
import io.restassured.specification.RequestSpecification;
import io.vertx.mutiny.sqlclient.Tuple;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Profiles and policies through the public API. */
@QuarkusTest
class GovernanceIT extends SharedPool {

    private static final String MERGE_PATCH = "application/merge-patch+json; charset=UTF-8";

    @Test
    void aPolicyMakesItsQueuesAndAdmitsItsGroup() {
        admin().body(policy("rnd", "/rnd", "5", "9", "1xgpu", "3xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201)
                .header("ETag", "\"0\"")
                .body("quotas[0].pool", equalTo(POOL))
                .body("quotas[0].reserved", equalTo("5"))
                .body("queues", contains("rnd-1xgpu", "rnd-3xgpu"))
                .body("onPreemption", equalTo("requeue"))
                .body("grace", equalTo("PT30S"))
                .body("effects.queuesMade", contains("rnd-1xgpu", "rnd-3xgpu"))
                .body("effects.reserved[0].of", equalTo("10"))
                .body("effects.reserved[0].before", equalTo("0"))
                .body("effects.reserved[0].after", equalTo("5"));

        admin().get(TENANT + "/queues/rnd-3xgpu")
                .then()
                .statusCode(200)
                .body("policy", equalTo("rnd"))
                .body("group", equalTo("/rnd"))
                .body("profile", equalTo("3xgpu"));
        admin().get(TENANT + "/queues/rnd-3xgpu/access-rules")
                .then()
                .statusCode(200)
                .body("items", hasSize(1))
                .body("items[0].subjectKind", equalTo("group"))
                .body("items[0].subject", equalTo("/rnd"));
        assertThat(text(
                        "select string_agg(actor || ' ' || action, ', ') from audit_entry where tenant_id = $1 "
                                + "and resource = 'policies/rnd'",
                        A))
                .contains("admin policies:create");
    }

    @Test
    void aProfileAsksForMemoryForAnInstanceOrForPartsOfSeveralGpus() {
        for (Map<String, Object> gpus : List.<Map<String, Object>>of(
                Map.of("gpuMemoryMiB", 20_480, "gpuDevices", 2),
                Map.of("mig", "1g.10gb"),
                Map.of("gpus", "0.5", "gpuDevices", 4))) {
            Map<String, Object> profile = new HashMap<>(gpus);
            profile.put("pools", List.of(POOL));
            profile.put("name", "shape");
            admin().body(profile).post(TENANT + "/profiles").then().statusCode(201);
            admin().body(profile).post(TENANT + "/profiles").then().statusCode(200);
            ValidatableResponse read =
                    admin().get(TENANT + "/profiles/shape").then().statusCode(200);
            gpus.forEach((field, value) -> read.body(field, equalTo(value)));
            made(policy("rnd", "/rnd", "5", "9", "shape"));
            admin().get(TENANT + "/usage/live").then().statusCode(200);
            admin().delete(TENANT + "/policies/rnd").then().statusCode(200);
            admin().delete(TENANT + "/profiles/shape").then().statusCode(200);
        }
        admin().body(Map.of("name", "shape", "gpus", "1", "mig", "1g.10gb", "pools", List.of(POOL)))
                .post(TENANT + "/profiles")
                .then()
                .statusCode(400)
                .body("errors.field", contains("mig"));
    }

    @Test
    void theSameAgainChangesNothingAndOtherContentIsRefused() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu"));

        admin().body(policy("rnd", "/rnd", "5", "9", "1xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(200)
                .header("ETag", "\"0\"")
                .body("effects", nullValue());
        admin().body(policy("rnd", "/rnd", "4", "9", "1xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(409)
                .body("code", equalTo("already-exists"));
    }

    @Test
    void allThatDoesNotFitIsToldAtOnceAndNothingIsWritten() {
        made(policy("rnd", "/rnd", "6", "9"));

        admin().body(policy("devops", "/devops", "5", "2", "3xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(400)
                .body("errors.field", contains("quotas[0].limit"));
        admin().body(policy("devops", "/devops", "5", "5", "3xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(422)
                .body("code", equalTo("reservations-do-not-fit"))
                .contentType("application/problem+json")
                .body("errors.field", contains("quotas[0].reserved"))
                .body("errors[0].accepted", equalTo("at most 4"));
        admin().body(Map.of(
                        "name",
                        "devops",
                        "group",
                        "/devops",
                        "quotas",
                        List.of(Map.of(
                                "pool",
                                POOL,
                                "reserved",
                                "1",
                                "limit",
                                "9",
                                "override",
                                Map.of(
                                        "reserved",
                                        "5",
                                        "until",
                                        Instant.now().plusSeconds(3600).toString())))))
                .post(TENANT + "/policies")
                .then()
                .statusCode(422)
                .body("code", equalTo("reservations-do-not-fit"))
                .body("errors.field", contains("quotas[0].override.reserved"));
        admin().body(policy("devops", "/devops", "5", "5", "none"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(400)
                .body("errors.field", contains("profiles[0]"))
                .body("errors[0].accepted", equalTo("1xgpu, 3xgpu"));
        admin().body(Map.of("name", "devops", "group", "devops", "quotas", List.of(Map.of("pool", "else"))))
                .post(TENANT + "/policies")
                .then()
                .statusCode(400)
                .body("errors.field", contains("group", "quotas[0].pool"));
        admin().body(policy("devops", "/devops", "1", "2", "3xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(400)
                .body("errors.field", contains("profiles[0]"))
                .body("errors[0].message", containsString("at most 2 in " + POOL));
        admin().get(TENANT + "/policies").then().body("items.name", contains("rnd"));
    }

    @Test
    void aPolicyForAGroupThatTheRealmLacksIsAcceptedWithAWarning() {
        for (boolean dryRun : List.of(true, false)) {
            admin().queryParam("dryRun", dryRun)
                    .body(policy("later", "/rnd/later", "1", "2", "1xgpu"))
                    .post(TENANT + "/policies")
                    .then()
                    .statusCode(dryRun ? 200 : 201)
                    .body(dryRun ? "warnings" : "effects.warnings", contains(containsString("/rnd/later")));
        }
        admin().body(policy("rnd", "/rnd", "5", "9", "1xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201)
                .body("effects.warnings", hasSize(0));
    }

    @Test
    void aDryRunShowsWhatWouldBeAndLeavesNothing() {
        admin().queryParam("dryRun", true)
                .body(policy("rnd", "/rnd", "5", "9", "3xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(200)
                .body("status", equalTo(201))
                .body("resource.name", equalTo("rnd"))
                .body("resource.id", nullValue())
                .body("effects.queuesMade", contains("rnd-3xgpu"))
                .body("effects.reserved[0].after", equalTo("5"));

        admin().get(TENANT + "/policies/rnd").then().statusCode(404);
        admin().get(TENANT + "/queues").then().body("items", hasSize(0));
    }

    @Test
    void aGraceThatThePoolDoesNotAllowIsAcceptedWithAWarning() {
        Map<String, Object> policy = new HashMap<>(policy("rnd", "/rnd", "5", "9", "1xgpu"));
        policy.put("grace", "PT5M1S");
        admin().body(policy)
                .post(TENANT + "/policies")
                .then()
                .statusCode(201)
                .body("effects.warnings", hasItem(containsString("at most PT5M, not for its grace of PT5M1S")));
        admin().get(TENANT + "/pools")
                .then()
                .body("items.find { it.name == '" + POOL + "' }.maxGrace", equalTo("PT5M"));
    }

    @Test
    void aMergePatchChangesWhatItNamesAndLeavesTheRest() {
        Map<String, Object> policy = new HashMap<>(policy("rnd", "/rnd", "5", "9", "1xgpu"));
        policy.put("grace", "PT10S");
        policy.put("overQuota", false);
        made(policy);
        String path = TENANT + "/policies/rnd";

        patch("{}", "\"0\"", path)
                .then()
                .statusCode(200)
                .header("ETag", "\"0\"")
                .body("effects", nullValue());
        admin().contentType(MERGE_PATCH).body("{}").patch(path).then().statusCode(428);
        patch("{'quotas':{'" + POOL + "':{'limit':'8'}}}", "\"0\"", path)
                .then()
                .statusCode(200)
                .header("ETag", "\"1\"")
                .body("quotas[0].reserved", equalTo("5"))
                .body("quotas[0].limit", equalTo("8"))
                .body("grace", equalTo("PT10S"))
                .body("overQuota", equalTo(false))
                .body("effects.changed.field", contains("quotas." + POOL + ".limit"))
                .body("effects.changed[0].before", equalTo("9"))
                .body("effects.changed[0].after", equalTo("8"));
        patch("{'grace':null,'profiles':['3xgpu'],'quotas':{'*':{'reserved':'5','limit':'7'}}}", "\"1\"", path)
                .then()
                .statusCode(200)
                .body("grace", equalTo("PT30S"))
                .body("quotas.pool", hasItems("*", POOL))
                .body("effects.changed.field", containsInAnyOrder("grace", "profiles", "quotas.*"))
                .body("effects.queuesMade", contains("rnd-3xgpu"))
                .body("effects.queuesRetired", contains("rnd-1xgpu"));
        patch("{'quotas':{'*':null}}", "\"2\"", path).then().statusCode(200).body("quotas.pool", contains(POOL));
        patch("{'quotas':{'" + POOL + "':{'reserved':'9'}}}", "\"3\"", path)
                .then()
                .statusCode(400)
                .body("errors.field", contains("quotas." + POOL + ".limit"));
        patch("{'quotas':{'" + POOL + "':{'reserved':'11','limit':null}}}", "\"3\"", path)
                .then()
                .statusCode(422)
                .body("code", equalTo("reservations-do-not-fit"))
                .body("errors.field", contains("quotas." + POOL + ".reserved"));
        patch("{'quotas':[]}", "\"3\"", path).then().statusCode(400).body("errors.field", contains("quotas"));
        patch("{'grave':'PT1S'}", "\"3\"", path).then().statusCode(400).body("errors.field", contains("grave"));
        patch("[]", "\"3\"", path).then().statusCode(400).body("errors.field", contains("body"));

        // A field that a replacement leaves out returns to its default, and the answer lists it.
        admin().header("If-Match", "\"3\"")
                .body(policy("rnd", "/rnd", "5", "8", "3xgpu"))
                .put(path)
                .then()
                .statusCode(200)
                .body("effects.changed.field", contains("overQuota"));
    }

    @Test
    void aProfileWithLabelsOfAnOlderVersionCanBeChanged() {
        String profile = "labelled-" + UUID.randomUUID().toString().substring(0, 8);
        admin().body(Map.of("name", profile, "gpus", "1", "pools", List.of(POOL)))
                .post(TENANT + "/profiles")
                .then()
                .statusCode(201);
        execute(
                "update profile set node_labels = '{\"gpu type\": \"h100\"}' where tenant_id = $1 and name = $2",
                Tuple.of(A, profile));
        String path = TENANT + "/profiles/" + profile;
        patch("{'workers':3}", "\"0\"", path)
                .then()
                .statusCode(200)
                .body("workers", equalTo(3))
                .body("nodeLabels", equalTo(Map.of("gpu type", "h100")));
        patch("{'nodeLabels':{'gpu model':'h200'}}", "\"1\"", path)
                .then()
                .statusCode(400)
                .body("errors.field", contains("nodeLabels"));
        patch("{'nodeLabels':{'gpu type':null,'model':'h100'}}", "\"1\"", path)
                .then()
                .statusCode(200)
                .body("nodeLabels", equalTo(Map.of("model", "h100")));
        // Other tests list all profiles, so this one is removed.
        admin().delete(path).then().statusCode(200);
    }

    @Test
    void profilesAndAllotmentsTakeMergePatchesToo() {
        String profile = "patched-" + UUID.randomUUID().toString().substring(0, 8);
        admin().body(Map.of(
                        "name",
                        profile,
                        "gpus",
                        "1",
                        "workers",
                        2,
                        "nodeLabels",
                        Map.of("a", "1", "b", "2"),
                        "maxRuntime",
                        "PT1H",
                        "pools",
                        List.of(POOL)))
                .post(TENANT + "/profiles")
                .then()
                .statusCode(201);
        String path = TENANT + "/profiles/" + profile;
        patch("{}", "\"0\"", path).then().statusCode(200).header("ETag", "\"0\"");
        patch("{'workers':3,'nodeLabels':{'a':null,'c':'3'},'maxRuntime':null}", "\"0\"", path)
                .then()
                .statusCode(200)
                .body("minWorkers", equalTo(3))
                .body("nodeLabels", equalTo(Map.of("b", "2", "c", "3")))
                .body("maxRuntime", nullValue())
                .body(
                        "effects.changed.field",
                        containsInAnyOrder("workers", "minWorkers", "nodeLabels.a", "nodeLabels.c", "maxRuntime"));

        String allotment = "/v1/operator/tenants/" + A + "/allotments/" + POOL;
        String etag = request(operatorToken()).get(allotment).header("ETag");
        request(operatorToken())
                .contentType(MERGE_PATCH)
                .header("If-Match", etag)
                .body("{}")
                .patch(allotment)
                .then()
                .statusCode(200)
                .header("ETag", etag);
        Response weighted = request(operatorToken())
                .contentType(MERGE_PATCH)
                .header("If-Match", etag)
                .body("{\"weight\": 3}")
                .patch(allotment);
        weighted.then()
                .statusCode(200)
                .body("reserved", equalTo("10"))
                .body("limit", equalTo("10"))
                .body("weight", equalTo(3))
                .body("changed.field", contains("weight"));
        request(operatorToken())
                .contentType(MERGE_PATCH)
                .header("If-Match", weighted.header("ETag"))
                .body("{\"weight\": null}")
                .patch(allotment)
                .then()
                .statusCode(200)
                .body("weight", nullValue());
        admin().delete(TENANT + "/profiles/" + profile).then().statusCode(200);
    }

    private static Response patch(String body, String version, String path) {
        return admin().contentType(MERGE_PATCH)
                .header("If-Match", version)
                .body(body.replace('\'', '"'))
                .patch(path);
    }

    @Test
    void aProfileLeftOutRetiresItsQueueAndANewOneMakesOne() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu"));

        admin().body(policy("rnd", "/rnd", "5", "9", "3xgpu"))
                .put(TENANT + "/policies/rnd")
                .then()
                .statusCode(428);
        admin().header("If-Match", "\"0\"")
                .body(policy("rnd", "/rnd", "5", "9", "3xgpu"))
                .put(TENANT + "/policies/rnd")
                .then()
                .statusCode(200)
                .header("ETag", "\"1\"")
                .body("queues", contains("rnd-3xgpu"))
                .body("effects.queuesMade", contains("rnd-3xgpu"))
                .body("effects.queuesRetired", contains("rnd-1xgpu"));
        admin().get(TENANT + "/queues").then().body("items.name", contains("rnd-3xgpu"));
    }

    @Test
    void aCutReservationSaysHowMuchRunsOnAsOverQuota() {
        made(policy("rnd", "/rnd", "6", "9", "3xgpu"));
        running("rnd-3xgpu", 3000);
        running("rnd-3xgpu", 3000);

        admin().header("If-Match", "\"0\"")
                .queryParam("dryRun", true)
                .body(policy("rnd", "/rnd", "4", "9", "3xgpu"))
                .put(TENANT + "/policies/rnd")
                .then()
                .statusCode(200)
                .body("effects.becomingOverQuota", equalTo(1));
        removeRunning();
    }

    @Test
    void anAllotmentIsNotCutBelowWhatPoliciesReserve() {
        made(policy("rnd", "/rnd", "6", "9"));
        String path = "/v1/operator/tenants/" + A + "/allotments/" + POOL;
        String etag = request(operatorToken()).get(path).header("ETag");

        request(operatorToken())
                .header("If-Match", etag)
                .body(Map.of("reserved", "5"))
                .put(path)
                .then()
                .statusCode(422)
                .body("code", equalTo("reservations-do-not-fit"))
                .body("errors[0].field", equalTo("reserved"))
                .body("errors[0].message", containsString("/rnd 6"));
        request(operatorToken())
                .header("If-Match", etag)
                .body(Map.of(
                        "reserved",
                        "10",
                        "override",
                        Map.of(
                                "reserved",
                                "5",
                                "until",
                                Instant.now().plusSeconds(3600).toString())))
                .put(path)
                .then()
                .statusCode(422)
                .body("code", equalTo("reservations-do-not-fit"))
                .body("errors[0].field", equalTo("override.reserved"));
        request(operatorToken()).delete(path).then().statusCode(409).body("code", equalTo("in-use"));
    }

    @Test
    void aProfileChangesOnlyIntoWhatItsPoliciesCanRun() {
        admin().body(Map.of("name", "grown", "gpus", "0.5", "pools", List.of(POOL), "maxRuntime", "PT1H"))
                .post(TENANT + "/profiles")
                .then()
                .statusCode(201)
                .body("gpus", equalTo("0.5"))
                .body("maxRuntime", equalTo("PT1H"));
        made(policy("rnd", "/rnd", "2", "4", "grown"));

        admin().header("If-Match", "\"0\"")
                .body(Map.of("gpus", "5", "pools", List.of(POOL)))
                .put(TENANT + "/profiles/grown")
                .then()
                .statusCode(400)
                .body("errors.field", contains("gpus"));
        admin().header("If-Match", "\"0\"")
                .body(Map.of("gpus", "1.5", "pools", List.of()))
                .put(TENANT + "/profiles/grown")
                .then()
                .statusCode(400)
                .body("errors.field", contains("gpus", "pools"));
        admin().header("If-Match", "\"0\"")
                .body(Map.of("gpus", "4", "pools", List.of(POOL)))
                .put(TENANT + "/profiles/grown")
                .then()
                .statusCode(200)
                .body("version", equalTo(1))
                .body("maxRuntime", nullValue());
        admin().delete(TENANT + "/profiles/grown").then().statusCode(200).body("queuesRetired", contains("rnd-grown"));
    }

    @Test
    void aProfilesTopologyNamesLevelsOfItsPools() {
        Map<String, Object> gang = Map.of(
                "name",
                "gang",
                "gpus",
                "1",
                "workers",
                4,
                "pools",
                List.of(POOL),
                "topology",
                Map.of("required", "row"));
        admin().body(gang)
                .post(TENANT + "/profiles")
                .then()
                .statusCode(400)
                .body("errors.field", contains("topology.required"))
                .body("errors[0].accepted", containsString("rack, zone"));
        admin().body(with(gang, "topology", levels(3)))
                .post(TENANT + "/profiles")
                .then()
                .statusCode(400)
                .body("errors.field", contains("topology.slice.workers"));
        admin().body(with(gang, "topology", levels(2)))
                .post(TENANT + "/profiles")
                .then()
                .statusCode(201)
                .body("topology.required", equalTo("zone"))
                .body("topology.preferred", equalTo("rack"))
                .body("topology.slice.workers", equalTo(2))
                .body("topology.slice.required", equalTo("rack"));
        changePool(List.of("zone"))
                .statusCode(409)
                .body("code", equalTo("in-use"))
                .body("detail", equalTo("profiles need rack: " + A + " gang"))
                .body("errors.field", contains("topologyLevels"));
        admin().delete(TENANT + "/profiles/gang").then().statusCode(200);
        changePool(List.of("zone")).statusCode(200);
        changePool(List.of("zone", "rack")).statusCode(200);
    }

    private static Map<String, Object> levels(int ofSlice) {
        return Map.of("required", "zone", "preferred", "rack", "slice", Map.of("workers", ofSlice, "required", "rack"));
    }

    private static ValidatableResponse changePool(List<String> levels) {
        return request(operatorToken())
                .header(
                        "If-Match",
                        request(operatorToken())
                                .get("/v1/operator/pools/" + POOL)
                                .header("ETag"))
                .body(Map.of("topologyLevels", levels))
                .patch("/v1/operator/pools/" + POOL)
                .then();
    }

    private static Map<String, Object> with(Map<String, Object> body, String field, Object value) {
        Map<String, Object> changed = new HashMap<>(body);
        changed.put(field, value);
        return changed;
    }

    @Test
    void membersReadAndDoNotWriteAndOtherTenantsSeeNothing() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu"));
        RequestSpecification member = request(memberToken(A, "rnd-member"));

        member.get(TENANT + "/queues").then().statusCode(200).body("items.name", contains("rnd-1xgpu"));
        made(policy("devops", "/devops", "1", "2", "1xgpu"));
        String token = memberToken(A, "rnd-member");
        request(token)
                .get(TENANT + "/queues")
                .then()
                .body("items.find { it.name == 'rnd-1xgpu' }.maySubmit", equalTo(true))
                .body("items.find { it.name == 'devops-1xgpu' }.maySubmit", equalTo(false));
        request(token).get(TENANT + "/queues?mine=true").then().body("items.name", contains("rnd-1xgpu"));
        request(token).get(TENANT + "/queues?mine=yes").then().statusCode(400).body("errors.field", contains("mine"));
        admin().body(Map.of("subjectKind", "user", "subject", "rnd-member"))
                .post(TENANT + "/queues/devops-1xgpu/access-rules")
                .then()
                .statusCode(201);
        request(token)
                .get(TENANT + "/queues?mine=true")
                .then()
                .body("items.name", contains("devops-1xgpu", "rnd-1xgpu"));
        request(token).get(TENANT + "/queues/devops-1xgpu").then().body("maySubmit", equalTo(true));
        request(memberToken(A, "rnd-member"))
                .body(policy("mine", "/rnd/mine", "0", "1"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(403);
        request(adminToken(B)).get(TENANT + "/policies").then().statusCode(404);
        request(adminToken(B)).get("/v1/tenants/" + B + "/policies/rnd").then().statusCode(404);
        request(adminToken(B))
                .get("/v1/tenants/" + B + "/queues")
                .then()
                .statusCode(200)
                .body("items.name", not(hasItem("rnd-1xgpu")));
    }
}
