package io.quartermaster.workloads;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.provision;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.dispatch.Dispatcher;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.testing.JsonBody;
import io.restassured.response.Response;
import io.vertx.mutiny.redis.client.RedisAPI;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;

/**
 * A pool of four GPUs, two tenants and three queues of the first, with a working leader and real tokens. All tests of
 * one run share them.
 */
abstract class TwoTenantsWork {

    static final String A = "workloads-a";
    static final String B = "workloads-b";
    static final String WORKLOADS = "/v1/tenants/" + A + "/workloads";
    static final Duration PATIENCE = Duration.ofSeconds(30);

    static String rnd = "";
    static String devops = "";
    static String small = "";

    @Inject
    SystemDatabase database;

    @Inject
    Dispatcher dispatcher;

    @Inject
    RedisAPI redis;

    QueueRows rows;

    @BeforeEach
    void twoTenantsAndTheirQueues() {
        rows = new QueueRows(database, A);
        if (rnd.isEmpty()) {
            provision(A, B);
            UUID pool = rows.pool("workloads", 4);
            rnd = rows.queue("/rnd", pool, 2, 3, 1, 10_000);
            devops = rows.queue("/devops", pool, 2, 4, 1, 10_000);
            small = rows.queue("/rnd/small", pool, 0, 0, 1, 2);
            dispatcher.wake();
        }
    }

    static Map<String, Object> training(String queue, String name) {
        return new HashMap<>(
                Map.of("queue", queue, "name", name, "type", "training", "command", List.of("sleep", "60")));
    }

    static String member() {
        return memberToken(A, "rnd-member");
    }

    static String submit(String name) {
        return request(member())
                .body(training(rnd, name))
                .post(WORKLOADS)
                .then()
                .statusCode(201)
                .extract()
                .path("id");
    }

    static Response get(String id) {
        return request(member()).get(WORKLOADS + "/" + id);
    }

    static String state(String id) {
        return JsonBody.of(get(id)).path("workload").path("state").asText();
    }

    static void cancel(String id) {
        request(adminToken(A)).post(WORKLOADS + "/" + id + "/cancel").then().statusCode(200);
    }

    static void eventually(String id, String state) {
        Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(state(id))
                .as(() -> get(id).asString()
                        + request(member())
                                .get(WORKLOADS + "/" + id + "/explain")
                                .asString())
                .isEqualTo(state));
    }

    /** Ends all workloads of a test, so that the next test finds free GPUs. */
    void endAll() {
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

    static Map<String, Object> with(Map<String, Object> body, String field, Object value) {
        body.put(field, value);
        return body;
    }
}
