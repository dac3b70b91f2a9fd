package io.quartermaster.governance;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.clientToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.SystemDatabase;
import io.quartermaster.tenancy.TestTenants;
import io.restassured.specification.RequestSpecification;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Profiles, policies, queues and their access rules through the public API, with two tenants that share a pool. */
@QuarkusTest
class GovernanceIT {

    private static final String A = "governance-a";
    private static final String B = "governance-b";
    private static final String POOL = "governed";
    private static final String TENANT = "/v1/tenants/" + A;

    @Inject
    SystemDatabase database;

    @BeforeAll
    static void twoTenantsShareAPool() {
        TestTenants.provision(A);
        TestTenants.provision(B);
        request(operatorToken())
                .body(Map.of("name", POOL, "capacity", "20"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(201);
        for (String tenant : List.of(A, B)) {
            request(operatorToken())
                    .body(Map.of("reserved", "10", "limit", "10"))
                    .put("/v1/operator/tenants/" + tenant + "/allotments/" + POOL)
                    .then()
                    .statusCode(201);
        }
        for (String name : List.of("1xgpu", "3xgpu")) {
            request(adminToken(A))
                    .body(Map.of("name", name, "gpus", name.substring(0, 1), "pools", List.of(POOL)))
                    .post(TENANT + "/profiles")
                    .then()
                    .statusCode(201);
        }
    }

    /** What a test stated goes, so that each finds the allotment free. */
    @AfterEach
    void retirePolicies() {
        List<String> names = admin().get(TENANT + "/policies").path("items.name");
        for (String name : names) {
            admin().queryParam("onWaiting", "cancel")
                    .delete(TENANT + "/policies/" + name)
                    .then()
                    .statusCode(200);
        }
    }

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
                        "select string_agg(actor || ' ' || action, ', ') from audit_entry where tenant_id = $1 and resource = 'policies/rnd'",
                        A))
                .contains("admin policies:create");
    }

    @Test
    void theSameAgainChangesNothingAndOtherContentIsRefused() {
        admin().body(policy("rnd", "/rnd", "5", "9", "1xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201);

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
        admin().body(policy("rnd", "/rnd", "6", "9"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201);

        admin().body(policy("devops", "/devops", "5", "2", "3xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(400)
                .body("errors.field", contains("quotas[0].limit"));
        admin().body(policy("devops", "/devops", "5", "5", "3xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(400)
                .contentType("application/problem+json")
                .body("errors.field", contains("quotas[0].reserved"))
                .body("errors[0].accepted", equalTo("at most 4"));
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
                    .statusCode(201)
                    .body("effects.warnings", contains(containsString("/rnd/later")));
        }
        admin().body(policy("rnd", "/rnd", "5", "9", "1xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201)
                .body("effects.warnings", hasSize(0));
    }

    @Test
    void theTenantsAutomationSubmitsWhereARuleNamesItsClient() {
        admin().body(policy("rnd", "/rnd", "5", "9", "1xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201);
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
    void aDryRunShowsWhatWouldBeAndLeavesNothing() {
        admin().queryParam("dryRun", true)
                .body(policy("rnd", "/rnd", "5", "9", "3xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201)
                .body("effects.queuesMade", contains("rnd-3xgpu"))
                .body("effects.reserved[0].after", equalTo("5"));

        admin().get(TENANT + "/policies/rnd").then().statusCode(404);
        admin().get(TENANT + "/queues").then().body("items", hasSize(0));
    }

    @Test
    void aProfileLeftOutRetiresItsQueueAndANewOneMakesOne() {
        admin().body(policy("rnd", "/rnd", "5", "9", "1xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201);

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
    void aQueueIsNotRetiredUnderWaitingWorkUnlessTheCallSaysWhatBecomesOfIt() {
        admin().body(policy("rnd", "/rnd", "5", "9", "1xgpu", "3xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201);
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
    void aCutReservationSaysHowMuchRunsOnAsOverQuota() {
        admin().body(policy("rnd", "/rnd", "6", "9", "3xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201);
        running("rnd-3xgpu", 3000);
        running("rnd-3xgpu", 3000);

        admin().header("If-Match", "\"0\"")
                .queryParam("dryRun", true)
                .body(policy("rnd", "/rnd", "4", "9", "3xgpu"))
                .put(TENANT + "/policies/rnd")
                .then()
                .statusCode(200)
                .body("effects.becomingOverQuota", equalTo(1));
        execute("delete from attempt where tenant_id = $1", Tuple.of(A));
        execute("delete from workload where tenant_id = $1 and state = 'running'", Tuple.of(A));
    }

    @Test
    void anAllotmentIsNotCutBelowWhatPoliciesReserve() {
        admin().body(policy("rnd", "/rnd", "6", "9"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201);
        String path = "/v1/operator/tenants/" + A + "/allotments/" + POOL;
        String etag = request(operatorToken()).get(path).header("ETag");

        request(operatorToken())
                .header("If-Match", etag)
                .body(Map.of("reserved", "5"))
                .put(path)
                .then()
                .statusCode(422)
                .body("code", equalTo("reservations-do-not-fit"))
                .body("errors[0].message", containsString("/rnd 6"));
        request(operatorToken()).delete(path).then().statusCode(422);
    }

    @Test
    void queuesCanBeClosedToOverQuotaAndOpenedToMore() {
        admin().body(policy("rnd", "/rnd", "5", "9", "1xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201);

        admin().header("If-Match", "\"0\"")
                .body(Map.of("overQuota", false, "maxWaiting", 7))
                .patch(TENANT + "/queues/rnd-1xgpu")
                .then()
                .statusCode(200)
                .body("overQuota", equalTo(false))
                .body("maxWaiting", equalTo(7));
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
    void aProfileChangesOnlyIntoWhatItsPoliciesCanRun() {
        admin().body(Map.of("name", "grown", "gpus", "0.5", "pools", List.of(POOL), "maxRuntime", "PT1H"))
                .post(TENANT + "/profiles")
                .then()
                .statusCode(201)
                .body("gpus", equalTo("0.5"))
                .body("maxRuntime", equalTo("PT1H"));
        admin().body(policy("rnd", "/rnd", "2", "4", "grown"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201);

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
    void membersReadAndDoNotWriteAndOtherTenantsSeeNothing() {
        admin().body(policy("rnd", "/rnd", "5", "9", "1xgpu"))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201);
        RequestSpecification member = request(memberToken(A, "rnd-member"));

        member.get(TENANT + "/queues").then().statusCode(200).body("items.name", contains("rnd-1xgpu"));
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

    private static Map<String, Object> policy(
            String name, String group, String reserved, String limit, String... profiles) {
        return Map.of(
                "name",
                name,
                "group",
                group,
                "quotas",
                List.of(Map.of("pool", POOL, "reserved", reserved, "limit", limit)),
                "profiles",
                List.of(profiles));
    }

    /** Held, so that no leader starts it meanwhile. */
    private UUID waiting(String queue, String name) {
        UUID id = Ids.next();
        execute("""
                insert into workload (tenant_id, id, name, type, queue_id, policy_id, profile_id, submitted_by, priority, preemptible, command, wish, state)
                select tenant_id, $1, $2, 'training', id, policy_id, profile_id, 'rnd-member', 50, true, '[]', 'hold', 'held'
                from queue where tenant_id = $3 and name = $4 and retired_at is null
                """, Tuple.of(id, name, A, queue));
        return id;
    }

    private void running(String queue, long gpuMilli) {
        UUID workload = waiting(queue, "running");
        execute("update workload set state = 'running' where id = $1", Tuple.of(workload));
        execute("""
                insert into attempt (tenant_id, id, workload_id, number, state, pool_id, gpu_milli, bound_at)
                select $1, $2, $3, 1, 'running', id, $4, clock_timestamp() from pool where name = $5
                """, Tuple.of(A, Ids.next(), workload, gpuMilli, POOL));
    }

    private String text(String sql, Object parameter) {
        return database.on(connection -> connection.preparedQuery(sql).execute(Tuple.of(parameter)))
                .await()
                .atMost(Duration.ofSeconds(10))
                .iterator()
                .next()
                .getString(0);
    }

    private void execute(String sql, Tuple parameters) {
        database.in(connection -> connection.preparedQuery(sql).execute(parameters))
                .await()
                .atMost(Duration.ofSeconds(10));
    }

    private static void admit(String kind, String subject) {
        admin().body(Map.of("subjectKind", kind, "subject", subject))
                .post(TENANT + "/queues/rnd-1xgpu/access-rules")
                .then()
                .statusCode(201);
    }

    private static RequestSpecification admin() {
        return request(adminToken(A));
    }
}
