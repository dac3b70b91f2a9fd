package io.quartermaster.workloads;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.restassured.response.Response;
import io.restassured.response.ValidatableResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Clones of workloads, and changes of waiting ones. */
@QuarkusTest
class WorkloadChangesIT extends TwoTenantsWork {

    private static String submit(Map<String, Object> body) {
        return request(member())
                .body(body)
                .post(WORKLOADS)
                .then()
                .statusCode(201)
                .extract()
                .path("id");
    }

    private static Map<String, Object> held(String name) {
        return with(training(rnd, name), "hold", true);
    }

    private static ValidatableResponse clone(String token, String id, Object overrides) {
        return request(token)
                .body(overrides)
                .post(WORKLOADS + "/" + id + "/clone")
                .then();
    }

    private static ValidatableResponse patch(String token, String id, String body) {
        return request(token)
                .header("If-Match", get(id).header("ETag"))
                .body(body)
                .patch(WORKLOADS + "/" + id)
                .then();
    }

    @Test
    void aCloneIsTheSubmissionWithItsOverrides() {
        String id = submit(with(
                with(
                        with(with(held("origin"), "environment", Map.of("A", "1", "B", "2")), "maxRuntime", "PT90M"),
                        "labels",
                        Map.of("team", "nlp", "run", "1")),
                "priority",
                9));
        cancel(id);
        eventually(id, "cancelled");

        Map<String, Object> overrides = new HashMap<>(Map.of("name", "again", "hold", true));
        overrides.put("environment", new HashMap<>(Map.of("C", "3")));
        overrides.put("labels", Map.of("run", "2"));
        Response first = request(member())
                .header("Idempotency-Key", "clone-once")
                .body(overrides)
                .post(WORKLOADS + "/" + id + "/clone");
        String again = first.then()
                .statusCode(201)
                .body("name", equalTo("again"))
                .body("queue", equalTo(rnd))
                .body("priority", equalTo(9))
                .body("id", not(equalTo(id)))
                .extract()
                .path("id");
        assertThat(first.header("Location")).isEqualTo(WORKLOADS + "/" + again);
        get(again)
                .then()
                .body("command", contains("sleep", "60"))
                .body("environment", equalTo(Map.of("A", "1", "B", "2", "C", "3")))
                .body("workload.labels", equalTo(Map.of("team", "nlp", "run", "2")))
                .body("workload.maxRuntime", equalTo("PT1H30M"))
                .body("workload.state", equalTo("held"));
        request(member())
                .header("Idempotency-Key", "clone-once")
                .body(overrides)
                .post(WORKLOADS + "/" + id + "/clone")
                .then()
                .statusCode(201)
                .body("id", equalTo(again));
        request(member())
                .header("Idempotency-Key", "clone-once")
                .body("{}")
                .post(WORKLOADS + "/" + id + "/clone")
                .then()
                .statusCode(422)
                .body("code", equalTo("idempotency-key-reused"));

        Map<String, Object> dropped = new HashMap<>();
        dropped.put("maxRuntime", null);
        dropped.put("environment", null);
        dropped.put("hold", true);
        String bare = clone(member(), again, dropped).statusCode(201).extract().path("id");
        get(bare).then().body("environment", equalTo(Map.of())).body("workload.maxRuntime", nullValue());
        List.of(again, bare).forEach(TwoTenantsWork::cancel);
    }

    @Test
    void aCloneIsRefusedAsASubmissionIs() {
        String id = submit(held("to-clone"));
        clone(member(), id, Map.of("queue", devops)).statusCode(403).body("detail", containsString(devops));
        clone(member(), id, Map.of("queue", "no-such-queue")).statusCode(404).body("errors.field", contains("queue"));
        clone(member(), id, Map.of("priority", 5000)).statusCode(400).body("errors.field", contains("priority"));
        clone(member(), id, "{\"queue\": null}").statusCode(400).body("errors.field", contains("queue"));
        clone(member(), id, Map.of("colour", "red")).statusCode(400).body("errors.field", contains("colour"));
        clone(operatorToken(), id, Map.of()).statusCode(404);
        clone(memberToken(B, "rnd-member"), id, Map.of()).statusCode(404);
        cancel(id);
    }

    @Test
    void aCloneTakesNoEnvironmentThatItsCallerMayNotSee() {
        String secret = submit(with(held("secret"), "environment", Map.of("TOKEN", "of-rnd")));
        String other = memberToken(A, "devops-member");
        clone(other, secret, Map.of("queue", devops, "hold", true))
                .statusCode(422)
                .body("code", equalTo("environment-hidden"))
                .body("errors.field", contains("environment"));
        String cloned = clone(
                        other, secret, Map.of("queue", devops, "hold", true, "environment", Map.of("OWN", "value")))
                .statusCode(201)
                .extract()
                .path("id");
        request(adminToken(A))
                .get(WORKLOADS + "/" + cloned)
                .then()
                .body("environment", equalTo(Map.of("OWN", "value")))
                .body("workload.submittedBy", equalTo("devops-member"));

        Map<String, Object> again = Map.of("hold", true);
        String first = cloneOnce(secret, again).statusCode(201).extract().path("id");
        cancel(secret);
        eventually(secret, "cancelled");
        clone(member(), secret, again).statusCode(201);
        rows.run(
                "update workload set environment = '{}', environment_removed_at = clock_timestamp() where id = $1",
                UUID.fromString(secret));
        clone(member(), secret, again).statusCode(422).body("code", equalTo("environment-removed"));
        // The clone of before is answered nevertheless.
        cloneOnce(secret, again).statusCode(201).body("id", equalTo(first));
        String bare = clone(member(), secret, Map.of("hold", true, "environment", Map.of()))
                .statusCode(201)
                .extract()
                .path("id");
        List.of(cloned, bare, first).forEach(TwoTenantsWork::cancel);
    }

    private static ValidatableResponse cloneOnce(String id, Object overrides) {
        return request(member())
                .header("Idempotency-Key", "clone-of-secret")
                .body(overrides)
                .post(WORKLOADS + "/" + id + "/clone")
                .then();
    }

    @Test
    void whatEndedBeforeEnvironmentsWereMarkedNeedsAnEnvironmentAndWhatEndsLaterDoesNot() {
        String before = submit(held("before-marks"));
        String after = submit(held("after-marks"));
        for (String id : List.of(before, after)) {
            cancel(id);
            eventually(id, "cancelled");
        }
        // As the migration leaves the rows that it finds.
        rows.run(
                "update workload set environment_removed_at = ended_at + interval '1 second' where id = $1",
                UUID.fromString(before));
        rows.run(
                "update workload set environment_removed_at = ended_at - interval '1 second' where id = $1",
                UUID.fromString(after));

        clone(member(), before, Map.of("hold", true))
                .statusCode(422)
                .body("code", equalTo("environment-removed"))
                .body("errors.field", contains("environment"));
        List.of(
                        clone(member(), before, Map.of("hold", true, "environment", Map.of())),
                        clone(member(), after, Map.of("hold", true)))
                .forEach(clone -> cancel(clone.statusCode(201).extract().<String>path("id")));
    }

    @Test
    void aChangeOfQueueOrPriorityEndsThePlaceOfEvictedWork() {
        String id = submit(held("evicted"));
        for (String change : List.of("{\"priority\": 30}", "{\"queue\": \"" + small + "\"}")) {
            rows.run("update workload set at_head_since = clock_timestamp() where id = $1", UUID.fromString(id));
            patch(member(), id, "{\"labels\": {\"touched\": \"" + change.length() + "\"}}")
                    .statusCode(200);
            assertThat(isAtHead(id)).as("after a change of labels").isTrue();
            patch(member(), id, change).statusCode(200);
            assertThat(isAtHead(id)).as(change).isFalse();
        }
        cancel(id);
    }

    private boolean isAtHead(String id) {
        return rows.run("select at_head_since is not null as yes from workload where id = $1", UUID.fromString(id))
                .getFirst()
                .getBoolean("yes");
    }

    @Test
    void waitingWorkChangesAndTheLeaderStartsItAsItIsThen() {
        endAll();
        String id = submit(with(with(held("to-change"), "labels", Map.of("a", "1", "b", "2")), "maxRuntime", "PT1H"));
        String etag = get(id).header("ETag");
        patch(member(), id, "{\"priority\": 20, \"labels\": {\"a\": null}, \"maxRuntime\": \"PT2H\"}")
                .statusCode(200)
                .body("priority", equalTo(20))
                .body("maxRuntime", equalTo("PT2H"))
                .body("labels", equalTo(Map.of("b", "2")));
        assertThat(get(id).header("ETag")).isNotEqualTo(etag);
        request(member())
                .header("If-Match", etag)
                .body("{\"priority\": 21}")
                .patch(WORKLOADS + "/" + id)
                .then()
                .statusCode(412);
        request(member())
                .body("{\"priority\": 21}")
                .patch(WORKLOADS + "/" + id)
                .then()
                .statusCode(428);
        patch(member(), id, "{\"maxRuntime\": null, \"priority\": null}")
                .statusCode(200)
                .body("maxRuntime", nullValue())
                .body("priority", equalTo(50));
        String now = get(id).header("ETag");
        patch(member(), id, "{\"priority\": 50}").statusCode(200);
        assertThat(get(id).header("ETag")).isEqualTo(now);
        request(member())
                .header("If-Match", now)
                .queryParam("dryRun", true)
                .body("{\"priority\": 1}")
                .patch(WORKLOADS + "/" + id)
                .then()
                .statusCode(200)
                .body("resource.priority", equalTo(1));
        get(id).then().body("workload.priority", equalTo(50));

        request(member()).post(WORKLOADS + "/" + id + "/release").then().statusCode(200);
        eventually(id, "starting");
        patch(member(), id, "{\"priority\": 1}")
                .statusCode(409)
                .body("code", equalTo("workload-started"))
                .body("detail", containsString("clone"));
        cancel(id);
        patch(member(), id, "{\"priority\": 1}").statusCode(409).body("code", equalTo("workload-over"));
        request(adminToken(A))
                .queryParam("pageSize", 50)
                .get("/v1/tenants/" + A + "/audit-entries")
                .then()
                .body(
                        "items.findAll { it.action == 'workloads:update' && it.resource == 'workloads/" + id
                                + "' }.after.priority",
                        contains(50, 20));
        endAll();
    }

    @Test
    void workMovesOnlyToAQueueThatTakesIt() {
        String id = submit(held("to-move"));
        patch(member(), id, "{\"queue\": \"" + devops + "\"}").statusCode(403);
        patch(member(), id, "{\"queue\": \"no-such-queue\"}").statusCode(404).body("errors.field", contains("queue"));
        patch(member(), id, "{\"queue\": null}").statusCode(400).body("errors.field", contains("queue"));
        patch(memberToken(A, "devops-member"), id, "{\"priority\": 1}").statusCode(403);
        patch(member(), id, "{\"priority\": 1001}").statusCode(400).body("errors.field", contains("priority"));
        // The rule of devops admits the group of devops, which is not known of another submitter.
        patch(adminToken(A), id, "{\"queue\": \"" + devops + "\"}")
                .statusCode(403)
                .body("detail", containsString("rnd-member"));

        patch(member(), id, "{\"queue\": \"" + small + "\"}")
                .statusCode(200)
                .body("queue", equalTo(small))
                .body("group", equalTo("/rnd/small"));
        String second = submit(with(training(small, "second"), "hold", true));
        String third = submit(held("third"));
        patch(member(), third, "{\"queue\": \"" + small + "\"}").statusCode(429).body("code", equalTo("queue-full"));
        patch(adminToken(A), id, "{\"queue\": \"" + rnd + "\"}").statusCode(200).body("group", equalTo("/rnd"));
        rows.run("update policy set max_priority = 60 where tenant_id = $1 and group_path = '/rnd'", A);
        try {
            patch(member(), third, "{\"priority\": 61}")
                    .statusCode(422)
                    .body("code", equalTo("beyond-submission-rights"))
                    .body("errors.field", contains("priority"));
            patch(member(), third, "{\"priority\": 60}").statusCode(200);
        } finally {
            rows.run("update policy set max_priority = 1000 where tenant_id = $1 and group_path = '/rnd'", A);
        }
        List.of(id, second, third).forEach(TwoTenantsWork::cancel);
    }

    @Test
    void aChangeThatWaitsForAStartIsRefused() {
        String id = submit(held("racing"));
        String etag = get(id).header("ETag");

        Future<Response> late = database.run(PATIENCE, tx -> {
            tx.run("update workload set state = 'running' where id = $1", UUID.fromString(id));
            CompletableFuture<Response> waits = CompletableFuture.supplyAsync(
                    () -> request(member())
                            .header("If-Match", etag)
                            .body("{\"priority\": 3}")
                            .patch(WORKLOADS + "/" + id),
                    Thread::startVirtualThread);
            Awaitility.await().atMost(PATIENCE).until(() -> {
                if (waits.isDone()) {
                    throw new AssertionError("it did not wait: " + waits.join().asString());
                }
                return !rows.run("select 1 from pg_locks where not granted").isEmpty();
            });
            return waits;
        });

        assertThat(late)
                .succeedsWithin(PATIENCE)
                .satisfies(response -> response.then().statusCode(409).body("code", equalTo("workload-started")));
        get(id).then().body("workload.priority", equalTo(50));
        rows.run("update workload set state = 'held' where id = $1", UUID.fromString(id));
        cancel(id);
    }
}
