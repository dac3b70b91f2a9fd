package io.quartermaster.contract;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.quartermaster.tenancy.TestTenants.viewerToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.restassured.RestAssured;
import io.restassured.response.Response;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Pages of other origins can call the API only for the tenants that allow them. */
@QuarkusTest
class CrossOriginIT {

    private static final String PORTAL = "https://portal.example.com";

    private static World a;
    private static World b;

    @BeforeAll
    static void oneTenantAllowsThePortal() {
        a = World.both().a();
        b = World.both().b();
        allow(List.of(PORTAL));
    }

    @Test
    void aPreflightOfAnAllowedOriginIsAnsweredWithoutAToken() {
        preflight(a.tenant(), PORTAL)
                .then()
                .statusCode(204)
                .header("Access-Control-Allow-Origin", equalTo(PORTAL))
                .header("Access-Control-Allow-Methods", containsString("PATCH"))
                .header("Access-Control-Allow-Headers", containsString("Authorization"))
                .header("Access-Control-Allow-Credentials", nullValue())
                .header("Vary", containsString("origin"));
    }

    @Test
    void answersToAnAllowedOriginCanBeReadByIt() {
        request(viewerToken(a.tenant()))
                .header("Origin", PORTAL)
                .get("/v1/tenants/" + a.tenant() + "/queues")
                .then()
                .statusCode(200)
                .header("Access-Control-Allow-Origin", equalTo(PORTAL))
                .header("Access-Control-Expose-Headers", containsString("ETag"))
                .header("Access-Control-Allow-Credentials", nullValue());
        RestAssured.given()
                .header("Origin", PORTAL)
                .get("/v1/tenants/" + a.tenant() + "/queues")
                .then()
                .statusCode(401)
                .header("Access-Control-Allow-Origin", equalTo(PORTAL));
    }

    @Test
    void aTenantThatDoesNotAllowAnOriginAnswersLikeOneThatNeverWas() {
        Response never = preflight(b.neverThere().tenant(), PORTAL);
        assertThat(never.header("Access-Control-Allow-Origin")).isNull();
        for (Response other : List.of(
                preflight(b.tenant(), PORTAL),
                preflight(a.tenant(), "https://other.example.com"),
                preflight(a.tenant(), "null"))) {
            assertThat(other.statusCode()).isEqualTo(never.statusCode());
            assertThat(other.asString()).isEqualTo(never.asString());
            assertThat(other.headers().asList().stream()
                            .map(h -> h.getName())
                            .sorted()
                            .toList())
                    .isEqualTo(never.headers().asList().stream()
                            .map(h -> h.getName())
                            .sorted()
                            .toList());
        }
    }

    @Test
    void originsAreReplacedAsOneAndOnlyByTheVersionThatWasRead() {
        Response before = request(viewerToken(a.tenant())).get(path());
        before.then().statusCode(200).body("origins", contains(PORTAL));
        Map<String, Object> body = Map.of("origins", List.of("https://new.example.com"));

        request(adminToken(a.tenant())).body(body).put(path()).then().statusCode(428);
        request(adminToken(a.tenant()))
                .header("If-Match", "\"0\"")
                .body(body)
                .put(path())
                .then()
                .statusCode(412);
        request(adminToken(a.tenant()))
                .header("If-Match", before.header("ETag"))
                .queryParam("dryRun", true)
                .body(body)
                .put(path())
                .then()
                .statusCode(200);
        request(viewerToken(a.tenant())).get(path()).then().header("ETag", equalTo(before.header("ETag")));
        request(adminToken(a.tenant()))
                .header("If-Match", before.header("ETag"))
                .body(Map.of("origins", List.of("*")))
                .put(path())
                .then()
                .statusCode(400)
                .body("errors.field", contains("origins[0]"));
        request(adminToken(a.tenant()))
                .get("/v1/tenants/" + a.tenant() + "/audit-entries?action=origins:replace")
                .then()
                .statusCode(200)
                .body("items[0].after.origins", contains(PORTAL));
    }

    private static void allow(List<String> origins) {
        String version = request(adminToken(a.tenant())).get(path()).header("ETag");
        request(adminToken(a.tenant()))
                .header("If-Match", version)
                .body(Map.of("origins", origins))
                .put(path())
                .then()
                .statusCode(200);
    }

    private static Response preflight(String tenant, String origin) {
        return RestAssured.given()
                .header("Origin", origin)
                .header("Access-Control-Request-Method", "POST")
                .header("Access-Control-Request-Headers", "authorization, content-type")
                .options("/v1/tenants/" + tenant + "/workloads");
    }

    private static String path() {
        return "/v1/tenants/" + a.tenant() + "/allowed-origins";
    }
}
