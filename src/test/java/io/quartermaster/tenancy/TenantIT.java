package io.quartermaster.tenancy;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.quartermaster.tenancy.TestTenants.viewerToken;
import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsInAnyOrder;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.hasItems;
import static org.hamcrest.Matchers.notNullValue;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.access.keycloak.KeycloakRealm;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.testing.Identity;
import io.quartermaster.testing.KeycloakConsole;
import io.restassured.http.ContentType;
import io.restassured.response.Response;
import io.vertx.core.json.JsonObject;
import jakarta.inject.Inject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

@QuarkusTest
class TenantIT {

    private static final String A = "tenancy-a";
    private static final String B = "tenancy-b";
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Inject
    SystemDatabase database;

    @Inject
    KeycloakAdmin keycloak;

    @BeforeAll
    static void twoTenants() {
        TestTenants.provision(A, B);
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
                .body("errors.accepted", contains(GroupPath.ACCEPTED));
        for (String dots : List.of("/..", "/rnd/./x")) {
            request(adminToken(A))
                    .body(Map.of("path", dots))
                    .post("/v1/tenants/" + A + "/groups")
                    .then()
                    .statusCode(400)
                    .body("errors.field", contains("path"));
            request(adminToken(A))
                    .queryParam("path", dots)
                    .get("/v1/tenants/" + A + "/groups")
                    .then()
                    .statusCode(200)
                    .body("items", empty());
        }
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

    /**
     * The transaction of the answer fails as if the service died there: Keycloak has the groups, but the caller got no
     * answer.
     */
    @Test
    void noGroupIsMadeWithoutAnAuditEntry() {
        String token = adminToken(A);
        String key = UUID.randomUUID().toString();
        Response answer = database.run(PATIENCE, tx -> {
                    tx.run(
                            "insert into idempotency (tenant_id, caller, key, fingerprint, status, headers, body)"
                                    + " values ($1, $2, $3, 'of another request', 200, '{}', '{}')",
                            A,
                            subject(token),
                            key);
                    CompletableFuture<Response> waiting = CompletableFuture.supplyAsync(
                            () -> request(token)
                                    .header("Idempotency-Key", key)
                                    .body(Map.of("path", "/audited/by/intent"))
                                    .post("/v1/tenants/" + A + "/groups"),
                            Thread::startVirtualThread);
                    Awaitility.await().atMost(PATIENCE).until(() -> hasGroup("/audited/by/intent"));
                    return waiting;
                })
                .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                .join();
        answer.then().statusCode(422).body("code", equalTo("idempotency-key-reused"));

        request(token)
                .body(Map.of("path", "/audited/by/intent"))
                .post("/v1/tenants/" + A + "/groups")
                .then()
                .statusCode(200);

        request(token)
                .queryParam("action", "groups:create")
                .queryParam("resource", "groups/audited")
                .get("/v1/tenants/" + A + "/audit-entries")
                .then()
                .statusCode(200)
                .body(
                        "items.resource",
                        containsInAnyOrder("groups/audited", "groups/audited/by", "groups/audited/by/intent"));
    }

    private static boolean hasGroup(String path) {
        List<?> found = request(viewerToken(A))
                .queryParam("path", path)
                .get("/v1/tenants/" + A + "/groups")
                .path("items");
        return !found.isEmpty();
    }

    private static String subject(String token) {
        return new JsonObject(new String(Base64.getUrlDecoder().decode(token.split("\\.")[1]), StandardCharsets.UTF_8))
                .getString("sub");
    }

    @Test
    void aPlanAllowsSoManyGroupsWithThoseAboveThem() {
        TestTenants.provision("tenancy-full");
        keycloak.call(client -> {
                    KeycloakRealm realm = client.realm("tenancy-full");
                    for (long i = realm.groupCount(); i < 98; i++) {
                        RealmAdmin.ensureGroup(realm, new GroupPath("/group-" + i));
                    }
                    return realm.groupCount();
                })
                .await()
                .atMost(PATIENCE);
        String path = "/v1/tenants/tenancy-full/groups";

        request(operatorToken())
                .body(Map.of("path", "/three/more/groups"))
                .post(path)
                .then()
                .statusCode(422)
                .body("code", equalTo("too-many-groups"))
                .body("errors[0].message", containsString("98 groups, and the path adds 3"));
        request(operatorToken())
                .body(Map.of("path", "/two/more"))
                .post(path)
                .then()
                .statusCode(201);
        request(operatorToken())
                .queryParam("path", "/three/more/groups")
                .get(path)
                .then()
                .statusCode(200)
                .body("items", empty());
    }

    @Test
    void groupsOfATenantWhosePlanWasRemovedAreRefusedByName() {
        TestTenants.provision("tenancy-planless");
        database.run(PATIENCE, tx -> tx.run("update tenant set plan = 'removed-plan' where id = 'tenancy-planless'"));

        request(operatorToken())
                .body(Map.of("path", "/more"))
                .post("/v1/tenants/tenancy-planless/groups")
                .then()
                .statusCode(409)
                .body("code", equalTo("no-such-plan"))
                .body("detail", containsString("removed-plan"));
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

    /** Creates a user in Keycloak itself, as the tenant's admin. */
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
