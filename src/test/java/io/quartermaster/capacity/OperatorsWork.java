package io.quartermaster.capacity;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;

import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.tenancy.TestTenants;
import io.restassured.specification.RequestSpecification;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;

/** Two tenants, and the operator's calls for them. */
abstract class OperatorsWork {

    static final String A = "capacity-a";
    static final String B = "capacity-b";

    @Inject
    SystemDatabase database;

    @BeforeAll
    static void twoTenants() {
        TestTenants.provision(A, B);
    }

    /** A cluster and a pool of nodes, both of this name. */
    static void fleet(String name) {
        operator()
                .body(Map.of("name", name, "kind", "simulated", "region", "north"))
                .post("/v1/operator/clusters")
                .then()
                .statusCode(201);
        operator().body(Map.of("name", name)).post("/v1/operator/pools").then().statusCode(201);
    }

    /** A node with contact, in the state after its agent's first report. */
    void node(String fleet, String name, String isolation, int gpus) {
        String id = operator()
                .body(Map.of("name", name, "cluster", fleet, "pool", fleet))
                .post("/v1/operator/nodes")
                .then()
                .statusCode(201)
                .extract()
                .path("id");
        database.in(connection -> connection
                        .preparedQuery("insert into node_contact (node_id, agent_version, boot_id, instance_id, "
                                + "isolation, last_heard, lease_until)"
                                + " values ($1, '1', 'b', 'i', $2, now(), now() + interval '30 seconds')")
                        .execute(Tuple.of(UUID.fromString(id), isolation))
                        .chain(() -> connection
                                .preparedQuery("insert into gpu (node_id, device_index, uuid, model, memory_mib)"
                                        + " select $1, i, 'gpu-' || i, 'H100', 81920 from generate_series(0, $2 - 1) i")
                                .execute(Tuple.of(UUID.fromString(id), gpus))))
                .await()
                .atMost(Duration.ofSeconds(10));
    }

    static RequestSpecification operator() {
        return request(operatorToken());
    }

    static RequestSpecification admin(String tenant) {
        return request(adminToken(tenant));
    }
}
