package io.quartermaster.workloads;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.quartermaster.tenancy.TestTenants.viewerToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.restassured.response.Response;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The lifecycle of submitted workloads, as their users see it: states, desired states and receipts. */
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
}
