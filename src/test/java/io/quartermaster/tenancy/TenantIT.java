package io.quartermaster.tenancy;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.quartermaster.tenancy.TestTenants.viewerToken;
import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.hasItems;
import static org.hamcrest.Matchers.notNullValue;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.testing.Identity;
import io.quartermaster.testing.KeycloakConsole;
import io.restassured.http.ContentType;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

@QuarkusTest
class TenantIT {

    private static final String A = "tenancy-a";
    private static final String B = "tenancy-b";

    @BeforeAll
    static void twoTenants() {
        TestTenants.provision(A);
        TestTenants.provision(B);
    }

    @Test
    void tenantSeesItself() {
        request(viewerToken(A))
                .get("/v1/tenants/" + A)
                .then()
                .statusCode(200)
                .header("ETag", notNullValue())
                .body("id", equalTo(A))
                .body("state", equalTo("active"));
    }

    @Test
    void groupsOfTheBlueprintAreInTheRealmAndMoreCanBeMade() {
        request(viewerToken(A))
                .get("/v1/tenants/" + A + "/groups")
                .then()
                .statusCode(200)
                .body("items.path", hasItems("/devops", "/rnd"));

        String made = request(adminToken(A))
                .body(Map.of("path", "/rnd/vision/small"))
                .post("/v1/tenants/" + A + "/groups")
                .then()
                .statusCode(201)
                .extract()
                .header("Location");

        request(viewerToken(A))
                .get("/v1/tenants/" + A + "/groups")
                .then()
                .body("items.path", hasItems("/rnd", "/rnd/vision", "/rnd/vision/small"));
        request(viewerToken(A))
                .urlEncodingEnabled(false)
                .get(made)
                .then()
                .statusCode(200)
                .body("items.path", contains("/rnd/vision/small"));
        request(adminToken(A))
                .body(Map.of("path", "rnd"))
                .post("/v1/tenants/" + A + "/groups")
                .then()
                .statusCode(400)
                .body("errors.field", contains("path"))
                .body("errors.accepted", contains("a path such as /research/nlp"));
        request(adminToken(A))
                .get("/v1/tenants/" + A + "/no-such-thing")
                .then()
                .statusCode(404)
                .body("detail", containsString("/openapi"));
        request(adminToken(A))
                .queryParam("dryRun", true)
                .body(Map.of("path", "/never"))
                .post("/v1/tenants/" + A + "/groups")
                .then()
                .statusCode(200)
                .body("status", equalTo(201))
                .body("resource.path", equalTo("/never"));
        request(viewerToken(A))
                .get("/v1/tenants/" + A + "/groups")
                .then()
                .body(org.hamcrest.Matchers.not(containsString("/never")));
    }

    @Test
    void aRealmThatIsNotThereIsNoFailureOfTheService() {
        TestTenants.provision("tenancy-lost");
        KeycloakConsole.admin().delete("/admin/realms/tenancy-lost").then().statusCode(204);

        request(operatorToken())
                .get("/v1/tenants/tenancy-lost/groups")
                .then()
                .statusCode(404)
                .body("code", equalTo("realm-not-found"));
        request(operatorToken())
                .body(Map.of("path", "/rnd/lost"))
                .post("/v1/tenants/tenancy-lost/groups")
                .then()
                .statusCode(404)
                .body("code", equalTo("realm-not-found"));
    }

    @Test
    void memberLacksWhatItsRolesDoNotGrantAndIsToldWhich() {
        request(memberToken(A, "rnd-member"))
                .body(Map.of("path", "/mine"))
                .post("/v1/tenants/" + A + "/groups")
                .then()
                .statusCode(403)
                .body("code", equalTo("forbidden"))
                .body("detail", containsString("groups:write"));
    }

    @Test
    void sameRequestGivesTheSameOperationAndAnotherOneIsRefused() {
        Map<String, String> wanted = Map.of("id", A, "plan", "demo", "displayName", "Tenant " + A);
        String first = request(operatorToken())
                .body(wanted)
                .post("/v1/operator/tenants")
                .path("id");
        String second = request(operatorToken())
                .body(wanted)
                .post("/v1/operator/tenants")
                .path("id");
        org.assertj.core.api.Assertions.assertThat(second).isEqualTo(first);

        request(operatorToken())
                .body(Map.of("id", A, "plan", "standard", "displayName", "Tenant " + A))
                .post("/v1/operator/tenants")
                .then()
                .statusCode(409)
                .body("code", equalTo("tenant-exists"))
                .body("detail", containsString("plan"));
    }

    @Test
    void operationShowsItsStepsToTheTenantAndToNoOther() {
        String id = request(operatorToken())
                .body(Map.of("id", A, "plan", "demo", "displayName", "Tenant " + A))
                .post("/v1/operator/tenants")
                .path("id");

        request(adminToken(A))
                .get("/v1/tenants/" + A + "/operations/" + id)
                .then()
                .statusCode(200)
                .body("steps.name", hasItems("realm", "identities", "issuer", "quota-root"))
                .body("steps.state", everyItem(equalTo("succeeded")));
        request(adminToken(B))
                .get("/v1/tenants/" + B + "/operations/" + id)
                .then()
                .statusCode(404);
        request(adminToken(B))
                .get("/v1/tenants/" + A + "/operations/" + id)
                .then()
                .statusCode(404);
        request(adminToken(B)).get("/v1/operator/operations/" + id).then().statusCode(404);
    }

    @Test
    void badInputIsToldFieldByField() {
        request(operatorToken())
                .body(Map.of("id", "No!", "plan", "gold"))
                .post("/v1/operator/tenants")
                .then()
                .statusCode(400)
                .contentType("application/problem+json")
                .body("code", equalTo("invalid-input"))
                .body("errors.field", contains("id", "plan"))
                .body("errors.accepted", everyItem(notNullValue()));
        request(operatorToken())
                .body(Map.of("id", "master", "plan", "demo"))
                .post("/v1/operator/tenants")
                .then()
                .statusCode(400);
        request(operatorToken())
                .body(Map.of("id", "fine", "plan", "demo", "state", "active"))
                .post("/v1/operator/tenants")
                .then()
                .statusCode(400)
                .body("errors.field", contains("state"));
        request(operatorToken())
                .body(Map.of("id", "fine", "plan", "demo", "groups", List.of("no-slash")))
                .post("/v1/operator/tenants")
                .then()
                .statusCode(400);
        request(operatorToken()).get("/v1/operator/tenants/fine").then().statusCode(404);
    }

    @Test
    void dryRunMakesNothing() {
        request(operatorToken())
                .queryParam("dryRun", true)
                .body(Map.of("id", "only-tried", "plan", "demo"))
                .post("/v1/operator/tenants")
                .then()
                .statusCode(200)
                .header("Location", nullValue())
                .body("status", equalTo(202))
                .body("resource.id", nullValue());

        request(operatorToken()).get("/v1/operator/tenants/only-tried").then().statusCode(404);
    }

    @Test
    void suspendedTenantOnlyReadsAndComesBack() {
        TestTenants.provision("tenancy-c");
        String token = adminToken("tenancy-c");
        request(token).get("/v1/tenants/tenancy-c").then().statusCode(200);
        assertThat(makesUser(token, "before")).isEqualTo(201);

        String etag =
                request(operatorToken()).get("/v1/operator/tenants/tenancy-c").header("ETag");
        request(operatorToken())
                .body(Map.of("state", "suspended"))
                .patch("/v1/operator/tenants/tenancy-c")
                .then()
                .statusCode(428);
        String suspended = request(operatorToken())
                .header("If-Match", etag)
                .body(Map.of("state", "suspended"))
                .patch("/v1/operator/tenants/tenancy-c")
                .then()
                .statusCode(200)
                .body("state", equalTo("suspended"))
                .extract()
                .header("ETag");

        Awaitility.await().until(() -> makesUser(token, "while-suspended") == 403);
        for (String read : List.of("", "/usage", "/queues", "/workloads", "/audit-entries", "/usage/export")) {
            request(token).get("/v1/tenants/tenancy-c" + read).then().statusCode(200);
        }
        for (boolean dryRun : new boolean[] {true, false}) {
            request(token)
                    .queryParam("dryRun", dryRun)
                    .body(Map.of("path", "/too-late"))
                    .post("/v1/tenants/tenancy-c/groups")
                    .then()
                    .statusCode(403)
                    .body("code", equalTo("tenant-suspended"));
        }
        request(token)
                .body(Map.of("queue", "q", "name", "n", "type", "training", "command", List.of("true")))
                .post("/v1/tenants/tenancy-c/workloads")
                .then()
                .statusCode(403)
                .body("code", equalTo("tenant-suspended"));
        request(token)
                .body(Map.of("workloads", List.of(Map.of("queue", "q"))))
                .post("/v1/tenants/tenancy-c/simulations")
                .then()
                .statusCode(403)
                .body("code", equalTo("tenant-suspended"));
        request(operatorToken()).get("/v1/tenants/tenancy-c").then().statusCode(200);
        request(operatorToken())
                .header("If-Match", etag)
                .body(Map.of("state", "active"))
                .patch("/v1/operator/tenants/tenancy-c")
                .then()
                .statusCode(412);
        request(operatorToken())
                .header("If-Match", suspended)
                .body(Map.of("state", "active"))
                .patch("/v1/operator/tenants/tenancy-c")
                .then()
                .statusCode(200);
        request(token)
                .body(Map.of("path", "/in-time"))
                .post("/v1/tenants/tenancy-c/groups")
                .then()
                .statusCode(201);
        Awaitility.await().until(() -> makesUser(token, "after-resumption") == 201);
    }

    /** As the tenant's admin, in Keycloak itself. */
    private static int makesUser(String token, String username) {
        return given().baseUri(Identity.url())
                .port(-1)
                .auth()
                .oauth2(token)
                .contentType(ContentType.JSON)
                .body(Map.of("username", username))
                .post("/admin/realms/tenancy-c/users")
                .statusCode();
    }

    @Test
    void listsArePaged() {
        String next = request(operatorToken())
                .queryParam("pageSize", 1)
                .get("/v1/operator/tenants")
                .then()
                .statusCode(200)
                .extract()
                .path("nextPageToken");
        request(operatorToken())
                .queryParam("pageSize", 1)
                .queryParam("pageToken", next)
                .get("/v1/operator/tenants")
                .then()
                .statusCode(200)
                .body("items.size()", equalTo(1));
        request(operatorToken())
                .queryParam("pageToken", next)
                .queryParam("state", "active")
                .get("/v1/operator/tenants")
                .then()
                .statusCode(400);
    }
}
