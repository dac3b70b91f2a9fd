package io.quartermaster.tenancy;

import static io.restassured.RestAssured.given;

import io.quartermaster.testing.Identity;
import io.quartermaster.testing.JsonBody;
import io.quartermaster.testing.Management;
import io.restassured.http.ContentType;
import io.restassured.response.Response;
import io.restassured.specification.RequestSpecification;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.awaitility.Awaitility;
import org.eclipse.microprofile.config.ConfigProvider;

/** Real tenants and real tokens for integration tests, through the public API and Keycloak's token endpoint. */
public final class TestTenants {

    private static final String CLI_SECRET = "cli-secret-of-the-tests";
    private static final String ADMIN_PASSWORD = "demo-admin-password";
    private static final String PERSON_PASSWORD = "password-of-the-tests";
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** Well within a token's life. */
    private static final Duration TOKEN_USE = Duration.ofMinutes(3);

    /** How long Keycloak may refuse a login because the user's previous login is still being recorded. */
    private static final Duration LOGIN_PATIENCE = Duration.ofSeconds(10);

    private static final Map<List<String>, Token> TOKENS = new ConcurrentHashMap<>();

    private static String operatorToken = "";
    private static long operatorTokenUntil = Long.MIN_VALUE;

    private record Token(String value, long until) {}

    private TestTenants() {}

    /** A token of the operator's automation; waits for Keycloak and the operator's realm. */
    public static synchronized String operatorToken() {
        if (System.nanoTime() < operatorTokenUntil) {
            return operatorToken;
        }
        Identity.await();
        Awaitility.await().atMost(PATIENCE).ignoreExceptions().until(() -> "made"
                .equals(Management.request()
                        .get("/health/ready")
                        .path("checks.find { it.name == 'operator-realm' }.data.state")));
        operatorToken = clientToken("operator", "quartermaster-cli", CLI_SECRET);
        operatorTokenUntil = System.nanoTime() + TOKEN_USE.toNanos();
        return operatorToken;
    }

    /**
     * Creates tenants of the demo plan side by side, with groups {@code /rnd} and {@code /devops}, and returns when
     * they are usable.
     */
    public static void provision(String... ids) {
        List<String> operations = new ArrayList<>();
        for (String id : ids) {
            operations.add(request(operatorToken())
                    .body(Map.of("id", id, "plan", "demo", "displayName", "Tenant " + id))
                    .post("/v1/operator/tenants")
                    .then()
                    .statusCode(202)
                    .extract()
                    .path("id"));
        }
        operations.forEach(operation -> awaitState(operation, "succeeded"));
    }

    public static void awaitState(String operation, String state) {
        Awaitility.await("operation is " + state)
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(200))
                .until(() -> JsonBody.of(request(operatorToken()).get("/v1/operator/operations/" + operation))
                        .path("state")
                        .asText()
                        .equals(state));
    }

    /** A token of the tenant's admin, issued at most {@link #TOKEN_USE} ago. */
    public static String adminToken(String tenant) {
        return keptToken(tenant, "admin", ADMIN_PASSWORD);
    }

    /** A new token of the tenant's admin. */
    public static String newAdminToken(String tenant) {
        return userToken(tenant, "admin", ADMIN_PASSWORD);
    }

    /** A token of {@code rnd-member} or {@code devops-member}, issued at most {@link #TOKEN_USE} ago. */
    public static String memberToken(String tenant, String username) {
        return keptToken(tenant, username, "demo-member-password");
    }

    /** A token of the tenant's viewer, issued at most {@link #TOKEN_USE} ago. */
    public static String viewerToken(String tenant) {
        return keptToken(tenant, "viewer", "demo-viewer-password");
    }

    /** A new token of a user with these roles and groups, which is created in the realm if it does not exist. */
    public static String personToken(String realm, String username, List<String> roles, List<String> groups) {
        String users = "/admin/realms/" + realm + "/users";
        Identity.admin()
                .body(Map.of(
                        "username",
                        username,
                        "enabled",
                        true,
                        "firstName",
                        "The",
                        "lastName",
                        username,
                        "email",
                        username + "@" + realm + ".test",
                        "emailVerified",
                        true,
                        "groups",
                        groups,
                        "credentials",
                        List.of(Map.of("type", "password", "value", PERSON_PASSWORD, "temporary", false))))
                .post(users);
        String id = Identity.admin()
                .queryParam("username", username)
                .queryParam("exact", true)
                .get(users)
                .then()
                .statusCode(200)
                .extract()
                .path("[0].id");
        for (String role : roles) {
            Map<?, ?> known = Identity.admin()
                    .get("/admin/realms/" + realm + "/roles/" + role)
                    .as(Map.class);
            Identity.admin()
                    .body(List.of(known))
                    .post(users + "/" + id + "/role-mappings/realm")
                    .then()
                    .statusCode(204);
        }
        return userToken(realm, username, PERSON_PASSWORD);
    }

    private static String keptToken(String realm, String username, String password) {
        return TOKENS.compute(
                        List.of(Identity.url(), realm, username),
                        (key, token) -> token != null && System.nanoTime() < token.until
                                ? token
                                : new Token(
                                        userToken(realm, username, password), System.nanoTime() + TOKEN_USE.toNanos()))
                .value;
    }

    /**
     * A new token. Keycloak accepts one login of a user at a time: a second one gets a 400 while the first is still
     * being recorded.
     */
    public static String userToken(String realm, String username, String password) {
        Map<String, String> form =
                Map.of("grant_type", "password", "client_id", "portal", "username", username, "password", password);
        return Awaitility.await("login at " + realm)
                .atMost(LOGIN_PATIENCE)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(100))
                .until(() -> token(realm, form), answer -> answer.statusCode() == 200)
                .path("access_token");
    }

    public static String clientToken(String realm, String client, String secret) {
        return token(realm, Map.of("grant_type", "client_credentials", "client_id", client, "client_secret", secret))
                .then()
                .statusCode(200)
                .extract()
                .path("access_token");
    }

    private static Response token(String realm, Map<String, String> form) {
        return given().baseUri(Identity.url())
                .port(-1)
                .formParams(form)
                .post("/realms/" + realm + "/protocol/openid-connect/token");
    }

    /** A request with this token, and a JSON body if any. */
    public static RequestSpecification request(String token) {
        return service().auth().oauth2(token).contentType(ContentType.JSON);
    }

    /** RestAssured learns the address of the service only with the first test method; this also works earlier. */
    private static RequestSpecification service() {
        URI address = URI.create(ConfigProvider.getConfig().getValue("test.url", String.class));
        return given().baseUri(address.getScheme() + "://" + address.getHost()).port(address.getPort());
    }
}
