package io.quartermaster.workloads;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.quartermaster.tenancy.TestTenants.viewerToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsInAnyOrder;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.engine.model.GpuFormat;
import io.restassured.path.json.JsonPath;
import io.restassured.response.Response;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The explanations of waiting work: reasons, positions, outlooks, and warnings that work could never run. */
@QuarkusTest
class ExplanationsIT extends TwoTenantsWork {

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
}
