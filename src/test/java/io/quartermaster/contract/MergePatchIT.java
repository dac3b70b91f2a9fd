package io.quartermaster.contract;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.hamcrest.Matchers.aMapWithSize;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasEntry;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.tenancy.TestTenants;
import io.restassured.response.ValidatableResponse;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Every PATCH accepts a merge patch of RFC 7396, under both of its media types. */
@QuarkusTest
class MergePatchIT {

    private static final String TENANT = "merge-patch-a";

    @BeforeAll
    static void aTenantWithAQueueAndANode() {
        TestTenants.provision(TENANT);
        post(operatorToken(), "/v1/operator/clusters", Map.of("name", "merge-c", "kind", "agent", "region", "eu"));
        post(operatorToken(), "/v1/operator/pools", Map.of("name", "merge-nodes", "topologyLevels", List.of("rack")));
        post(
                operatorToken(),
                "/v1/operator/pools",
                Map.of("name", "merge-count", "capacity", "4", "placement", "spread"));
        post(
                operatorToken(),
                "/v1/operator/nodes",
                Map.of(
                        "name",
                        "merge-n",
                        "cluster",
                        "merge-c",
                        "pool",
                        "merge-nodes",
                        "cpuMilli",
                        8000,
                        "labels",
                        Map.of("a", "1", "b", "2"),
                        "topology",
                        List.of("r1")));
        request(operatorToken())
                .body(Map.of("reserved", "2"))
                .put("/v1/operator/tenants/" + TENANT + "/allotments/merge-count")
                .then()
                .statusCode(201);
        post(
                adminToken(TENANT),
                "/v1/tenants/" + TENANT + "/profiles",
                Map.of("name", "merge", "gpus", "1", "pools", List.of("merge-count")));
        post(
                adminToken(TENANT),
                "/v1/tenants/" + TENANT + "/policies",
                Map.of(
                        "name",
                        "rnd",
                        "group",
                        "/rnd",
                        "quotas",
                        List.of(Map.of("pool", "merge-count", "reserved", "1")),
                        "profiles",
                        List.of("merge")));
    }

    @Test
    void labelsOfANodeAreMergedAndFieldsAreCleared() {
        String node = "/v1/operator/nodes/merge-n";
        patch(node, "{\"labels\": {\"b\": null, \"c\": \"3\"}}", 200)
                .body("labels", aMapWithSize(2))
                .body("labels", hasEntry("a", "1"))
                .body("labels", hasEntry("c", "3"));
        patch(node, "{\"cpuMilli\": null, \"topology\": null, \"schedulable\": false}", 200)
                .body("cpuMilli", nullValue())
                .body("topology", empty())
                .body("schedulable", equalTo(false))
                .body("labels", aMapWithSize(2));
        patch(node, "{\"labels\": null, \"schedulable\": null}", 200)
                .body("labels", aMapWithSize(0))
                .body("schedulable", equalTo(true))
                .body("pool", equalTo("merge-nodes"));
        patch(node, "{\"pool\": null}", 400)
                .body("errors.field", contains("pool"))
                .body("errors[0].message", containsString("needs a value"));
        patch(node, "{\"colour\": \"red\"}", 400).body("errors.field", contains("colour"));
        patch(node, "[]", 400).body("errors.field", contains("body"));
    }

    @Test
    void fieldsOfAPoolAreCleared() {
        String pool = "/v1/operator/pools/merge-count";
        patch(
                        pool,
                        "{\"hours\": {\"timeZone\": \"UTC\", \"open\": [{\"days\": [\"monday\"], \"from\": "
                                + "\"08:00\", \"to\": \"18:00\"}]}, \"waitBeforePreempting\": \"PT2M\", \"elastic\": true}",
                        200)
                .body("hours.timeZone", equalTo("UTC"));
        patch(pool, "{\"hours\": {\"timeZone\": \"Europe/Berlin\"}}", 200)
                .body("hours.timeZone", equalTo("Europe/Berlin"))
                .body("hours.open[0].from", equalTo("08:00"));
        patch(pool, "{\"hours\": null, \"waitBeforePreempting\": null, \"elastic\": null, \"placement\": null}", 200)
                .body("hours", nullValue())
                .body("waitBeforePreempting", equalTo("PT0S"))
                .body("elastic", equalTo(false))
                .body("placement", equalTo("pack"))
                .body("capacity", equalTo("4"));
        patch(pool, "{\"capacity\": null}", 200).body("capacity", nullValue());
        patch(pool, "{\"capacity\": \"4\"}", 200).body("capacity", equalTo("4"));
        patch("/v1/operator/pools/merge-nodes", "{\"topologyLevels\": null}", 200)
                .body("topologyLevels", empty());
    }

    @Test
    void fieldsOfAQueueReturnToTheirDefaults() {
        String queue = "/v1/tenants/" + TENANT + "/queues/rnd-merge";
        patch(queue, "{\"maxWaiting\": 3, \"state\": \"held\", \"overQuota\": false}", 200)
                .body("maxWaiting", equalTo(3));
        patch(queue, "{\"maxWaiting\": null, \"state\": null}", 200)
                .body("maxWaiting", equalTo(10_000))
                .body("state", equalTo("open"))
                .body("overQuota", equalTo(false));
    }

    @Test
    void fieldsThatNeedAValueAreRefusedByName() {
        String tenant = "/v1/operator/tenants/" + TENANT;
        patch(tenant, "{\"displayName\": \"Another\"}", 200).body("displayName", equalTo("Another"));
        patch(tenant, "{\"displayName\": null}", 200).body("displayName", equalTo(TENANT));
        patch(tenant, "{\"state\": null}", 400)
                .body("errors.field", contains("state"))
                .body("errors[0].accepted", equalTo("active, suspended"));
        patch("/v1/operator/clusters/merge-c", "{\"region\": null}", 400).body("errors.field", contains("region"));
        patch("/v1/operator/clusters/merge-c", "{\"region\": \"eu-west\"}", 200).body("region", equalTo("eu-west"));
    }

    private static void post(String token, String path, Map<String, ?> body) {
        request(token).body(body).post(path).then().statusCode(201);
    }

    /** Sends a dry run with one media type, then with the other. */
    private static ValidatableResponse patch(String path, String body, int status) {
        String token = path.startsWith("/v1/operator") ? operatorToken() : adminToken(TENANT);
        String version = request(token).get(path).header("ETag");
        request(token)
                .queryParam("dryRun", true)
                .header("If-Match", version)
                .body(body)
                .patch(path)
                .then()
                .statusCode(status);
        return request(token)
                .contentType(MergePatch.MEDIA_TYPE + "; charset=UTF-8")
                .header("If-Match", version)
                .body(body)
                .patch(path)
                .then()
                .statusCode(status);
    }
}
