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
import io.restassured.specification.RequestSpecification;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
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

        // A replica may go on for a moment with the rules that it read.
        Awaitility.await()
                .atMost(Duration.ofSeconds(15))
                .until(() -> submission.post(TENANT + "/workloads").statusCode() == 201);
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
                        equalTo("7 workloads wait in it: left-behind, more-1, more-2, more-3, more-4 and 2 more"));
        admin().get(TENANT + "/queues/rnd-1xgpu").then().statusCode(200);

        admin().queryParam("onWaiting", "move")
                .queryParam("moveTo", "rnd-1xgpu")
                .delete(TENANT + "/queues/rnd-1xgpu")
                .then()
                .statusCode(422)
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
        String rule = admin().body(Map.of("subjectKind", "user", "subject", "devops-member"))
                .post(TENANT + "/queues/rnd-1xgpu/access-rules")
                .then()
                .statusCode(201)
                .extract()
                .path("id");
        admin().body(Map.of("subjectKind", "user", "subject", "devops-member"))
                .post(TENANT + "/queues/rnd-1xgpu/access-rules")
                .then()
                .statusCode(200)
                .body("id", equalTo(rule));
        admin().delete(TENANT + "/queues/rnd-1xgpu/access-rules/" + rule).then().statusCode(204);
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
                .body("state", equalTo("draining"));
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
                .body("code", equalTo("queue-drained"))
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
                .body("code", equalTo("queue-drained"));

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

    private static void admit(String kind, String subject) {
        admin().body(Map.of("subjectKind", kind, "subject", subject))
                .post(TENANT + "/queues/rnd-1xgpu/access-rules")
                .then()
                .statusCode(201);
    }
}
