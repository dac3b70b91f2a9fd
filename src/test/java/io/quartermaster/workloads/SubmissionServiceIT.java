package io.quartermaster.workloads;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.quartermaster.tenancy.TestTenants.viewerToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.platform.http.JsonSettings;
import io.restassured.response.Response;
import java.util.ArrayList;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The checks of submissions, their submitters and their rate, through the public API. */
@QuarkusTest
class SubmissionServiceIT extends TwoTenantsWork {

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

    @Test
    void whatStatesItsMaximumRunTimeIsReadBackWithIt() {
        String id = request(member())
                .body(with(training(rnd, "bounded"), "maxRuntime", "PT1H30M0.5S"))
                .post(WORKLOADS)
                .then()
                .statusCode(201)
                .extract()
                .path("id");
        get(id).then().statusCode(200).body("workload.maxRuntime", equalTo("PT1H30M0.5S"));
        request(member()).get(WORKLOADS).then().statusCode(200).body("items.maxRuntime", hasItem("PT1H30M0.5S"));
        cancel(id);
    }

    @Test
    void aWorkloadNamesItsGpusWithinTheRangeOfItsProfile() {
        UUID pool = rows.run("select id from pool where name = 'workloads'")
                .getFirst()
                .getUUID("id");
        String queue = rows.queue("/rnd/range", pool, 0, 4, 1, 10);
        rows.run(
                "update profile set max_gpus = 3 where id = (select profile_id from queue where name = $1 and "
                        + "tenant_id = $2)",
                queue,
                A);
        Map<String, Object> three = with(with(training(queue, "three"), "gpus", "3"), "hold", true);
        request(member())
                .body(Map.of("items", List.of(three, with(training(queue, "four"), "gpus", "4"))))
                .post(WORKLOADS + "/batches")
                .then()
                .statusCode(422)
                .body("code", equalTo("gpus-out-of-range"))
                .body("errors.field", contains("items[1].gpus"))
                .body("errors.accepted", contains("\"1\" to \"3\", whole numbers"));
        List<String> ids = request(member())
                .body(Map.of("items", List.of(three, with(training(queue, "one"), "hold", true))))
                .post(WORKLOADS + "/batches")
                .then()
                .statusCode(201)
                .extract()
                .path("items.id");
        get(ids.get(0)).then().body("workload.gpus", equalTo("3"));
        get(ids.get(1)).then().body("workload.gpus", equalTo("1"));
        request(member())
                .body(with(three, "minGpus", "4"))
                .post(WORKLOADS)
                .then()
                .statusCode(422)
                .body("errors.field", contains("minGpus"));
        String fewer = request(member())
                .body(with(three, "minGpus", "2"))
                .post(WORKLOADS)
                .then()
                .statusCode(201)
                .extract()
                .path("id");
        get(fewer).then().body("workload.gpus", equalTo("3")).body("workload.minGpus", equalTo("2"));
        cancel(fewer);

        // If the profile allows less in the meantime, the workload takes the nearest amount that it allows.
        rows.run("update profile set max_gpus = 2 where max_gpus = 3 and tenant_id = $1", A);
        get(ids.get(0)).then().body("workload.gpus", equalTo("2"));
        ids.forEach(TwoTenantsWork::cancel);
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
                    gpus        | 400 | "0.5"
                    gpus        | 422 | "3"
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
                    "update queue set retired_at = clock_timestamp(), version = version + 1 where tenant_id = $1 "
                            + "and name = $2",
                    A,
                    queue);
            CompletableFuture<Response> waits = CompletableFuture.supplyAsync(
                    () -> request(member()).body(training(queue, "too late")).post(WORKLOADS),
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
                .satisfies(response -> response.then().statusCode(404).body("errors.field", contains("queue")));

        // The counters, the directory of queues and the list of issuers still treat the tenant as active.
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
                "insert into inbox (tenant_id, kind, ref) select tenant_id, 'workload', id::text from workload "
                        + "where tenant_id = $1 and state = 'held'",
                A);
        dispatcher.wake();
        Awaitility.await().atMost(PATIENCE).until(() -> rows.run(
                        "select 1 from workload where tenant_id = $1 and state = 'held' limit 1", A)
                .isEmpty());
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
                .statusCode(200)
                .body("status", equalTo(201))
                .body("resource.name", equalTo("dry"))
                .body("resource.id", nullValue());
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
        String key = "full-" + UUID.randomUUID();
        for (int i = 0; i < 2; i++) {
            ids.add(request(member())
                    .header("Idempotency-Key", key + i)
                    .body(training(small, "s" + i))
                    .post(WORKLOADS)
                    .then()
                    .statusCode(201)
                    .extract()
                    .path("id"));
        }
        refusedAsFull();
        repeated(key + 1, "s1", ids.get(1));
        redis.flushall(List.of()).await().atMost(PATIENCE);
        refusedAsFull();
        repeated(key + 1, "s1", ids.get(1));
        ids.forEach(TwoTenantsWork::cancel);
    }

    /** A repeated call gets its first response, even if the queue would accept nothing more. */
    private static void repeated(String key, String name, String id) {
        request(member())
                .header("Idempotency-Key", key)
                .body(training(small, name))
                .post(WORKLOADS)
                .then()
                .statusCode(201)
                .body("id", equalTo(id));
    }

    private static void refusedAsFull() {
        request(member())
                .body(training(small, "one too many"))
                .post(WORKLOADS)
                .then()
                .statusCode(429)
                .header("Retry-After", "10")
                .body("code", equalTo("queue-full"))
                .body("detail", containsString("2 of at most 2 workloads wait"));
    }
}
