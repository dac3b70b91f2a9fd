package io.quartermaster.contract;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItems;
import static org.hamcrest.Matchers.notNullValue;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.tenancy.TestTenants;
import io.restassured.response.ValidatableResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Refusals name the field, the value and the remedy; accepted input with unexpected effects has a warning. */
@QuarkusTest
class MessagesIT {

    private static final String A = "messages-a";
    private static final String TENANT = "/v1/tenants/" + A;

    @BeforeAll
    static void aTenantWithAQueue() {
        TestTenants.provision(A);
        request(operatorToken())
                .body(Map.of("name", "messages", "capacity", "4"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(201);
        request(operatorToken())
                .body(Map.of("reserved", "2"))
                .put("/v1/operator/tenants/" + A + "/allotments/messages")
                .then()
                .statusCode(201);
        for (Map<String, Object> profile : List.<Map<String, Object>>of(
                Map.of("name", "one", "gpus", "1", "pools", List.of("messages")),
                Map.of("name", "range", "gpus", "1", "maxGpus", "2", "pools", List.of("messages")))) {
            request(adminToken(A))
                    .body(profile)
                    .post(TENANT + "/profiles")
                    .then()
                    .statusCode(201);
        }
        request(adminToken(A))
                .body(Map.of(
                        "name",
                        "rnd",
                        "group",
                        "/rnd",
                        "quotas",
                        List.of(Map.of("pool", "messages", "reserved", "1")),
                        "profiles",
                        List.of("one", "range")))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201);
    }

    @Test
    void fieldsAreToldByTheirOwnNames() {
        request(operatorToken())
                .body(Map.of("id", "messages-b"))
                .post("/v1/operator/tenants")
                .then()
                .statusCode(400)
                .body("errors.field", contains("plan"))
                .body("errors[0].message", equalTo("is missing"));
        request(adminToken(A))
                .header("If-Match", "\"0\"")
                .body("{\"quotas\": {\"demoo\": {\"reserved\": \"1\"}}}")
                .patch(TENANT + "/policies/rnd")
                .then()
                .statusCode(400)
                .body("errors.field", contains("quotas.demoo"))
                .body("errors[0].message", containsString("\"demoo\""));
        request(adminToken(A))
                .header("If-Match", "\"0\"")
                .body("{\"userLimit\": \"0.5\"}")
                .patch(TENANT + "/policies/rnd")
                .then()
                .statusCode(400)
                .body("errors.field", contains("userLimit"));
        submit(Map.of("queue", "rnd-range", "gpus", "1", "minGpus", "2"), UUID.randomUUID())
                .statusCode(422)
                .body("errors.field", contains("minGpus"))
                .body("errors[0].message", containsString("is more than gpus"));
        submit(Map.of("queue", "rnd-one", "minGpus", "2"), UUID.randomUUID())
                .statusCode(422)
                .body("errors.field", contains("minGpus"))
                .body("errors[0].message", containsString("always gives a worker 1 GPU"));
    }

    @Test
    void refusalsSayTheValueAndTheRemedy() {
        UUID key = UUID.randomUUID();
        submit(Map.of("queue", "rnd-one", "hold", true), key).statusCode(201);
        submit(Map.of("queue", "rnd-one", "hold", false), key)
                .statusCode(422)
                .body("code", equalTo("idempotency-key-reused"))
                .body("detail", containsString(key.toString()))
                .body("detail", containsString("new key"));
        request(adminToken(A))
                .body("{\"maxRunning\": 3}")
                .patch(TENANT + "/policies/rnd")
                .then()
                .statusCode(428)
                .body("detail", containsString("If-Match is missing"));
        request(memberToken(A, "devops-member"))
                .body(Map.of("queue", "rnd-one", "name", "n", "type", "training", "command", List.of("true")))
                .post(TENANT + "/workloads")
                .then()
                .statusCode(403)
                .body("detail", containsString("Ask an admin of the tenant for a rule"));
        maxWaiting(0);
        submit(Map.of("queue", "rnd-range"), UUID.randomUUID())
                .statusCode(429)
                .body("detail", containsString("its maxWaiting is 0"))
                .header("Retry-After", nullValue());
        maxWaiting(1);
        // A refusal may depend on the queue as the replica read it a moment ago.
        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> submit(Map.of("queue", "rnd-range", "hold", true), UUID.randomUUID())
                                .extract()
                                .statusCode()
                        == 201);
        submit(Map.of("queue", "rnd-range", "hold", true), UUID.randomUUID())
                .statusCode(429)
                .body("detail", containsString("1 of at most 1 workload waits"))
                .header("Retry-After", notNullValue());
    }

    @Test
    void whatWouldBeDroppedOrCannotBeNamedIsRefused() {
        request(adminToken(A))
                .body(Map.of("subjectKind", "everyone", "subject", "rnd-member"))
                .post(TENANT + "/queues/rnd-one/access-rules")
                .then()
                .statusCode(400)
                .body("errors.field", contains("subject"))
                .body("errors[0].message", containsString("rnd-member"));
        request(adminToken(A))
                .body(Map.of("subjectKind", "user", "subject", "rnd\u202emember"))
                .post(TENANT + "/queues/rnd-one/access-rules")
                .then()
                .statusCode(400)
                .body("errors.field", contains("subject"));
        for (String group : List.of("/rnd/ ", "/rnd/ x", "/rnd/a\u202eb")) {
            request(adminToken(A))
                    .body(Map.of("name", "odd", "group", group))
                    .post(TENANT + "/policies")
                    .then()
                    .statusCode(400)
                    .body("errors.field", contains("group"));
        }
    }

    @Test
    void nodesAndClustersThatMaySurpriseHaveWarnings() {
        request(operatorToken())
                .body(Map.of("name", "messages-k", "kind", "kubernetes", "region", "eu"))
                .post("/v1/operator/clusters")
                .then()
                .statusCode(201)
                .body("warnings", hasItems(containsString("is of kind kubernetes")));
        request(operatorToken())
                .body(Map.of("name", "messages-c", "kind", "agent", "region", "eu"))
                .post("/v1/operator/clusters")
                .then()
                .statusCode(201)
                .body("warnings", equalTo(List.of()));
        request(operatorToken())
                .body(Map.of("name", "messages-nodes"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(201);
        request(operatorToken())
                .body(Map.of(
                        "name",
                        "messages-n",
                        "cluster",
                        "messages-c",
                        "pool",
                        "messages-nodes",
                        "labels",
                        Map.of("bad key!", "x")))
                .post("/v1/operator/nodes")
                .then()
                .statusCode(400)
                .body("errors.field", contains("labels"))
                .body("errors[0].message", containsString("bad key!"));
        request(operatorToken())
                .body(Map.of(
                        "name",
                        "messages-n",
                        "cluster",
                        "messages-c",
                        "pool",
                        "messages-nodes",
                        "topology",
                        List.of("z1")))
                .post("/v1/operator/nodes")
                .then()
                .statusCode(201)
                .body("warnings", hasItems(containsString("pool messages-nodes has no topology levels")));
    }

    private static void maxWaiting(int max) {
        String queue = TENANT + "/queues/rnd-range";
        request(adminToken(A))
                .header("If-Match", request(adminToken(A)).get(queue).header("ETag"))
                .body(Map.of("maxWaiting", max))
                .patch(queue)
                .then()
                .statusCode(200);
    }

    private static ValidatableResponse submit(Map<String, Object> some, UUID key) {
        Map<String, Object> all = new HashMap<>(Map.of("name", "n", "type", "training", "command", List.of("true")));
        all.putAll(some);
        return request(memberToken(A, "rnd-member"))
                .header("Idempotency-Key", key.toString())
                .body(all)
                .post(TENANT + "/workloads")
                .then();
    }
}
