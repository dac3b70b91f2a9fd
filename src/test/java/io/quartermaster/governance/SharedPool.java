package io.quartermaster.governance;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;

import io.quartermaster.platform.Ids;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.tenancy.TestTenants;
import io.restassured.specification.RequestSpecification;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** Two tenants that share a pool of twenty GPUs, ten reserved for each; the first has two profiles. */
public abstract class SharedPool {

    public static final String A = "governance-a";
    static final String B = "governance-b";
    public static final String POOL = "governed";
    public static final String TENANT = "/v1/tenants/" + A;

    private static boolean shared;

    @Inject
    SystemDatabase database;

    @BeforeAll
    static void twoTenantsShareAPool() {
        if (shared) {
            return;
        }
        TestTenants.provision(A, B);
        request(operatorToken())
                .body(Map.of("name", POOL, "capacity", "20", "topologyLevels", List.of("zone", "rack")))
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
        shared = true;
    }

    /** Removes the policies of a test, so that each test finds the allotment free. */
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

    public static Map<String, Object> policy(
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

    /** Held, so that no leader starts it in the meantime. */
    public UUID waiting(String queue, String name) {
        UUID id = Ids.next();
        execute("""
                insert into workload (tenant_id, id, name, type, queue_id, policy_id, profile_id, submitted_by,
                    priority, preemptible, command, wish, state)
                select tenant_id, $1, $2, 'training', id, policy_id, profile_id, 'rnd-member', 50, true, '[]',
                    'hold', 'held'
                from queue where tenant_id = $3 and name = $4 and retired_at is null
                """, Tuple.of(id, name, A, queue));
        return id;
    }

    /** A workload with an attempt that holds this amount of the pool; no agent reports it. */
    public void running(String queue, long gpuMilli) {
        UUID workload = waiting(queue, "running");
        execute("update workload set state = 'running' where id = $1", Tuple.of(workload));
        execute("""
                insert into attempt (tenant_id, id, workload_id, number, state, pool_id, gpu_milli, bound_at)
                select $1, $2, $3, 1, 'running', id, $4, clock_timestamp() from pool where name = $5
                """, Tuple.of(A, Ids.next(), workload, gpuMilli, POOL));
    }

    /** Removes what {@link #running} made. */
    public void removeRunning() {
        execute("delete from attempt where tenant_id = $1", Tuple.of(A));
        execute("delete from workload where tenant_id = $1 and state = 'running'", Tuple.of(A));
    }

    public String text(String sql, Object parameter) {
        return database.on(connection -> connection.preparedQuery(sql).execute(Tuple.of(parameter)))
                .await()
                .atMost(Duration.ofSeconds(10))
                .iterator()
                .next()
                .getString(0);
    }

    public void execute(String sql, Tuple parameters) {
        database.in(connection -> connection.preparedQuery(sql).execute(parameters))
                .await()
                .atMost(Duration.ofSeconds(10));
    }

    public static RequestSpecification admin() {
        return request(adminToken(A));
    }

    public static void made(Map<String, Object> policy) {
        admin().body(policy).post(TENANT + "/policies").then().statusCode(201);
    }
}
