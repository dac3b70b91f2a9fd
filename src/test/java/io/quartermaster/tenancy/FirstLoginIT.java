package io.quartermaster.tenancy;

import static io.quartermaster.tenancy.TestTenants.clientToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItems;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.testing.Identity;
import io.restassured.response.Response;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The first logins of the users and programs of a tenant of the ordinary plan. */
@QuarkusTest
class FirstLoginIT {

    private static final String TENANT = "first-login";
    private static final String OTHER = "first-login-b";
    private static final String OPERATOR_PATH = "/v1/operator/tenants/" + TENANT;

    @BeforeAll
    static void twoTenantsOfTheOrdinaryPlan() {
        for (String tenant : new String[] {TENANT, OTHER}) {
            String operation = request(operatorToken())
                    .body(Map.of("id", tenant, "plan", "standard"))
                    .post("/v1/operator/tenants")
                    .then()
                    .statusCode(202)
                    .extract()
                    .path("id");
            TestTenants.awaitState(operation, "succeeded");
        }
    }

    @Test
    void firstAdminLogsInSetsAPasswordAndIsAdmin() throws Exception {
        Map<String, String> jo =
                Map.of("username", "jo-example", "email", "jo@example.com", "firstName", "Jo", "lastName", "Example");
        Response first = make(jo);
        assertThat(first.header("Cache-Control")).isEqualTo("no-store");
        Response second = make(jo);
        String old = first.path("temporaryPassword");
        String temporary = second.path("temporaryPassword");
        assertThat(temporary).isNotEqualTo(old).hasSizeGreaterThan(20);

        try (Browser browser = new Browser(TENANT)) {
            browser.submit(Map.of("username", "jo-example", "password", old));
            assertThat(browser.html()).as("the replaced password is none").contains("name=\"password\"");
            // Keycloak refuses every login of a user while it still counts that user's failed one.
            await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
                browser.submit(Map.of("username", "jo-example", "password", temporary));
                assertThat(browser.html()).contains("password-new");
            });
            browser.submit(Map.of("password-new", "my-own-long-password", "password-confirm", "my-own-long-password"));
            String token = browser.token();

            request(token)
                    .body(Map.of("path", "/mine"))
                    .post("/v1/tenants/" + TENANT + "/groups")
                    .then()
                    .statusCode(201);
            request(token)
                    .get("/v1/tenants/" + TENANT + "/audit-entries")
                    .then()
                    .body("items.resource", hasItems("users/jo-example"))
                    .body(not(containsString(temporary)));
            request(token).get("/v1/tenants/" + OTHER).then().statusCode(404);
        }
        request(operatorToken())
                .body(jo)
                .post(OPERATOR_PATH + "/admins")
                .then()
                .statusCode(409)
                .body("code", equalTo("user-exists"));
    }

    @Test
    void dryRunOfAnAdminMakesNobody() {
        request(operatorToken())
                .queryParam("dryRun", true)
                .body(Map.of("username", "nobody", "email", "nobody@example.com"))
                .post(OPERATOR_PATH + "/admins")
                .then()
                .statusCode(200)
                .body("status", equalTo(201))
                .body("resource.username", equalTo("nobody"))
                .body("resource.temporaryPassword", nullValue());

        try (Browser browser = new Browser(TENANT)) {
            browser.submit(Map.of("username", "nobody", "password", "x"));
            assertThat(browser.html()).contains("name=\"password\"");
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        request(operatorToken())
                .get("/v1/tenants/" + TENANT + "/audit-entries")
                .then()
                .body(not(containsString("users/nobody")));
    }

    @Test
    void automationsSecretIsReplacedEachTimeItIsIssued() {
        Response first = request(operatorToken()).post(OPERATOR_PATH + "/automation-secret");
        first.then().statusCode(201);
        Response second = request(operatorToken()).post(OPERATOR_PATH + "/automation-secret");

        String token = clientToken(TENANT, second.path("clientId"), second.path("clientSecret"));

        request(token).get("/v1/tenants/" + TENANT + "/audit-entries").then().statusCode(200);
        given().baseUri(Identity.url())
                .port(-1)
                .auth()
                .oauth2(token)
                .get("/admin/realms/" + TENANT + "/users")
                .then()
                .statusCode(403);
        assertThatThrownBy(() -> clientToken(TENANT, first.path("clientId"), first.path("clientSecret")))
                .isInstanceOf(AssertionError.class);
        request(operatorToken())
                .post("/v1/operator/tenants/no-such-tenant/automation-secret")
                .then()
                .statusCode(404);
    }

    private static Response make(Map<String, String> admin) {
        return request(operatorToken())
                .body(admin)
                .post(OPERATOR_PATH + "/admins")
                .then()
                .statusCode(201)
                .extract()
                .response();
    }
}
