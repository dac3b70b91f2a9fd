package io.quartermaster.governance;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItems;
import static org.hamcrest.Matchers.notNullValue;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.vertx.VertxContextSupport;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.governance.policies.GroupDrift;
import io.quartermaster.tenancy.TestTenants;
import io.restassured.response.ValidatableResponse;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Groups that appear and disappear in a real realm, and the effect on their policies. */
@QuarkusTest
class DriftIT {

    private static final String A = "drift-a";
    private static final String B = "drift-b";
    private static final String TENANT = "/v1/tenants/" + A;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Inject
    KeycloakAdmin keycloak;

    @Inject
    GroupDrift drift;

    @BeforeAll
    static void twoTenantsWithPoliciesForTwoGroups() {
        request(operatorToken())
                .body(Map.of("name", "drifting", "capacity", "8"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(201);
        TestTenants.provision(A, B);
        for (String tenant : List.of(A, B)) {
            request(operatorToken())
                    .body(Map.of("reserved", "4"))
                    .put("/v1/operator/tenants/" + tenant + "/allotments/drifting")
                    .then()
                    .statusCode(201);
            made(tenant, "profiles", Map.of("name", "one", "gpus", "1", "pools", List.of("drifting")));
            for (String group : List.of("rnd", "devops")) {
                made(
                        tenant,
                        "policies",
                        Map.of(
                                "name",
                                group,
                                "group",
                                "/" + group,
                                "quotas",
                                List.of(Map.of("pool", "drifting", "reserved", "2")),
                                "profiles",
                                List.of("one")));
            }
        }
    }

    @Test
    void policyOfAGroupThatIsGoneIsSuspendedUntilTheGroupIsBack() throws Throwable {
        String runs = submit("rnd-member", "rnd-one", "runs");
        await(runs, "workload.state", "starting");
        String token = memberToken(A, "rnd-member");
        check().body("policies", equalTo(2)).body("suspended", empty()).body("resumed", empty());
        removeGroup("rnd");

        request(adminToken(A))
                .queryParam("dryRun", true)
                .post(TENANT + "/drift-checks")
                .then()
                .body("resource.suspended", contains("rnd"));
        policy("rnd").body("state", equalTo("active"));
        check().body("suspended", contains("rnd"));

        policy("rnd")
                .body("state", equalTo("suspended"))
                .body("drift.kind", equalTo("group-gone"))
                .body("drift.since", notNullValue());
        policy("devops").body("state", equalTo("active")).body("drift", nullValue());
        String waits = submit(token, "rnd-one", "waits", 201);
        await(waits, "workload.reason", "SUSPENDED");
        await(runs, "workload.state", "starting");
        await(submit("devops-member", "devops-one", "beside"), "workload.state", "starting");

        request(adminToken(A))
                .body(Map.of("path", "/rnd"))
                .post(TENANT + "/groups")
                .then()
                .statusCode(201);
        VertxContextSupport.subscribeAndAwait(() -> drift.checkRegularly());

        policy("rnd").body("state", equalTo("active")).body("drift", nullValue());
        await(waits, "workload.state", "starting");
        request(adminToken(A))
                .queryParam("resource", "policies/rnd")
                .get(TENANT + "/audit-entries")
                .then()
                .body("items.action", hasItems("policies:suspend", "policies:resume"))
                .body("items[0].actor", equalTo("(service)"));
        request(adminToken(B))
                .get("/v1/tenants/" + B + "/policies")
                .then()
                .body("items.state", contains("active", "active"));
    }

    private void removeGroup(String name) {
        keycloak.call(client -> {
                    var realm = client.realm(A);
                    realm.removeGroup(
                            realm.group(new GroupPath("/" + name)).orElseThrow().getId());
                    return name;
                })
                .await()
                .atMost(PATIENCE);
    }

    private static ValidatableResponse check() {
        return request(adminToken(A)).post(TENANT + "/drift-checks").then().statusCode(200);
    }

    private static ValidatableResponse policy(String name) {
        return request(adminToken(A)).get(TENANT + "/policies/" + name).then().statusCode(200);
    }

    private static String submit(String member, String queue, String name) {
        return submit(memberToken(A, member), queue, name, 201);
    }

    private static String submit(String token, String queue, String name, int status) {
        return request(token)
                .body(Map.of("queue", queue, "name", name, "type", "training", "command", List.of("sleep", "60")))
                .post(TENANT + "/workloads")
                .then()
                .statusCode(status)
                .extract()
                .path("id");
    }

    private static void await(String workload, String path, String value) {
        Awaitility.await(path + " is " + value)
                .atMost(PATIENCE)
                .until(() -> value.equals(request(adminToken(A))
                        .get(TENANT + "/workloads/" + workload)
                        .path(path)));
    }

    private static void made(String tenant, String list, Map<String, ?> body) {
        String answer = request(adminToken(tenant))
                .body(body)
                .post("/v1/tenants/" + tenant + "/" + list)
                .then()
                .extract()
                .asString();
        assertThat(answer).contains("\"id\"");
    }
}
