package io.quartermaster.governance;

import static io.quartermaster.tenancy.TestTenants.clientToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItems;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.vertx.VertxContextSupport;
import io.quartermaster.governance.policies.AllotmentsStep;
import io.quartermaster.governance.policies.RulesStep;
import io.quartermaster.platform.TenantId;
import io.quartermaster.tenancy.TenantSpec;
import io.quartermaster.tenancy.TestTenants;
import io.restassured.response.Response;
import jakarta.inject.Inject;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A tenant whose plan states rules can submit work as soon as its operation is done. */
@QuarkusTest
class FurnishedIT {

    @Inject
    AllotmentsStep allotments;

    @Inject
    RulesStep rules;

    @Test
    void tenantBeginsWithTheRulesOfItsPlanAndKeepsWhatItChanges() throws Throwable {
        request(operatorToken())
                .body(Map.of("name", "furnished", "capacity", "8"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(201);
        String operation = request(operatorToken())
                .body(Map.of("id", "furnished", "plan", "furnished"))
                .post("/v1/operator/tenants")
                .then()
                .statusCode(202)
                .body("steps.name", hasItems("allotments", "rules"))
                .extract()
                .path("id");

        TestTenants.awaitState(operation, "succeeded");

        String tenant = "/v1/tenants/furnished";
        Response secret = request(operatorToken()).post("/v1/operator/tenants/furnished/automation-secret");
        String token = clientToken("furnished", secret.path("clientId"), secret.path("clientSecret"));
        request(token)
                .get(tenant + "/queues")
                .then()
                .body("items.name", contains("everybody-one-gpu", "everybody-two-gpus"));
        request(token)
                .body(Map.of("subjectKind", "everyone"))
                .post(tenant + "/queues/everybody-one-gpu/access-rules")
                .then()
                .statusCode(201);
        request(token)
                .body(Map.of(
                        "queue", "everybody-one-gpu", "name", "first", "type", "training", "command", List.of("true")))
                .post(tenant + "/workloads")
                .then()
                .statusCode(201);
        Response profile = request(token).get(tenant + "/profiles/two-gpus");
        request(token)
                .header("If-Match", profile.header("ETag"))
                .body(Map.of("gpus", "2", "pools", List.of("furnished"), "maxRuntime", "PT1H"))
                .put(tenant + "/profiles/two-gpus")
                .then()
                .statusCode(200);

        TenantSpec spec = new TenantSpec(new TenantId("furnished"), "furnished", "furnished", List.of());
        VertxContextSupport.subscribeAndAwait(() -> allotments.apply(spec));
        VertxContextSupport.subscribeAndAwait(() -> rules.apply(spec));

        request(token).get(tenant + "/profiles/two-gpus").then().body("maxRuntime", equalTo("PT1H"));
        request(token)
                .queryParam("actor", "(service)")
                .get(tenant + "/audit-entries")
                .then()
                .body(
                        "items.action",
                        contains("policies:create", "profiles:create", "profiles:create", "allotments:create"));
    }
}
