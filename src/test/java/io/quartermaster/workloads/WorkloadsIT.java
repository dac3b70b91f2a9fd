package io.quartermaster.workloads;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.newAdminToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.quartermaster.tenancy.TestTenants.viewerToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsInAnyOrder;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.contract.AnswerValidator;
import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.testing.Identity;
import io.restassured.RestAssured;
import io.restassured.path.json.JsonPath;
import io.restassured.response.Response;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The lifecycle of submitted workloads, as their users see it: states, reasons, desired states and live views. */
@QuarkusTest
class WorkloadsIT extends TwoTenantsWork {

    @Test
    void whoeverBearsTheNameOfAFormerUserHasNothingOfTheirWork() {
        String id = submit("of-a-former-user");
        get(id).then().statusCode(200).body("environment", equalTo(Map.of()));
        // As if the user had been removed from the realm and another one created under that name.
        rows.run("update workload set submitter = 'of-the-former-user' where id = $1", UUID.fromString(id));

        get(id).then()
                .statusCode(200)
                .body("workload.submittedBy", equalTo("rnd-member"))
                .body("environment", nullValue());
        request(member())
                .post(WORKLOADS + "/" + id + "/cancel")
                .then()
                .statusCode(403)
                .body("code", equalTo("forbidden"));
        request(adminToken(A))
                .queryParam("grace", "PT1H1S")
                .post(WORKLOADS + "/" + id + "/cancel")
                .then()
                .statusCode(400)
                .body("errors.field", contains("grace"))
                .body("errors.accepted", contains("PT0S to PT1H"));
        request(adminToken(A))
                .queryParam("grace", "PT0S")
                .post(WORKLOADS + "/" + id + "/cancel")
                .then()
                .statusCode(200);
    }

    @Test
    void theEnvironmentIsShownInsideTheTenantAndNotToTheOperator() {
        String id = request(member())
                .body(with(
                        with(training(rnd, "with-secrets"), "environment", Map.of("TOKEN", "secret-of-rnd")),
                        "hold",
                        true))
                .post(WORKLOADS)
                .then()
                .statusCode(201)
                .extract()
                .path("id");
        for (String token : List.of(member(), adminToken(A))) {
            request(token)
                    .get(WORKLOADS + "/" + id)
                    .then()
                    .statusCode(200)
                    .body("environment.TOKEN", equalTo("secret-of-rnd"));
        }
        for (String token : List.of(viewerToken(A), memberToken(A, "devops-member"), operatorToken())) {
            request(token)
                    .get(WORKLOADS + "/" + id)
                    .then()
                    .statusCode(200)
                    .body("workload.name", equalTo("with-secrets"))
                    .body("environment", nullValue());
        }
        cancel(id);
    }

    @Test
    void aReceiptSaysNothingOfAnotherTenantButThatThereIsOne() {
        UUID pool = rows.pool("receipts", 4);
        QueueRows others = new QueueRows(database, B);
        rows.run("update allotment set reserved_milli = 1000 where tenant_id = $1 and pool_id = $2", A, pool);
        rows.run(
                "insert into allotment (tenant_id, pool_id, reserved_milli, limit_milli, weight) values ($1, $2, "
                        + "3000, 4000, 1)",
                B,
                pool);
        rows.inbox("allotment", pool.toString());
        others.inbox("allotment", pool.toString());
        String queue = rows.queue("/rnd/receipts", pool, 1, 4, 1, 10);
        String claiming = others.queue("/rnd/receipts", pool, 3, 4, 3, 10);
        List<String> ids = IntStream.range(0, 4)
                .mapToObj(i -> request(member())
                        .body(training(queue, "borrower-" + i))
                        .post(WORKLOADS)
                        .then()
                        .statusCode(201)
                        .extract()
                        .<String>path("id"))
                .toList();
        ids.forEach(id -> eventually(id, "starting"));
        ids.forEach(id -> rows.report(UUID.fromString(id), "running", "", ""));
        dispatcher.wake();
        ids.forEach(id -> eventually(id, "running"));
        String claimant = request(memberToken(B, "rnd-member"))
                .body(training(claiming, "claimant"))
                .post("/v1/tenants/" + B + "/workloads")
                .then()
                .statusCode(201)
                .extract()
                .path("id");
        Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(ids)
                .as(() -> whatIsSaid(ids, claimant))
                .anySatisfy(id -> assertThat(state(id)).isEqualTo("stopping")));
        String victim = ids.stream()
                .filter(id -> state(id).equals("stopping"))
                .findFirst()
                .orElseThrow();

        assertCut(victim);
        // An older version stored it in this form.
        rows.run("""
                update preemption set receipt = jsonb_build_object('right', 'reserved', 'considered',
                    receipt -> 'considered', 'after', '[]'::jsonb, 'before', jsonb_build_array(
                    jsonb_build_object('path', tenant_id, 'scope', 'receipts', 'used', '4', 'reserved', '1',
                        'fairShare', '1'),
                    jsonb_build_object('path', 'another tenant', 'scope', 'receipts', 'used', '87.654321',
                        'reserved', '76.543211', 'fairShare', '65.432111')))
                 where workload_id = $1
                """, UUID.fromString(victim));
        assertCut(victim);

        request(adminToken(B))
                .post("/v1/tenants/" + B + "/workloads/" + claimant + "/cancel")
                .then()
                .statusCode(200);
        endAll();
    }

    private static String whatIsSaid(List<String> ofA, String ofB) {
        return ofA.stream().map(id -> get(id).asString()).collect(Collectors.joining("\n"))
                + "\n"
                + request(memberToken(B, "rnd-member"))
                        .get("/v1/tenants/" + B + "/workloads/" + ofB + "/explain")
                        .asString();
    }

    private static void assertCut(String victim) {
        Response answer = get(victim);
        answer.then()
                .statusCode(200)
                .body("preemptions", hasSize(1))
                .body("preemptions[0].receipt.right", equalTo("reserved"))
                .body("preemptions[0].receipt.before.find { it.path == '/' }.used", equalTo("4"))
                .body("preemptions[0].receipt.before.find { it.path == '/' }.reserved", equalTo("1"));
        assertThat(answer.<List<Map<String, Object>>>path("preemptions[0].receipt.before"))
                .hasSize(2)
                .contains(Map.of("anotherTenant", true));
        assertThat(answer.asString())
                .doesNotContain(B, "87.654321", "76.543211", "65.432111", "another tenant", A + "/");
    }

    @Test
    void whatIsSubmittedStartsAndSaysByWhichRight() {
        endAll();
        String id = submit("first");
        eventually(id, "starting");
        get(id).then()
                .body("workload.queue", equalTo(rnd))
                .body("workload.gpus", equalTo("1"))
                .body("workload.priority", equalTo(50))
                .body("workload.submittedBy", equalTo("rnd-member"))
                .body("workload.wish", equalTo("run"))
                .body("attempts", hasSize(1))
                .body("attempts[0].pool", equalTo("workloads"))
                .body("attempts[0].state", equalTo("bound"));
        request(member())
                .get(WORKLOADS + "/" + id + "/explain")
                .then()
                .statusCode(200)
                .body("state", equalTo("starting"))
                .body("sentence", containsString(" holds 1 GPU in workloads and is about to start."));

        rows.report(UUID.fromString(id), "ended", "succeeded", "epoch 1\nepoch 2\n");
        dispatcher.wake();
        eventually(id, "succeeded");
        request(member())
                .get(WORKLOADS + "/" + id + "/logs?bytes=8")
                .then()
                .statusCode(200)
                .contentType("text/plain")
                .body(equalTo("epoch 2\n"));
    }

    @Test
    void whatWaitsSaysWhyAndWhereItStands() {
        endAll();
        List<String> ids =
                IntStream.range(0, 5).mapToObj(i -> submit("wait-" + i)).toList();
        Awaitility.await().atMost(PATIENCE).until(() -> "LIMIT"
                .equals(get(ids.get(4)).path("workload.reason")));
        request(member())
                .get(WORKLOADS + "/" + ids.get(4) + "/explain")
                .then()
                .statusCode(200)
                .body("reasons[0].code", equalTo("LIMIT"))
                .body("reasons[0].pool", equalTo("workloads"))
                .body("reasons[0].bound", equalTo("3"))
                .body("reasons[0].remedy", not(equalTo("")))
                .body("position.aheadInQueue", equalTo(1))
                .body("position.waitingInQueue", equalTo(2))
                .body("outlook.asOf", not(nullValue()))
                .body("outlook.startsAt", nullValue())
                .body("outlook.pools[0].code", equalTo("LIMIT"))
                .body("outlook.pools[0].holders.name", contains("wait-0", "wait-1", "wait-2"))
                .body("outlook.pools[0].holders.queue", everyItem(equalTo(rnd)))
                .body("outlook.pools[0].heldByOthers", equalTo(false))
                .body("reasons[0].path", equalTo("/rnd"))
                // The workload before it needs one, too. Both together exceed the group's 3 by 2. They exceed by 1 the
                // 4 that the tenant may hold and the 4 that the pool has.
                .body(
                        "outlook.pools[0].relief.change",
                        containsInAnyOrder("raise-limit", "raise-limit", "free-on-one-node"))
                .body("outlook.pools[0].relief.pool", everyItem(equalTo("workloads")))
                .body("outlook.pools[0].relief.find { it.path == '/rnd' }.policy", equalTo("rnd"))
                .body("outlook.pools[0].relief.find { it.path == '/rnd' }.gpus", equalTo("2"))
                .body("outlook.pools[0].relief.find { it.path == '/' }.gpus", equalTo("1"))
                .body("outlook.pools[0].relief.find { it.change == 'free-on-one-node' }.gpus", equalTo("1"))
                .body("sentence", containsString("wait-4 waits. This workload needs 1 GPU, and group /rnd holds"))
                .body("sentence", containsString("To let wait-4 start now: raise the limit of group /rnd"));
        String next = request(viewerToken(A))
                .get("/v1/tenants/" + A + "/queues/" + rnd + "/waiting?pageSize=1")
                .then()
                .statusCode(200)
                .body("items.name", contains("wait-3"))
                .body("items.position", contains(1))
                .body("items.reason", contains("LIMIT"))
                .extract()
                .path("nextPageToken");
        request(viewerToken(A))
                .get("/v1/tenants/" + A + "/queues/no-such-queue/waiting")
                .then()
                .statusCode(404);
        request(viewerToken(A))
                .get(WORKLOADS + "?state=waiting&name=wait-&pageSize=1")
                .then()
                .body("items.name", contains("wait-4"))
                .body("nextPageToken", not(nullValue()));
        request(viewerToken(A))
                .get("/v1/tenants/" + A + "/usage/live")
                .then()
                .statusCode(200)
                .body("pools[0].gpus.used", equalTo("3"));

        // An admin's order is the order of the list and of the positions.
        order(ids.get(4));
        request(viewerToken(A))
                .get("/v1/tenants/" + A + "/queues/" + rnd + "/waiting")
                .then()
                .body("items.name", contains("wait-4", "wait-3"))
                .body("items.placed", contains(true, false));
        request(member())
                .get(WORKLOADS + "/" + ids.get(3) + "/explain")
                .then()
                .body("position.aheadInQueue", equalTo(1));
        order();

        // A workload that leaves the queue in the meantime causes no gap in the pages.
        request(member()).post(WORKLOADS + "/" + ids.get(3) + "/cancel").then().statusCode(200);
        eventually(ids.get(3), "cancelled");
        request(viewerToken(A))
                .queryParam("pageSize", 1)
                .queryParam("pageToken", next)
                .get("/v1/tenants/" + A + "/queues/" + rnd + "/waiting")
                .then()
                .statusCode(200)
                .body("items.name", contains("wait-4"))
                .body("items.position", contains(1))
                .body("nextPageToken", nullValue());
    }

    @Test
    void allPartsOfAnExplanationAgree() {
        endAll();
        List<String> running =
                IntStream.range(0, 3).mapToObj(i -> submit("agree-" + i)).toList();
        running.forEach(id -> eventually(id, "starting"));
        submit("agree-3");
        String id = submit("agree-4");
        // Its position follows from the submissions, whether or not a plan has considered it.
        explain(id).then().body("position.aheadInQueue", equalTo(1)).body("position.waitingInQueue", equalTo(2));

        Awaitility.await().atMost(PATIENCE).until(() -> "LIMIT".equals(get(id).path("workload.reason")));
        JsonPath explained = explain(id).jsonPath();
        JsonPath shown = get(id).jsonPath();
        JsonPath queued = request(member())
                .get("/v1/tenants/" + A + "/queues/" + rnd + "/waiting")
                .jsonPath();

        assertThat(explained.getString("state"))
                .isEqualTo(shown.getString("workload.state"))
                .isEqualTo("waiting");
        assertThat(explained.getString("reasons[0].code"))
                .isEqualTo(shown.getString("workload.reason"))
                .isEqualTo(explained.getString("outlook.pools[0].code"))
                .isEqualTo(queued.getString("items.find { it.name == 'agree-4' }.reason"));
        assertThat(explained.getString("reasonsAt")).isEqualTo(explained.getString("outlook.asOf"));
        double held = explained.getDouble("reasons[0].used");
        double asked = explained.getDouble("reasons[0].requested");
        assertThat(held + asked).isGreaterThan(explained.getDouble("reasons[0].bound"));

        String sentence = explained.getString("sentence");
        assertThat(sentence)
                .contains(explained.getString("reasons[0].sentence"), explained.getString("reasons[0].remedy"));
        assertThat(explained.getString("reasons[0].remedy"))
                .startsWith("Wait until work of group /rnd ends, or ask an admin to raise the limit of group /rnd in ")
                .doesNotContainPattern("[0-9] GPU");
        String byHowMuch = explained.getString("outlook.pools[0].relief.find { it.path == '/rnd' }.gpus");
        assertThat(sentence)
                .contains("raise the limit of group /rnd in workloads by " + GpuFormat.gpus(2000))
                .doesNotContain("at least");
        // The workloads ahead of it count: both together exceed the limit by the sum of their amounts.
        assertThat(Double.parseDouble(byHowMuch))
                .isEqualTo(held
                        + asked * (1 + explained.getLong("position.aheadInQueue"))
                        - explained.getDouble("reasons[0].bound"));

        assertThat(explained.getLong("position.aheadInQueue") + 1)
                .isEqualTo(queued.getLong("items.find { it.name == 'agree-4' }.position"));
        assertThat(explained.getInt("position.waitingInQueue"))
                .isEqualTo(queued.getList("items").size());
        assertThat(sentence.contains("Forecast:")).isEqualTo(explained.get("outlook.startsAt") != null);
        assertThat(explained.<Object>get("outlook.startsAt"))
                .isEqualTo(queued.get("items.find { it.name == 'agree-4' }.startsAt"));

        // A workload that is being cancelled is ahead of none, even before the leader has cancelled it.
        cancel(queued.getString("items.find { it.name == 'agree-3' }.id"));
        explain(id).then().body("position.aheadInQueue", equalTo(0)).body("position.waitingInQueue", equalTo(1));
    }

    @Test
    void aProfileThatNoNodeCouldEverRunIsWarnedOf() {
        String never = "pool workloads can never run it: it needs 900000 MiB of memory on one GPU, and no GPU of the"
                + " pool has as much";
        Map<String, Object> profile =
                Map.of("name", "large-memory", "gpuMemoryMiB", 900_000, "pools", List.of("workloads"));
        String made = request(adminToken(A))
                .body(profile)
                .post("/v1/tenants/" + A + "/profiles")
                .then()
                .statusCode(201)
                .extract()
                .asString();
        assertThat(made).contains("work of profile large-memory would wait forever: " + never);
        Map<String, Object> policy = Map.of(
                "name",
                "large-memory",
                "group",
                "/rnd/nlp",
                "quotas",
                List.of(Map.of("pool", "workloads", "reserved", "0")),
                "profiles",
                List.of("large-memory"));
        String granted = request(adminToken(A))
                .body(policy)
                .post("/v1/tenants/" + A + "/policies")
                .then()
                .statusCode(201)
                .extract()
                .asString();
        assertThat(granted).contains(never);
        String queue = request(adminToken(A))
                .body(Map.of("name", "rnd-never", "policy", "rnd", "profile", "large-memory"))
                .post("/v1/tenants/" + A + "/queues")
                .then()
                .statusCode(201)
                .extract()
                .asString();
        assertThat(queue).contains(never);
        String id = request(member())
                .body(training("rnd-never", "never"))
                .post(WORKLOADS)
                .then()
                .statusCode(201)
                .extract()
                .path("id");
        Awaitility.await().atMost(PATIENCE).until(() -> "NO_SUCH_NODE".equals(get(id).path("workload.reason")));
        explain(id)
                .then()
                .body(
                        "reasons[0].sentence",
                        equalTo("Pool workloads can never run this workload: it needs 900000 MiB of memory on one GPU,"
                                + " and no GPU of the pool has as much."))
                .body("reasons[0].remedy", not(containsString("another pool")));
        cancel(id);
        eventually(id, "cancelled");
        request(adminToken(A))
                .delete("/v1/tenants/" + A + "/policies/large-memory")
                .then()
                .statusCode(200);
        String changed = request(adminToken(A))
                .header("Content-Type", "application/merge-patch+json; charset=UTF-8")
                .header("If-Match", "\"0\"")
                .body("{\"gpuMemoryMiB\": 20480}")
                .patch("/v1/tenants/" + A + "/profiles/large-memory")
                .then()
                .statusCode(200)
                .extract()
                .asString();
        assertThat(changed).doesNotContain("can never run");
        request(adminToken(A))
                .delete("/v1/tenants/" + A + "/profiles/large-memory")
                .then()
                .statusCode(200);
    }

    @Test
    void nodesThatHaveNotReportedAndBrokenGpusAreNotWarnedOf() {
        String pool = "workloads-to-report";
        UUID id = rows.pool(pool, 1);
        assertThat(ofFourGpus(pool)).contains("pool " + pool + " can never run it: it needs 4 GPUs on one node");

        UUID node = UUID.randomUUID();
        rows.run(
                "insert into node (id, name, cluster_id, pool_id) select $1, $2, c.id, $3 from cluster c where "
                        + "c.name = $4",
                node,
                pool + "-later",
                id,
                pool);
        assertThat(ofFourGpus(pool)).doesNotContain("can never run it");

        rows.run(
                "insert into node_contact (node_id, agent_version, boot_id, instance_id, isolation, last_heard, "
                        + "lease_until)"
                        + " values ($1, '1', 'b', 'i', 'container', clock_timestamp(), clock_timestamp())",
                node);
        assertThat(ofFourGpus(pool)).contains("can never run it");
        rows.run(
                "insert into gpu (node_id, device_index, uuid, model, memory_mib, healthy)"
                        + " select $1, i, $2 || i, 'H100', 81920, false from generate_series(0, 3) i",
                node,
                pool + "-later-gpu-");
        assertThat(ofFourGpus(pool)).doesNotContain("can never run it");
    }

    /** The response for a profile of that many GPUs in this pool. */
    private static String ofFourGpus(String pool) {
        return request(adminToken(A))
                .queryParam("dryRun", true)
                .body(Map.of("name", "of-four-gpus", "gpus", "4", "pools", List.of(pool)))
                .post("/v1/tenants/" + A + "/profiles")
                .then()
                .statusCode(200)
                .extract()
                .asString();
    }

    private static Response explain(String id) {
        return request(member()).get(WORKLOADS + "/" + id + "/explain");
    }

    private static void order(String... first) {
        request(adminToken(A))
                .body(Map.of("workloads", List.of(first)))
                .put("/v1/tenants/" + A + "/queues/" + rnd + "/order")
                .then()
                .statusCode(200);
    }

    @Test
    void wishesAreTakenAndRepeatedWishesChangeNothing() {
        endAll();
        String id = request(member())
                .body(with(training(rnd, "held"), "hold", true))
                .post(WORKLOADS)
                .then()
                .statusCode(201)
                .body("state", equalTo("held"))
                .extract()
                .path("id");
        request(member())
                .post(WORKLOADS + "/" + id + "/hold")
                .then()
                .statusCode(200)
                .body("wish", equalTo("hold"));
        request(member())
                .post(WORKLOADS + "/" + id + "/release")
                .then()
                .statusCode(200)
                .body("wish", equalTo("run"));
        eventually(id, "starting");
        request(memberToken(A, "devops-member"))
                .post(WORKLOADS + "/" + id + "/cancel")
                .then()
                .statusCode(403)
                .body("detail", containsString("workloads:manage"));
        request(adminToken(A)).post(WORKLOADS + "/" + id + "/cancel").then().statusCode(200);
        request(member())
                .post(WORKLOADS + "/" + id + "/cancel")
                .then()
                .statusCode(200)
                .body("wish", equalTo("cancel"));
        request(member())
                .post(WORKLOADS + "/" + id + "/hold")
                .then()
                .statusCode(409)
                .body("code", equalTo("workload-over"));
    }

    @Test
    void aRedisThatHangsAndIsEmptiedStopsNoSubmissionAndItsCountersComeBack() {
        endAll();
        String before = submit("before");
        redis.client(List.of("PAUSE", "9000", "ALL")).await().atMost(PATIENCE);
        String during = submit("during");
        request(viewerToken(A)).get("/v1/tenants/" + A + "/usage/live").then().body("source", equalTo("database"));
        Awaitility.await().atMost(PATIENCE).ignoreExceptions().until(() -> redis.flushall(List.of())
                .await()
                .atMost(PATIENCE)
                .toString()
                .equals("OK"));
        String after = submit("after");
        List.of(before, during, after).forEach(id -> eventually(id, "starting"));
        dispatcher.wake();
        Awaitility.await().atMost(PATIENCE).untilAsserted(() -> request(viewerToken(A))
                .get("/v1/tenants/" + A + "/usage/live")
                .then()
                .body("source", equalTo("redis"))
                .body("pools.find { it.pool == 'workloads' }.gpus.used", equalTo("3"))
                .body("policies.policy", hasItem("rnd")));
    }

    @Test
    void aLiveViewIsResumedWithoutGapOrRepetition() throws Exception {
        endAll();
        String first = submit("watched");
        eventually(first, "starting");
        List<String> seen = watch("0", 1, first);
        rows.report(UUID.fromString(first), "ended", "succeeded", "");
        dispatcher.wake();
        eventually(first, "succeeded");
        String last = seen.getLast().split(" ")[0];
        List<String> resumed = watch(last, 1, first);
        assertThat(seen.getFirst()).contains("\"state\":\"starting\"");
        assertThat(resumed.getFirst()).contains("\"state\":\"succeeded\"");
        assertThat(Long.parseLong(resumed.getFirst().split(" ")[0])).isGreaterThan(Long.parseLong(last));

        request(member())
                .header("Last-Event-ID", "nonsense")
                .get(WORKLOADS + "/watch")
                .then()
                .statusCode(400)
                .body("errors.field", contains("Last-Event-ID"));
        // The tenant is younger than the retention of the feed, so no entry of it was deleted.
        assertThat(watch("1", 1, first)).isEqualTo(seen);
        rows.run("update tenant set created_at = created_at - interval '2 days' where id = $1", B);
        request(adminToken(B))
                .header("Last-Event-ID", "1")
                .get("/v1/tenants/" + B + "/workloads/watch")
                .then()
                .statusCode(200)
                .body(containsString("event:problem"), containsString("feed-entry-gone"));
    }

    @Test
    void aLiveViewEndsWhenItsTokenExpires() throws Exception {
        String realm = "/admin/realms/" + B;
        Identity.admin()
                .body(Map.of("accessTokenLifespan", 8))
                .put(realm)
                .then()
                .statusCode(204);
        String token;
        try {
            token = newAdminToken(B);
        } finally {
            Identity.admin().body(Map.of("accessTokenLifespan", 300)).put(realm);
        }
        Instant issued = Instant.now();

        awaitEndOfView(token);

        assertThat(Duration.between(issued, Instant.now())).isBetween(Duration.ofSeconds(5), PATIENCE);
        request(token).get("/v1/tenants/" + B + "/queues").then().statusCode(401);
    }

    @Test
    void aLiveViewEndsWhenItsUserIsGone() throws Exception {
        String token = memberToken(B, "rnd-member");
        String users = "/admin/realms/" + B + "/users";
        String user =
                Identity.admin().queryParam("username", "rnd-member").get(users).path("[0].id");
        Identity.admin()
                .body(Map.of("enabled", false))
                .put(users + "/" + user)
                .then()
                .statusCode(204);
        try {
            awaitEndOfView(token);
        } finally {
            Identity.admin().body(Map.of("enabled", true)).put(users + "/" + user);
        }
        Awaitility.await()
                .atMost(PATIENCE)
                .until(() -> request(token).get("/v1/tenants/" + B + "/queues").statusCode() == 200);
    }

    /** Opens a live view of B, and returns when the service ends it. */
    private static void awaitEndOfView(String token) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest view = HttpRequest.newBuilder(URI.create(
                            "http://127.0.0.1:" + RestAssured.port + "/v1/tenants/" + B + "/workloads/watch"))
                    .header("Authorization", "Bearer " + token)
                    .build();
            HttpResponse<String> whole = client.sendAsync(view, HttpResponse.BodyHandlers.ofString())
                    .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(whole.statusCode()).isEqualTo(200);
        }
    }

    /** Reads that many events of a workload: for each its id, a space, and its data. */
    private List<String> watch(String lastSeen, int events, String workload) throws Exception {
        List<String> found = new ArrayList<>();
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(
                            "http://127.0.0.1:" + RestAssured.port + WORKLOADS + "/watch?workload=" + workload))
                    .header("Authorization", "Bearer " + member())
                    .header("Last-Event-ID", lastSeen)
                    .timeout(PATIENCE)
                    .build();
            HttpResponse<InputStream> answer = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
            assertThat(answer.statusCode()).isEqualTo(200);
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
                String id = "";
                String line = lines.readLine();
                while (line != null && found.size() < events) {
                    if (line.startsWith("id:")) {
                        id = line.substring(3).strip();
                    } else if (line.startsWith("data:")) {
                        String data = line.substring(5).strip();
                        assertThat(AnswerValidator.committed()
                                        .eventFindings("/v1/tenants/{tenant}/workloads/watch", data))
                                .as(data)
                                .isEmpty();
                        found.add(id + " " + data);
                    }
                    line = found.size() < events ? lines.readLine() : null;
                }
            }
            client.shutdownNow();
        }
        return found;
    }
}
