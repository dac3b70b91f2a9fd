package io.quartermaster.insight;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.provision;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.quartermaster.tenancy.TestTenants.viewerToken;
import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.testing.JsonBody;
import io.restassured.response.Response;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Simulations of two tenants and the operator in one cell, and whether their forecasts come true. */
@QuarkusTest
class SimulationsIT {

    private static final String A = "simulations-a";
    private static final String B = "simulations-b";
    private static final String COUNTED = "simulations-count";
    private static final String OF_NODES = "simulations-nodes";
    private static final String SIMULATIONS = "/v1/tenants/" + A + "/simulations";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static boolean made;

    @BeforeEach
    void twoTenantsInOnePoolOfFour() {
        if (made) {
            cancelAll(A);
            cancelAll(B);
            awaitCurrentView();
            return;
        }
        provision(A, B);
        ok(request(operatorToken())
                .body(Map.of("name", COUNTED, "capacity", "4"))
                .post("/v1/operator/pools"));
        ok(request(operatorToken()).body(Map.of("name", OF_NODES)).post("/v1/operator/pools"));
        for (String tenant : List.of(A, B)) {
            ok(request(operatorToken())
                    .body(Map.of("reserved", "2", "limit", "4"))
                    .put("/v1/operator/tenants/" + tenant + "/allotments/" + COUNTED));
            // Names that no response to the other tenant may contain.
            ok(request(adminToken(tenant))
                    .body(Map.of("name", tenant + "-one", "gpus", "1", "pools", List.of(COUNTED), "maxRuntime", "PT1H"))
                    .post("/v1/tenants/" + tenant + "/profiles"));
            ok(request(adminToken(tenant))
                    .body(Map.of(
                            "name",
                            tenant + "-rnd",
                            "group",
                            "/rnd",
                            "quotas",
                            List.of(Map.of("pool", COUNTED, "reserved", "2", "limit", "3")),
                            "profiles",
                            List.of(tenant + "-one")))
                    .post("/v1/tenants/" + tenant + "/policies"));
        }
        ok(request(operatorToken())
                .body(Map.of("reserved", "0", "limit", "8"))
                .put("/v1/operator/tenants/" + A + "/allotments/" + OF_NODES));
        ok(request(adminToken(A))
                .body(Map.of("name", A + "-large", "gpus", "8", "pools", List.of(OF_NODES)))
                .post("/v1/tenants/" + A + "/profiles"));
        ok(request(adminToken(A))
                .body(Map.of(
                        "name",
                        A + "-devops",
                        "group",
                        "/devops",
                        "quotas",
                        List.of(Map.of("pool", OF_NODES, "limit", "8")),
                        "profiles",
                        List.of(A + "-large")))
                .post("/v1/tenants/" + A + "/policies"));
        made = true;
        awaitCurrentView();
    }

    /** A replica reuses its view of the cell for a while, so a question may not know yet what was just done. */
    private static void awaitCurrentView() {
        Instant done = Instant.now();
        Awaitility.await().atMost(PATIENCE).until(() -> time(ask(adminToken(A), workloads(1)), "asOf")
                .isAfter(done));
    }

    private static Response ok(Response response) {
        assertThat(response.statusCode()).as(response.asString()).isIn(200, 201);
        return response;
    }

    private static String queue(String tenant) {
        return tenant + "-rnd-" + tenant + "-one";
    }

    private static String submit(String tenant, String name) {
        return ok(request(memberToken(tenant, "rnd-member"))
                        .body(Map.of(
                                "queue", queue(tenant), "name", name, "type", "training", "command", List.of("true")))
                        .post("/v1/tenants/" + tenant + "/workloads"))
                .path("id");
    }

    private static Response get(String tenant, String id) {
        return request(viewerToken(tenant)).get("/v1/tenants/" + tenant + "/workloads/" + id);
    }

    private static String eventually(String tenant, String id, String state) {
        Awaitility.await().atMost(PATIENCE).until(() -> JsonBody.of(get(tenant, id))
                .path("workload")
                .path("state")
                .asText()
                .equals(state));
        awaitCurrentView();
        return id;
    }

    private static void cancelAll(String tenant) {
        String work = "/v1/tenants/" + tenant + "/workloads";
        Awaitility.await().atMost(PATIENCE).until(() -> {
            List<String> live = request(adminToken(tenant))
                    .get(work + "?state=waiting,starting,running,stopping,held")
                    .path("items.id");
            live.forEach(id -> request(adminToken(tenant)).post(work + "/" + id + "/cancel"));
            return live.isEmpty();
        });
    }

    private static Response simulate(String token, Map<String, ?> body) {
        awaitCurrentView();
        return ask(token, body);
    }

    private static Response ask(String token, Map<String, ?> body) {
        Response response = request(token).body(body).post(SIMULATIONS);
        assertThat(response.statusCode()).as(response.asString()).isEqualTo(200);
        return response;
    }

    private static Map<String, Object> workloads(int count) {
        return Map.of("workloads", List.of(Map.of("queue", queue(A), "count", count)));
    }

    private static Instant time(Response response, String path) {
        String text = response.path(path);
        return Instant.parse(text);
    }

    @Test
    void whatIsForetoldComesTrue() {
        eventually(A, submit(A, "a-1"), "starting");
        Response foretold = simulate(memberToken(A, "rnd-member"), workloads(3));
        assertThat(foretold.<Boolean>path("complete")).as(foretold.asString()).isTrue();
        assertThat(time(foretold, "workloads[0].startsAt")).isEqualTo(time(foretold, "asOf"));
        assertThat(time(foretold, "workloads[1].startsAt")).isEqualTo(time(foretold, "asOf"));
        assertThat(foretold.<String>path("workloads[2].reasons[0].code")).isEqualTo("LIMIT");
        Instant third = time(foretold, "workloads[2].startsAt");
        assertThat(third).isAfter(time(foretold, "asOf").plus(Duration.ofMinutes(50)));

        eventually(A, submit(A, "a-2"), "starting");
        eventually(A, submit(A, "a-3"), "starting");
        String last = submit(A, "a-4");
        Awaitility.await().atMost(PATIENCE).until(() -> "LIMIT"
                .equals(get(A, last).path("workload.reason")));
        awaitCurrentView();
        Response explained = request(viewerToken(A)).get("/v1/tenants/" + A + "/workloads/" + last + "/explain");
        assertThat(explained.<String>path("outlook.startsAt"))
                .as(explained.asString())
                .isNotNull();
        assertThat(time(explained, "outlook.startsAt")).isBetween(third.minusSeconds(5), third.plusSeconds(5));
    }

    @Test
    void anAnswerToOneTenantHoldsNothingOfAnother() {
        List<String> theirs = List.of(
                eventually(B, submit(B, "of-b-first"), "starting"),
                eventually(B, submit(B, "of-b-second"), "starting"),
                eventually(B, submit(B, "of-b-third"), "starting"));
        eventually(A, submit(A, "a-1"), "starting");

        // Within its reserved amount: B's last workload is preempted.
        Response foretold = simulate(memberToken(A, "rnd-member"), workloads(2));
        assertThat(time(foretold, "workloads[0].startsAt")).isEqualTo(time(foretold, "asOf"));
        assertThat(foretold.<String>path("workloads[1].reasons[0].code")).isEqualTo("NO_CAPACITY");
        assertThat(foretold.<List<Object>>path("differences")).isEmpty();
        assertThat(foretold.<Boolean>path("pools.find { it.pool == '" + COUNTED + "' }.heldByOthers"))
                .isTrue();
        assertThat(foretold.<String>path("pools.find { it.pool == '" + COUNTED + "' }.before.usedAtFirst"))
                .isEqualTo("1");
        assertThat(foretold.asString()).doesNotContain(B).doesNotContain("of-b-");
        assertThat(theirs).allSatisfy(id -> assertThat(foretold.asString()).doesNotContain(id));

        Response toOperator = request(operatorToken())
                .body(Map.of(
                        "tenants",
                        List.of(Map.of(
                                "tenant", A, "workloads", List.of(Map.of("queue", queue(A), "name", "another"))))))
                .post("/v1/operator/simulations");
        assertThat(toOperator.statusCode()).as(toOperator.asString()).isEqualTo(200);
        assertThat(toOperator.<List<String>>path("differences.findAll { it.tenant == '" + B + "' }.name"))
                .containsExactly("of-b-third");
        assertThat(toOperator.<String>path("differences.find { it.tenant == '" + B + "' }.after.stopCause"))
                .isEqualTo("reclaim");

        String real = submit(A, "a-2");
        eventually(A, real, "starting");
        assertThat(get(B, theirs.get(2)).<String>path("workload.state")).isEqualTo("waiting");
    }

    @Test
    void tenantAdminsVaryPoliciesAndNothingIsWritten() {
        for (int i = 1; i <= 3; i++) {
            eventually(A, submit(A, "a-" + i), "starting");
        }
        String waits = submit(A, "a-4");
        Awaitility.await().atMost(PATIENCE).until(() -> "LIMIT"
                .equals(get(A, waits).path("workload.reason")));
        Map<String, Object> wider = Map.of(
                "policies",
                List.of(Map.of(
                        "policy",
                        A + "-rnd",
                        "quotas",
                        List.of(Map.of("pool", COUNTED, "reserved", "2", "limit", "4")))));

        assertThat(request(memberToken(A, "rnd-member"))
                        .body(wider)
                        .post(SIMULATIONS)
                        .statusCode())
                .isEqualTo(403);
        Response foretold = simulate(adminToken(A), wider);
        assertThat(foretold.<List<String>>path("differences.id")).containsExactly(waits);
        assertThat(foretold.<String>path("differences[0].before.reason")).isEqualTo("LIMIT");
        assertThat(time(foretold, "differences[0].after.startsAt")).isEqualTo(time(foretold, "asOf"));
        assertThat(foretold.<String>path("pools.find { it.pool == '" + COUNTED + "' }.after.usedAtFirst"))
                .isEqualTo("4");
        assertThat(get(A, waits).<String>path("workload.reason")).isEqualTo("LIMIT");
        assertThat(request(adminToken(A))
                        .get("/v1/tenants/" + A + "/policies/" + A + "-rnd")
                        .<String>path("quotas[0].limit"))
                .isEqualTo("3");

        Map<String, Object> tooMuch = Map.of(
                "policies",
                List.of(Map.of(
                        "policy",
                        A + "-rnd",
                        "quotas",
                        List.of(Map.of("pool", COUNTED, "reserved", "3", "limit", "4")))));
        Response refused = request(adminToken(A)).body(tooMuch).post(SIMULATIONS);
        assertThat(refused.statusCode()).isEqualTo(422);
        assertThat(refused.<String>path("code")).isEqualTo("reservations-do-not-fit");
    }

    @Test
    void operatorsVaryNodesAndAllotments() {
        Map<String, Object> large = Map.of("queue", A + "-devops-" + A + "-large");
        Map<String, Object> body =
                new HashMap<>(Map.of("tenants", List.of(Map.of("tenant", A, "workloads", List.of(large)))));
        Response without = request(operatorToken()).body(body).post("/v1/operator/simulations");
        assertThat(without.<String>path("workloads[0].reasons[0].code")).isEqualTo("NO_SUCH_NODE");

        body.put("nodes", Map.of("added", List.of(Map.of("pool", OF_NODES, "gpus", 8, "model", "H100"))));
        Response with = request(operatorToken()).body(body).post("/v1/operator/simulations");
        assertThat(with.statusCode()).as(with.asString()).isEqualTo(200);
        assertThat(with.<String>path("workloads[0].pool")).isEqualTo(OF_NODES);
        assertThat(with.<String>path("workloads[0].tenant")).isEqualTo(A);
        assertThat(with.<String>path("pools.find { it.pool == '" + OF_NODES + "' }.before.capacity"))
                .isEqualTo("0");
        assertThat(with.<String>path("pools.find { it.pool == '" + OF_NODES + "' }.after.capacity"))
                .isEqualTo("8");

        body.put(
                "tenants",
                List.of(Map.of(
                        "tenant",
                        A,
                        "workloads",
                        List.of(large),
                        "allotments",
                        List.of(Map.of("pool", OF_NODES, "limit", "4")))));
        Response cut = request(operatorToken()).body(body).post("/v1/operator/simulations");
        assertThat(cut.<String>path("workloads[0].reasons[0].code")).isEqualTo("LIMIT");

        Map<String, Object> forNow = Map.of(
                "limit", "4", "until", Instant.now().plus(Duration.ofDays(2)).toString());
        body.put(
                "tenants",
                List.of(Map.of(
                        "tenant",
                        A,
                        "workloads",
                        List.of(large),
                        "allotments",
                        List.of(Map.of("pool", OF_NODES, "limit", "8", "override", forNow)))));
        Response overridden = request(operatorToken()).body(body).post("/v1/operator/simulations");
        assertThat(overridden.statusCode()).as(overridden.asString()).isEqualTo(200);
        assertThat(overridden.<String>path("workloads[0].reasons[0].code")).isEqualTo("CLOSED");
    }

    @Test
    void whatIsStoppedKeepsItsGpusNoLongerThanItsPoolAllows() {
        String pool = "simulations-grace";
        ok(request(operatorToken())
                .body(Map.of("name", pool, "maxGrace", "PT1M"))
                .post("/v1/operator/pools"));
        ok(request(operatorToken())
                .body(Map.of("reserved", "8", "limit", "8"))
                .put("/v1/operator/tenants/" + A + "/allotments/" + pool));
        for (int gpus : List.of(1, 4, 7)) {
            ok(request(adminToken(A))
                    .body(Map.of("name", "grace-" + gpus, "gpus", "" + gpus, "pools", List.of(pool)))
                    .post("/v1/tenants/" + A + "/profiles"));
        }
        Map<String, Object> owners = Map.of("pool", pool, "reserved", "4", "limit", "4");
        ok(request(adminToken(A))
                .body(Map.of(
                        "name",
                        "owners",
                        "group",
                        "/owners",
                        "quotas",
                        List.of(owners),
                        "profiles",
                        List.of("grace-1", "grace-4")))
                .post("/v1/tenants/" + A + "/policies"));
        Map<String, Object> borrowers = Map.of("pool", pool, "reserved", "0", "limit", "8");
        ok(request(adminToken(A))
                .body(Map.of(
                        "name",
                        "borrowers",
                        "group",
                        "/borrowers",
                        "quotas",
                        List.of(borrowers),
                        "profiles",
                        List.of("grace-7"),
                        "grace",
                        "PT1H"))
                .post("/v1/tenants/" + A + "/policies"));

        awaitCurrentView();
        // The borrower starts immediately. It is preempted when the owners' first workload ends and their second one is
        // within their limit.
        Response foretold = request(operatorToken())
                .body(Map.of(
                        "tenants",
                        List.of(Map.of(
                                "tenant",
                                A,
                                "workloads",
                                List.of(
                                        Map.of("queue", "owners-grace-1", "type", "training", "maxRuntime", "PT1H"),
                                        Map.of("queue", "owners-grace-4", "type", "training"),
                                        Map.of("queue", "borrowers-grace-7", "type", "training")))),
                        "nodes",
                        Map.of("added", List.of(Map.of("pool", pool, "gpus", 8, "model", "H100")))))
                .post("/v1/operator/simulations");
        assertThat(foretold.statusCode()).as(foretold.asString()).isEqualTo(200);
        Instant asOf = time(foretold, "asOf");
        assertThat(time(foretold, "workloads[2].startsAt")).isEqualTo(asOf);
        assertThat(time(foretold, "workloads[1].startsAt"))
                .isEqualTo(asOf.plus(Duration.ofHours(1)).plus(Duration.ofMinutes(1)));
    }

    @Test
    void grantsBeyondWhatIsUpAreWarnedOfAsTheyWouldBe() {
        Map<String, Object> grant = Map.of("reserved", "3", "limit", "4");
        Map<String, Object> asked = new HashMap<>(grant);
        asked.put("pool", COUNTED);
        Response foretold = request(operatorToken())
                .body(Map.of("tenants", List.of(Map.of("tenant", A, "allotments", List.of(asked)))))
                .post("/v1/operator/simulations");
        Response real = request(operatorToken())
                .queryParam("dryRun", true)
                .header(
                        "If-Match",
                        request(operatorToken())
                                .get("/v1/operator/tenants/" + A + "/allotments/" + COUNTED)
                                .header("ETag"))
                .body(grant)
                .put("/v1/operator/tenants/" + A + "/allotments/" + COUNTED);
        assertThat(real.<List<String>>path("warnings"))
                .as(real.asString())
                .containsExactly("reservations in pool " + COUNTED + " add up to 5 GPUs, but only 4 are up");
        assertThat(foretold.<List<String>>path("warnings"))
                .as(foretold.asString())
                .isEqualTo(real.<List<String>>path("warnings"));
    }

    @Test
    void aPoolThatIsACountTakesNoNodes() {
        Response refused = request(operatorToken())
                .body(Map.of("nodes", Map.of("added", List.of(Map.of("pool", COUNTED, "gpus", 8)))))
                .post("/v1/operator/simulations");
        assertThat(refused.statusCode()).as(refused.asString()).isEqualTo(422);
        assertThat(refused.<String>path("code")).isEqualTo("pool-is-a-count");
        assertThat(refused.<List<String>>path("errors.field")).containsExactly("nodes.added[0].pool");
    }

    @Test
    void howManyMayRunIsVariedLikeTheAmounts() {
        Response foretold = simulate(
                adminToken(A),
                Map.of(
                        "workloads",
                        List.of(Map.of("queue", queue(A), "count", 2)),
                        "policies",
                        List.of(Map.of("policy", A + "-rnd", "maxRunning", 1))));
        assertThat(time(foretold, "workloads[0].startsAt")).isEqualTo(time(foretold, "asOf"));
        assertThat(foretold.<String>path("workloads[1].reasons[0].code")).isEqualTo("LIMIT");
        assertThat(foretold.<String>path("workloads[1].reasons[0].sentence"))
                .contains("at most 1 may run concurrently");
    }

    @Test
    void aShapeThatNoProfileMayHaveIsRefused() {
        Map<String, Object> shape =
                Map.of("gpus", "1", "pools", List.of(COUNTED, COUNTED), "topology", Map.of("required", "rack"));
        Response twice = request(adminToken(A))
                .body(Map.of("workloads", List.of(Map.of("policy", A + "-rnd", "shape", shape))))
                .post(SIMULATIONS);
        assertThat(twice.statusCode()).as(twice.asString()).isEqualTo(400);
        assertThat(twice.<List<String>>path("errors.field")).containsExactly("workloads[0].shape.pools[1]");

        Map<String, Object> level =
                Map.of("gpus", "1", "pools", List.of(COUNTED), "topology", Map.of("required", "rack"));
        Response unknown = request(adminToken(A))
                .body(Map.of("workloads", List.of(Map.of("policy", A + "-rnd", "shape", level))))
                .post(SIMULATIONS);
        assertThat(unknown.statusCode()).as(unknown.asString()).isEqualTo(400);
        assertThat(unknown.<List<String>>path("errors.field")).containsExactly("workloads[0].shape.topology.required");
    }

    @Test
    void whatIsNotTheCallersIsNotThere() {
        Map<String, Object> theirs = Map.of("workloads", List.of(Map.of("queue", queue(B))));
        Response response = request(adminToken(A)).body(theirs).post(SIMULATIONS);
        assertThat(response.statusCode()).isEqualTo(404);
        assertThat(response.<List<String>>path("errors.field")).containsExactly("workloads[0].queue");
        assertThat(request(viewerToken(A)).body(workloads(1)).post(SIMULATIONS).statusCode())
                .isEqualTo(403);
        assertThat(request(adminToken(B)).body(workloads(1)).post(SIMULATIONS).statusCode())
                .isEqualTo(404);
        Response many = request(memberToken(A, "rnd-member"))
                .body(Map.of(
                        "workloads",
                        List.of(Map.of("queue", queue(A), "count", 600), Map.of("queue", queue(A), "count", 600))))
                .post(SIMULATIONS);
        assertThat(many.statusCode()).isEqualTo(400);
        assertThat(many.<List<String>>path("errors.field")).containsExactly("workloads");
    }
}
