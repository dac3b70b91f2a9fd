package io.quartermaster.workloads;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.provision;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.quartermaster.tenancy.TestTenants.viewerToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.dispatch.Dispatcher;
import io.quartermaster.platform.JsonSettings;
import io.quartermaster.platform.SystemDatabase;
import io.restassured.RestAssured;
import io.restassured.response.Response;
import io.vertx.mutiny.redis.client.RedisAPI;
import jakarta.inject.Inject;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Submission, views and wishes through the public API, with real tokens of two tenants and the leader at work. */
@QuarkusTest
class WorkloadsIT {

    private static final String A = "workloads-a";
    private static final String B = "workloads-b";
    private static final String WORKLOADS = "/v1/tenants/" + A + "/workloads";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static String rnd = "";
    private static String devops = "";
    private static String small = "";

    @Inject
    SystemDatabase database;

    @Inject
    Dispatcher dispatcher;

    @Inject
    RedisAPI redis;

    private QueueRows rows;

    @BeforeEach
    void twoTenantsAndTheirQueues() {
        rows = new QueueRows(database, A);
        if (rnd.isEmpty()) {
            provision(A);
            provision(B);
            UUID pool = rows.pool("workloads", 4);
            rnd = rows.queue("/rnd", pool, 2, 3, 1, 10_000);
            devops = rows.queue("/devops", pool, 2, 4, 1, 10_000);
            small = rows.queue("/rnd/small", pool, 0, 0, 1, 2);
            dispatcher.wake();
        }
    }

    private static Map<String, Object> training(String queue, String name) {
        return new HashMap<>(
                Map.of("queue", queue, "name", name, "type", "training", "command", List.of("sleep", "60")));
    }

    private static String member() {
        return memberToken(A, "rnd-member");
    }

    private static String submit(String name) {
        return request(member())
                .body(training(rnd, name))
                .post(WORKLOADS)
                .then()
                .statusCode(201)
                .extract()
                .path("id");
    }

    private static Response get(String id) {
        return request(member()).get(WORKLOADS + "/" + id);
    }

    private static String state(String id) {
        return get(id).path("workload.state");
    }

    private static void cancel(String id) {
        request(adminToken(A)).post(WORKLOADS + "/" + id + "/cancel").then().statusCode(200);
    }

    private static void eventually(String id, String state) {
        Awaitility.await().atMost(PATIENCE).until(() -> state(id).equals(state));
    }

    /** Ends everything that a test left, so that the next finds free GPUs. */
    private void endAll() {
        for (var row : rows.run(
                "select id from workload where tenant_id = $1 and state not in ('succeeded', 'failed', 'cancelled')",
                A)) {
            UUID id = row.getUUID("id");
            cancel(id.toString());
            Awaitility.await().atMost(PATIENCE).until(() -> {
                String state = state(id.toString());
                if (state.equals("stopping")) {
                    rows.report(id, "ended", "cancelled", "");
                    dispatcher.wake();
                }
                return state.equals("cancelled");
            });
        }
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
                .body("sentence", containsString("holds its devices"));

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
                .body("position.waitingInQueue", equalTo(2));
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
    void aQueueAdmitsOnlyWhomItsRuleNames() {
        request(member())
                .body(training(devops, "not mine"))
                .post(WORKLOADS)
                .then()
                .statusCode(403)
                .body("detail", containsString(devops));
        request(member())
                .body(training("no-such-queue", "x"))
                .post(WORKLOADS)
                .then()
                .statusCode(404)
                .body("errors.field", contains("queue"));
        request(viewerToken(A)).body(training(rnd, "x")).post(WORKLOADS).then().statusCode(403);
        request(adminToken(B)).body(training(rnd, "x")).post(WORKLOADS).then().statusCode(404);
        request(adminToken(B)).get(WORKLOADS).then().statusCode(404);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    type        | 400 | "mining"
                    type        | 422 | "service"
                    name        | 400 | ""
                    command     | 400 | []
                    priority    | 400 | 5000
                    priority    | 400 | "high"
                    maxRuntime  | 400 | "soon"
                    gpus        | 400 | 3
                    environment | 400 | {"QM_TENANT": "x"}
                    """)
    void badInputIsRefusedWithItsFieldAndNothingIsWritten(String field, int status, String value) throws Exception {
        long before = rows.workloads();
        Map<String, Object> body = training(rnd, "bad");
        body.put(field, JsonSettings.newMapper().readTree(value));
        String json = JsonSettings.newMapper().writeValueAsString(body);
        request(member())
                .body(json)
                .post(WORKLOADS)
                .then()
                .statusCode(status)
                .contentType("application/problem+json")
                .body("errors.field", contains(field));
        assertThat(rows.workloads()).isEqualTo(before);
    }

    @Test
    void nothingEntersAQueueThatIsBeingRetiredOrATenantThatIsNotActive() {
        UUID pool = rows.run("select id from pool where name = 'workloads'")
                .getFirst()
                .getUUID("id");
        String queue = rows.queue("/rnd/retiring", pool, 0, 0, 1, 10);
        dispatcher.wake();
        request(member())
                .body(training(queue, "in time"))
                .post(WORKLOADS)
                .then()
                .statusCode(201);
        long before = rows.workloads();

        Future<Response> late = database.run(PATIENCE, tx -> {
            tx.run(
                    "update queue set retired_at = clock_timestamp(), version = version + 1 where tenant_id = $1 and name = $2",
                    A,
                    queue);
            CompletableFuture<Response> waits = CompletableFuture.supplyAsync(
                    () -> request(member()).body(training(queue, "too late")).post(WORKLOADS));
            Awaitility.await().atMost(PATIENCE).until(() -> !rows.run("select 1 from pg_locks where not granted")
                    .isEmpty());
            return waits;
        });
        assertThat(late)
                .succeedsWithin(PATIENCE)
                .satisfies(response -> response.then().statusCode(404).body("errors.field", contains("queue")));

        // The counters, the directory of queues and the list of issuers still take the tenant for active.
        rows.run("update tenant set state = 'offboarding' where id = $1", A);
        try {
            request(member())
                    .body(training(rnd, "too late"))
                    .post(WORKLOADS)
                    .then()
                    .statusCode(403)
                    .body("code", equalTo("tenant-suspended"));
        } finally {
            rows.run("update tenant set state = 'active' where id = $1", A);
        }
        assertThat(rows.workloads()).isEqualTo(before);
        Awaitility.await()
                .atMost(PATIENCE)
                .until(() -> request(member())
                                .queryParam("dryRun", true)
                                .body(training(rnd, "in time again"))
                                .post(WORKLOADS)
                                .statusCode()
                        != 403);
    }

    @Test
    void aBatchComesInWholeOrNotAtAll() {
        endAll();
        long before = rows.workloads();
        Map<String, Object> bad = training(rnd, "third");
        bad.remove("command");
        request(member())
                .body(Map.of("items", List.of(training(rnd, "a"), training(rnd, "b"), bad)))
                .post(WORKLOADS + "/batches")
                .then()
                .statusCode(400)
                .body("errors.field", contains("items[2].command"));
        request(member())
                .body(Map.of("items", List.of(training(rnd, "a"), training(devops, "b"))))
                .post(WORKLOADS + "/batches")
                .then()
                .statusCode(403);
        request(member())
                .body(Map.of("items", List.of()))
                .post(WORKLOADS + "/batches")
                .then()
                .statusCode(400);
        assertThat(rows.workloads()).isEqualTo(before);

        List<Map<String, Object>> items = IntStream.range(0, 1_000)
                .mapToObj(i -> with(training(rnd, "batch-" + i), "hold", true))
                .toList();
        List<String> ids = request(member())
                .body(Map.of("items", items))
                .post(WORKLOADS + "/batches")
                .then()
                .statusCode(201)
                .body("items.state", everyItem(equalTo("held")))
                .extract()
                .path("items.id");
        assertThat(ids).hasSize(1_000).doesNotHaveDuplicates().isSorted();
        assertThat(rows.workloads()).isEqualTo(before + 1_000);
        rows.run("update workload set wish = 'cancel' where tenant_id = $1 and wish = 'hold'", A);
        rows.run(
                "insert into inbox (tenant_id, kind, ref) select tenant_id, 'workload', id::text from workload where tenant_id = $1 and state = 'held'",
                A);
        dispatcher.wake();
    }

    @Test
    void theSameKeySideBySideSubmitsOnce() throws Exception {
        long before = rows.workloads();
        String token = member();
        String key = UUID.randomUUID().toString();
        Callable<String> send = () -> request(token)
                .header("Idempotency-Key", key)
                .body(with(training(rnd, "once"), "hold", true))
                .post(WORKLOADS)
                .then()
                .statusCode(201)
                .extract()
                .path("id");
        List<String> ids = new ArrayList<>();
        try (ExecutorService both = Executors.newFixedThreadPool(2)) {
            for (Future<String> answer : both.invokeAll(List.of(send, send))) {
                ids.add(answer.get());
            }
        }
        assertThat(ids).hasSize(2);
        assertThat(ids.get(0)).isEqualTo(ids.get(1));
        assertThat(rows.workloads()).isEqualTo(before + 1);
    }

    @Test
    void aDryRunChecksAllAndWritesNothing() {
        long before = rows.workloads();
        request(member())
                .body(training(rnd, "dry"))
                .post(WORKLOADS + "?dryRun=true")
                .then()
                .statusCode(201);
        request(member())
                .body(training(devops, "dry"))
                .post(WORKLOADS + "?dryRun=true")
                .then()
                .statusCode(403);
        assertThat(rows.workloads()).isEqualTo(before);
    }

    @Test
    void aFullQueueRefusesWithItsNumbersWithAndWithoutRedis() {
        endAll();
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            ids.add(request(member())
                    .body(training(small, "s" + i))
                    .post(WORKLOADS)
                    .then()
                    .statusCode(201)
                    .extract()
                    .path("id"));
        }
        refusedAsFull();
        redis.flushall(List.of()).await().atMost(PATIENCE);
        refusedAsFull();
        ids.forEach(WorkloadsIT::cancel);
    }

    private static void refusedAsFull() {
        request(member())
                .body(training(small, "one too many"))
                .post(WORKLOADS)
                .then()
                .statusCode(429)
                .body("code", equalTo("queue-full"))
                .body("detail", containsString("2 waiting"));
    }

    @Test
    void aRedisThatHangsAndIsEmptiedStopsNoSubmissionAndItsCountersComeBack() {
        endAll();
        String before = submit("before");
        redis.client(List.of("PAUSE", "3000", "ALL")).await().atMost(PATIENCE);
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
        request(adminToken(B))
                .header("Last-Event-ID", "1")
                .get("/v1/tenants/" + B + "/workloads/watch")
                .then()
                .statusCode(200)
                .body(containsString("event:problem"), containsString("feed-entry-gone"));
    }

    /** Reads that many events of a workload: each its id, a space, and its data. */
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
                        found.add(id + " " + line.substring(5).strip());
                    }
                    line = found.size() < events ? lines.readLine() : null;
                }
            }
            client.shutdownNow();
        }
        return found;
    }

    private static Map<String, Object> with(Map<String, Object> body, String field, Object value) {
        body.put(field, value);
        return body;
    }
}
