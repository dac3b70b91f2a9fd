package io.quartermaster.workloads;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.personToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.quartermaster.tenancy.TestTenants.viewerToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItems;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.nullValue;
import static org.hamcrest.Matchers.startsWith;

import io.quarkus.test.junit.QuarkusTest;
import io.restassured.response.Response;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The data of a portal's first screens: the caller, its pools, and the fair share of its group. */
@QuarkusTest
class ShareIT extends TwoTenantsWork {

    private static Response share(Map<String, ?> query) {
        return request(viewerToken(A)).queryParams(query).get("/v1/tenants/" + A + "/share");
    }

    @Test
    void theShareOfAGroupIsExplainedFromTheTenantDown() {
        endAll();
        eventually(submit("uses-one"), "starting");

        Awaitility.await().atMost(PATIENCE).untilAsserted(() -> share(Map.of("group", "/rnd", "pool", "workloads"))
                .then()
                .statusCode(200)
                .body("group", equalTo("/rnd"))
                .body("pools.pool", contains("workloads"))
                .body("pools[0].levels.branch.group", contains("/", "/rnd"))
                .body("pools[0].levels[0].siblings", nullValue())
                .body("pools[0].levels[0].divided", nullValue())
                .body("pools[0].levels[1].divided", equalTo("1"))
                .body("pools[0].levels[1].branch.reserved", equalTo("2"))
                .body("pools[0].levels[1].branch.limit", equalTo("3"))
                .body("pools[0].levels[1].branch.used", equalTo("1"))
                .body("pools[0].levels[1].branch.demand", equalTo("1"))
                .body("pools[0].levels[1].branch.fairShare", equalTo("1"))
                .body("pools[0].levels[1].branch.bound", equalTo("demand"))
                .body("pools[0].levels[1].siblings.group", hasItems("/devops"))
                .body("pools[0].levels[1].text", startsWith("Its fair share is 1")));
        share(Map.of("pool", "nowhere")).then().statusCode(200).body("pools", empty());
        endAll();
    }

    @Test
    void theExplanationShowsNothingOfOtherTenants() {
        assertThat(share(Map.of()).asString()).doesNotContain(B);
        request(adminToken(B)).get("/v1/tenants/" + A + "/share").then().statusCode(404);
    }

    @Test
    void groupThatIsNoPathIsRefusedByName() {
        share(Map.of("group", "rnd")).then().statusCode(400).body("errors.field", contains("group"));
    }

    @Test
    void poolsShowTheirHardwareAndTheTenantsOwnNumbers() {
        endAll();
        eventually(submit("holds-one"), "starting");

        Awaitility.await().atMost(PATIENCE).untilAsserted(() -> request(viewerToken(A))
                .get("/v1/tenants/" + A + "/pools")
                .then()
                .statusCode(200)
                .body("items.find { it.name == 'workloads' }.used", equalTo("1"))
                .body("items.find { it.name == 'workloads' }.fairShare", equalTo("1"))
                .body("items.find { it.name == 'workloads' }.gpus", hasSize(1))
                .body("items.find { it.name == 'workloads' }.largestNode.gpus", equalTo(4))
                .body("items.find { it.name == 'workloads' }.maintenance", equalTo(false)));
        endAll();
    }

    @Test
    void poolWhoseNodesAreAllCordonedIsInMaintenance() {
        rows.run("""
                insert into pool (id, name) values ('018f0000-0000-7000-8000-000000000001', 'cordoned'),
                    ('018f0000-0000-7000-8000-000000000002', 'without-nodes')
                """);
        rows.run("""
                insert into node (id, name, cluster_id, pool_id, schedulable)
                select gen_random_uuid(), 'cordoned-1', (select cluster_id from node where name = 'workloads'), id, false
                  from pool where name = 'cordoned'
                """);
        rows.run(
                "insert into allotment (tenant_id, pool_id, reserved_milli) select $1, id, 0 from pool "
                        + "where name in ('cordoned', 'without-nodes')",
                A);

        request(viewerToken(A))
                .get("/v1/tenants/" + A + "/pools")
                .then()
                .statusCode(200)
                .body("items.find { it.name == 'cordoned' }.maintenance", equalTo(true))
                .body("items.find { it.name == 'cordoned' }.largestNode", nullValue())
                .body("items.find { it.name == 'without-nodes' }.maintenance", equalTo(false))
                .body("items.find { it.name == 'without-nodes' }.gpus", empty());
    }

    @Test
    void everyCallerLearnsWhoItIsAndWhatItMayDo() {
        request(member())
                .get("/v1/me")
                .then()
                .statusCode(200)
                .body("tenant", equalTo(A))
                .body("username", equalTo("rnd-member"))
                .body("serviceAccount", equalTo(false))
                .body("groups", contains("/rnd"))
                .body("roles", contains("member"))
                .body("permissions", hasItems("workloads:submit", "queues:read"))
                .body("permissions", not(hasItems("policies:write")))
                .body("permissionsInGroups", empty());
        request(personToken(A, "head-of-rnd", List.of("group-admin"), List.of("/rnd")))
                .get("/v1/me")
                .then()
                .statusCode(200)
                .body("permissions", empty())
                .body("permissionsInGroups", hasItems("policies:write", "workloads:submit"));
        request(personToken(A, "newcomer", List.of(), List.of()))
                .get("/v1/me")
                .then()
                .statusCode(200)
                .body("roles", empty())
                .body("permissions", empty());
        request(operatorToken())
                .get("/v1/me")
                .then()
                .statusCode(200)
                .body("tenant", nullValue())
                .body("permissions", hasItems("tenants:write"));
    }
}
