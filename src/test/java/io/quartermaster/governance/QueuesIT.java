package io.quartermaster.governance;

import static io.quartermaster.tenancy.TestTenants.clientToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasSize;

import io.quarkus.test.junit.QuarkusTest;
import io.restassured.response.Response;
import io.restassured.specification.RequestSpecification;
import io.vertx.mutiny.sqlclient.Tuple;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Queues and their access rules through the public API. */
@QuarkusTest
class QueuesIT extends SharedPool {

    @Test
    void theTenantsAutomationSubmitsWhereARuleNamesItsClient() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu"));
        String secret = request(operatorToken())
                .post("/v1/operator/tenants/" + A + "/automation-secret")
                .then()
                .statusCode(201)
                .extract()
                .path("clientSecret");
        RequestSpecification submission = request(clientToken(A, "automation", secret))
                .body(Map.of(
                        "queue",
                        "rnd-1xgpu",
                        "name",
                        "ci",
                        "type",
                        "training",
                        "hold",
                        true,
                        "command",
                        List.of("true")));

        admit("user", "service-account-automation");
        submission.post(TENANT + "/workloads").then().statusCode(403);
        admit("service-account", "automation");
        submission.post(TENANT + "/workloads").then().statusCode(201);
    }

    @Test
    void aRuleThatIsTakenAwayAdmitsNothingFromItsAnswerOn() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu", "3xgpu"));
        RequestSpecification other = request(memberToken(A, "devops-member"));
        Map<String, Object> one = submission("rnd-1xgpu", "by-rule");
        Map<String, Object> batch = Map.of("items", List.of(one, one));
        for (int round = 0; round < 3; round++) {
            other.body(one).post(TENANT + "/workloads").then().statusCode(403);
            String rule = admit("user", "devops-member");
            other.body(one).post(TENANT + "/workloads").then().statusCode(201);
            other.body(batch).post(TENANT + "/workloads/batches").then().statusCode(201);

            admin().delete(TENANT + "/queues/rnd-1xgpu/access-rules/" + rule)
                    .then()
                    .statusCode(204);

            other.body(one)
                    .post(TENANT + "/workloads")
                    .then()
                    .statusCode(403)
                    .body("detail", containsString("rnd-1xgpu"));
            other.body(batch).post(TENANT + "/workloads/batches").then().statusCode(403);
            member().body(one).post(TENANT + "/workloads").then().statusCode(201);
        }
    }

    @Test
    void whatAProfileAllowsCountsFromItsChangeOn() {
        String name = "ranged-" + UUID.randomUUID().toString().substring(0, 8);
        admin().body(Map.of("name", name, "gpus", "1", "maxGpus", "3", "pools", List.of(POOL)))
                .post(TENANT + "/profiles")
                .then()
                .statusCode(201);
        made(policy("rnd", "/rnd", "5", "9", name));
        Map<String, Object> three = new HashMap<>(submission("rnd-" + name, "three"));
        three.put("gpus", "3");
        member().body(three).post(TENANT + "/workloads").then().statusCode(201);

        admin().header("If-Match", "\"0\"")
                .body(Map.of("name", name, "gpus", "1", "maxGpus", "2", "pools", List.of(POOL)))
                .put(TENANT + "/profiles/" + name)
                .then()
                .statusCode(200);

        member().body(three)
                .post(TENANT + "/workloads")
                .then()
                .statusCode(422)
                .body("code", equalTo("gpus-out-of-range"));
        admin().queryParam("onWaiting", "cancel")
                .delete(TENANT + "/profiles/" + name)
                .then()
                .statusCode(200);
    }

    @Test
    void aQueueIsNotRetiredUnderWaitingWorkUnlessTheCallSaysWhatBecomesOfIt() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu", "3xgpu"));
        UUID first = waiting("rnd-1xgpu", "left-behind");

        admin().delete(TENANT + "/queues/rnd-1xgpu")
                .then()
                .statusCode(409)
                .body("code", equalTo("work-is-waiting"))
                .body("detail", containsString("left-behind"));
        IntStream.rangeClosed(1, 6).forEach(i -> waiting("rnd-1xgpu", "more-" + i));
        admin().delete(TENANT + "/queues/rnd-1xgpu")
                .then()
                .statusCode(409)
                .body(
                        "detail",
                        equalTo("7 workloads wait in queues that this call would retire: left-behind, "
                                + "more-1, more-2, more-3, more-4 and 2 more"));
        admin().get(TENANT + "/queues/rnd-1xgpu").then().statusCode(200);

        admin().queryParam("onWaiting", "move")
                .queryParam("moveTo", "rnd-1xgpu")
                .delete(TENANT + "/queues/rnd-1xgpu")
                .then()
                .statusCode(400)
                .body("errors.field", contains("moveTo"));
        admin().queryParam("onWaiting", "move")
                .queryParam("moveTo", "rnd-3xgpu")
                .delete(TENANT + "/queues/rnd-1xgpu")
                .then()
                .statusCode(200)
                .body("waitingTouched", equalTo(7))
                .body("queuesRetired", contains("rnd-1xgpu"));
        assertThat(text("select q.name from workload w join queue q on q.id = w.queue_id where w.id = $1", first))
                .isEqualTo("rnd-3xgpu");

        admin().queryParam("onWaiting", "cancel")
                .delete(TENANT + "/policies/rnd")
                .then()
                .statusCode(200)
                .body("waitingTouched", equalTo(7));
        assertThat(text("select wish from workload where id = $1", first)).isEqualTo("cancel");
    }

    @Test
    void workIsMovedOnlyIntoAQueueThatWouldHaveTakenItsSubmission() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu", "3xgpu"));
        UUID work = waiting("rnd-1xgpu", "to-be-moved");

        execute("update workload set type = 'service' where id = $1", Tuple.of(work));
        refusedToMove(422, "type-does-not-fit");
        execute("update workload set type = 'training', gpus = 2 where id = $1", Tuple.of(work));
        refusedToMove(422, "gpus-out-of-range");
        execute("update workload set gpus = 3, min_gpus = 2 where id = $1", Tuple.of(work));
        refusedToMove(422, "gpus-out-of-range");
        execute("update workload set gpus = null, min_gpus = null where id = $1", Tuple.of(work));

        String group = admin().get(TENANT + "/queues/rnd-3xgpu/access-rules").path("items[0].id");
        admin().delete(TENANT + "/queues/rnd-3xgpu/access-rules/" + group)
                .then()
                .statusCode(204);
        refusedToMove(422, "submitter-not-admitted");
        admin().body(Map.of("subjectKind", "user", "subject", "rnd-member"))
                .post(TENANT + "/queues/rnd-3xgpu/access-rules")
                .then()
                .statusCode(201);

        admin().header("If-Match", "\"0\"")
                .body(Map.of("maxWaiting", 1))
                .patch(TENANT + "/queues/rnd-3xgpu")
                .then()
                .statusCode(200);
        UUID there = waiting("rnd-3xgpu", "there-already");
        refusedToMove(429, "queue-full");
        execute("update workload set state = 'cancelled', ended_at = clock_timestamp() where id = $1", Tuple.of(there));

        admin().queryParam("onWaiting", "move")
                .queryParam("moveTo", "rnd-3xgpu")
                .delete(TENANT + "/queues/rnd-1xgpu")
                .then()
                .statusCode(200)
                .body("waitingTouched", equalTo(1));
    }

    private static void refusedToMove(int status, String code) {
        admin().queryParam("onWaiting", "move")
                .queryParam("moveTo", "rnd-3xgpu")
                .delete(TENANT + "/queues/rnd-1xgpu")
                .then()
                .statusCode(status)
                .body("code", equalTo(code));
        admin().get(TENANT + "/queues/rnd-1xgpu").then().statusCode(200);
    }

    @Test
    void queuesCanBeClosedToOverQuotaAndOpenedToMore() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu"));

        admin().header("If-Match", "\"0\"")
                .body(Map.of("overQuota", false, "maxWaiting", 7))
                .patch(TENANT + "/queues/rnd-1xgpu")
                .then()
                .statusCode(200)
                .body("overQuota", equalTo(false))
                .body("maxWaiting", equalTo(7))
                .body("order", equalTo("skip-ahead"));
        admin().header("If-Match", "\"1\"")
                .body(Map.of("order", "strict-fifo"))
                .patch(TENANT + "/queues/rnd-1xgpu")
                .then()
                .statusCode(200)
                .body("overQuota", equalTo(false))
                .body("order", equalTo("strict-fifo"));
        Response made = admin().body(Map.of("subjectKind", "user", "subject", "devops-member"))
                .post(TENANT + "/queues/rnd-1xgpu/access-rules");
        made.then().statusCode(201).body("warnings", hasSize(0));
        String rule = made.path("id");
        admin().get(made.header("Location"))
                .then()
                .statusCode(200)
                .body("id", equalTo(rule))
                .body("subject", equalTo("devops-member"));
        admin().queryParam("dryRun", true)
                .body(Map.of("subjectKind", "user", "subject", "nobody-such"))
                .post(TENANT + "/queues/rnd-1xgpu/access-rules")
                .then()
                .statusCode(200)
                .body(
                        "warnings",
                        contains("the realm has no user nobody-such; the rule admits no caller until the "
                                + "realm has one"));
        admin().body(Map.of("subjectKind", "user", "subject", "devops-member"))
                .post(TENANT + "/queues/rnd-1xgpu/access-rules")
                .then()
                .statusCode(200)
                .body("id", equalTo(rule));
        String repeated = UUID.randomUUID().toString();
        for (int i = 0; i < 2; i++) {
            Response answer = admin().header("Idempotency-Key", repeated)
                    .delete(TENANT + "/queues/rnd-1xgpu/access-rules/" + rule);
            assertThat(answer.statusCode()).isEqualTo(204);
            assertThat(answer.asString()).as("a 204 has no body").isEmpty();
            assertThat(answer.contentType()).as("nor a type of one").isEmpty();
        }
        admin().get(TENANT + "/queues/rnd-1xgpu/access-rules").then().body("items", hasSize(1));
        admin().body(Map.of("subjectKind", "group", "subject", "rnd"))
                .post(TENANT + "/queues/rnd-1xgpu/access-rules")
                .then()
                .statusCode(400)
                .body("errors.field", contains("subject"));
    }

    @Test
    void aDrainingQueueTakesNothingMoreAndABatchWithWorkForItIsRefusedWhole() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu", "3xgpu"));
        Map<String, Object> forIt = submission("rnd-1xgpu", "late");
        member().body(forIt).post(TENANT + "/workloads").then().statusCode(201);

        admin().header("If-Match", "\"0\"")
                .queryParam("dryRun", true)
                .body(Map.of("state", "draining"))
                .patch(TENANT + "/queues/rnd-1xgpu")
                .then()
                .statusCode(200)
                .body("resource.state", equalTo("draining"));
        admin().get(TENANT + "/queues/rnd-1xgpu").then().body("state", equalTo("open"));
        admin().header("If-Match", "\"0\"")
                .body(Map.of("state", "draining"))
                .patch(TENANT + "/queues/rnd-1xgpu")
                .then()
                .statusCode(200);

        member().body(forIt)
                .post(TENANT + "/workloads")
                .then()
                .statusCode(409)
                .body("code", equalTo("queue-draining"))
                .body("errors.field", contains("queue"));
        member().body(Map.of("items", List.of(submission("rnd-3xgpu", "not-alone"), forIt)))
                .post(TENANT + "/workloads/batches")
                .then()
                .statusCode(409)
                .body("errors.field", contains("items[1].queue"));
        admin().queryParam("name", "not-alone")
                .get(TENANT + "/workloads")
                .then()
                .body("items", hasSize(0));
        admin().body(Map.of("workloads", List.of(Map.of("queue", "rnd-1xgpu", "maxRuntime", "PT1H"))))
                .post(TENANT + "/simulations")
                .then()
                .statusCode(409)
                .body("errors.field", contains("workloads[0].queue"));
        waiting("rnd-3xgpu", "to-be-moved");
        admin().queryParam("onWaiting", "move")
                .queryParam("moveTo", "rnd-1xgpu")
                .delete(TENANT + "/queues/rnd-3xgpu")
                .then()
                .statusCode(409)
                .body("code", equalTo("queue-draining"));

        admin().header("If-Match", "\"1\"")
                .body(Map.of("state", "open"))
                .patch(TENANT + "/queues/rnd-1xgpu")
                .then()
                .statusCode(200)
                .body("overQuota", equalTo(true));
        member().body(forIt).post(TENANT + "/workloads").then().statusCode(201);
    }

    @Test
    void anAdminSaysWhoOfAQueueGoesFirst() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu", "3xgpu"));
        UUID first = waiting("rnd-1xgpu", "first");
        UUID second = waiting("rnd-1xgpu", "second");
        UUID elsewhere = waiting("rnd-3xgpu", "elsewhere");
        String order = TENANT + "/queues/rnd-1xgpu/order";

        admin().body(Map.of("workloads", List.of(second, first)))
                .put(order)
                .then()
                .statusCode(200);
        assertThat(place(second) + place(first)).isEqualTo("12");
        admin().body(Map.of("workloads", List.of(second, elsewhere)))
                .put(order)
                .then()
                .statusCode(422)
                .body("code", equalTo("not-waiting"))
                .body("errors.field", contains("workloads[1]"));
        admin().body(Map.of("workloads", List.of(first, first)))
                .put(order)
                .then()
                .statusCode(400)
                .body("errors.field", contains("workloads[1]"));
        admin().body(Map.of("workloads", List.of(first))).put(order).then().statusCode(200);
        assertThat(place(second) + place(first)).isEqualTo("none1");
        admin().body(Map.of("workloads", List.of())).put(order).then().statusCode(200);
        assertThat(place(first)).isEqualTo("none");
        member().body(Map.of("workloads", List.of(first))).put(order).then().statusCode(403);
    }

    private String place(UUID workload) {
        return text("select coalesce(place::text, 'none') from workload where id = $1", workload);
    }

    private static RequestSpecification member() {
        return request(memberToken(A, "rnd-member"));
    }

    private static Map<String, Object> submission(String queue, String name) {
        return Map.of("queue", queue, "name", name, "type", "training", "hold", true, "command", List.of("true"));
    }

    /** Returns the id of the rule. */
    private static String admit(String kind, String subject) {
        return admin().body(Map.of("subjectKind", kind, "subject", subject))
                .post(TENANT + "/queues/rnd-1xgpu/access-rules")
                .then()
                .statusCode(201)
                .extract()
                .path("id");
    }
}
