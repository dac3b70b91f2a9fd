package io.quartermaster.cli.load;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.cli.demo.ApiClient;
import io.quartermaster.cli.demo.ApiClient.ApiFailure;
import io.quartermaster.cli.demo.DemoStage;
import io.quartermaster.cli.demo.DemoWorld;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The tenant of the load run: a pool that is a plain count, so that bound work needs no node; a queue whose work starts
 * immediately, and one whose work only waits. For runs with agents: a pool of nodes.
 */
public final class LoadWorld {

    public static final String TENANT = "load";
    static final String CLUSTER = "load";
    static final String NODES_POOL = "load-nodes";
    private static final String POOL = "load";
    private static final String AMPLE_CAPACITY = "100000";
    private static final Duration OPERATION_TIMEOUT = Duration.ofMinutes(3);

    private final ApiClient operator;
    private final ApiClient admin;

    public LoadWorld(String url, String keycloak, String operatorSecret, String adminPassword) {
        operator = ApiClient.ofClient(url, keycloak, "operator", DemoWorld.CLI_CLIENT, operatorSecret);
        admin = ApiClient.ofUser(url, keycloak, TENANT, "admin", adminPassword);
    }

    /** The names of the two queues. */
    public record Queues(String starts, String waits) {}

    public Queues prepare() {
        createTenant();
        operator.require(operator.post("/v1/operator/pools", Map.of("name", POOL, "capacity", AMPLE_CAPACITY)));
        operator.require(operator.put(
                "/v1/operator/tenants/" + TENANT + "/allotments/" + POOL, Map.of("reserved", AMPLE_CAPACITY)));
        String own = "/v1/tenants/" + TENANT;
        admin.require(admin.post(own + "/profiles", Map.of("name", "one", "gpus", "1", "pools", List.of(POOL))));
        createPolicy("rnd", Map.of("pool", POOL, "reserved", AMPLE_CAPACITY));
        // Its first workload takes the one GPU and keeps it: in a pool that is a plain count no work runs, so none
        // ends.
        createPolicy("devops", Map.of("pool", POOL, "reserved", "0", "limit", "1"));
        return new Queues(createQueue("rnd"), createQueue("devops"));
    }

    /** Prepares a cluster and a pool for nodes with agents, and returns the queue whose work starts there. */
    public String prepareNodes() {
        createTenant();
        operator.require(
                operator.post("/v1/operator/clusters", Map.of("name", CLUSTER, "kind", "agent", "region", "load")));
        operator.require(operator.post("/v1/operator/pools", Map.of("name", NODES_POOL)));
        operator.require(
                operator.put("/v1/operator/tenants/" + TENANT + "/allotments/" + NODES_POOL, Map.of("reserved", "0")));
        admin.require(admin.post(
                "/v1/tenants/" + TENANT + "/profiles",
                Map.of("name", "one", "gpus", "1", "pools", List.of(NODES_POOL))));
        createPolicy("rnd", Map.of("pool", NODES_POOL, "reserved", "0"));
        return createQueue("rnd");
    }

    private void createTenant() {
        JsonNode operation = operator.require(
                operator.post("/v1/operator/tenants", Map.of("id", TENANT, "plan", "demo", "displayName", "Load run")));
        awaitOperation(operation.path("id").asText());
    }

    private void createPolicy(String name, Map<String, String> quota) {
        admin.require(admin.post(
                "/v1/tenants/" + TENANT + "/policies",
                Map.of("name", name, "group", "/" + name, "quotas", List.of(quota), "profiles", List.of())));
    }

    private String createQueue(String policy) {
        return admin.require(admin.post(
                        "/v1/tenants/" + TENANT + "/queues",
                        Map.of("policy", policy, "profile", "one", "maxWaiting", 1_000_000)))
                .path("name")
                .asText();
    }

    private void awaitOperation(String operation) {
        long end = System.nanoTime() + OPERATION_TIMEOUT.toNanos();
        while (true) {
            String state = operator.require(operator.get("/v1/operator/operations/" + operation))
                    .path("state")
                    .asText();
            if (state.equals("succeeded")) {
                return;
            }
            if (state.equals("failed") || System.nanoTime() > end) {
                throw new ApiFailure("The tenant of the load run could not be created: " + state);
            }
            DemoStage.pause();
        }
    }
}
