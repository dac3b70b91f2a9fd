package io.quartermaster.tenancy;

import static io.quartermaster.tenancy.TestTenants.newAdminToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.notNullValue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.testing.Identity;
import io.quartermaster.testing.KeycloakConsole;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tokens that the service must refuse, and resources that callers must not see. */
@QuarkusTest
class TokensIT {

    private static final String A = "tokens-a";
    private static final String B = "tokens-b";
    private static final ObjectMapper JSON = new ObjectMapper();

    /** A key that no realm has. */
    private static KeyPair forgersKey;

    @BeforeAll
    static void twoTenants() throws GeneralSecurityException {
        forgersKey = KeyPairGenerator.getInstance("RSA").generateKeyPair();
        TestTenants.provision(A, B);
    }

    @Test
    void noTokenIsUnauthenticated() {
        given().get("/v1/tenants/" + A)
                .then()
                .statusCode(401)
                .header("WWW-Authenticate", notNullValue())
                .contentType("application/problem+json")
                .body("code", equalTo("unauthenticated"));
    }

    @Test
    void unknownIssuerCausesNoOutgoingCall() throws Exception {
        try (Listener listener = Listener.open()) {
            String token = signed(claims("http://127.0.0.1:" + listener.port() + "/realms/" + A));

            refused(token);

            assertThat(listener.connections()).isZero();
        }
    }

    @Test
    void issuerIsMatchedToTheLetter() throws Exception {
        String issuer = Identity.url() + "/realms/" + A;
        for (String almost : List.of(
                issuer + "/",
                issuer.replace("/realms/", "/Realms/"),
                issuer + "/sub",
                issuer.replace("127.0.0.1", "localhost"),
                issuer + "?",
                Identity.url() + "/realms/master",
                "")) {
            refused(signed(claims(almost)));
        }
    }

    @Test
    void forgedTokensAreRefused() throws Exception {
        String good = newAdminToken(A);
        request(good).get("/v1/tenants/" + A).then().statusCode(200);
        String[] parts = good.split("\\.");
        Map<String, Object> claims = new TreeMap<>(claimsOf(good));
        claims.put("preferred_username", "someone-else");

        refused(parts[0] + "." + encoded(claims) + "." + parts[2]);
        refused(parts[0] + "." + parts[1] + ".");
        refused(encoded(Map.of("alg", "none", "typ", "JWT")) + "." + encoded(claims) + ".");
        refused(signed(claims));
        refused(symmetric(claims));
        refused(newAdminToken(B).split("\\.")[0] + "." + parts[1] + "."
                + newAdminToken(B).split("\\.")[2]);
        refused("not-a-token");
        refused("a.b.c");
        refused("x".repeat(20_000));
    }

    @Test
    void rotatedKeyCountsWithinSecondsWhateverOtherTokensName() throws Exception {
        String old = newAdminToken(B);
        request(old).get("/v1/tenants/" + B).then().statusCode(200);
        String oldKey = keyOf(old);
        refused(signed(claims(Identity.url() + "/realms/" + B)));

        rotateKey(B);
        Awaitility.await().until(() -> !keyOf(newAdminToken(B)).equals(oldKey));
        String renewed = newAdminToken(B);

        Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> {
            refused(signed(claims(Identity.url() + "/realms/" + B)));
            return sees(renewed, B);
        });
        assertThat(sees(old, B)).isTrue();

        removeKey(B, oldKey);
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> !sees(old, B) && sees(renewed, B));
    }

    @Test
    void aTokenEndsSoonAfterItsUserIsDisabled() {
        String leaver = person(A, "leaver", List.of("/rnd"));
        String stayer = person(A, "stayer", List.of("/rnd"));
        assertThat(sees(leaver, A)).isTrue();
        assertThat(sees(stayer, A)).isTrue();

        setEnabled(A, "leaver", false);
        Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> !sees(leaver, A));
        request(leaver).get("/v1/tenants/" + A).then().statusCode(401).body("code", equalTo("unauthenticated"));
        assertThat(sees(stayer, A)).isTrue();

        setEnabled(A, "leaver", true);
        Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .until(() -> sees(TestTenants.userToken(A, "leaver", "password-of-the-tests"), A));
    }

    @Test
    void aTokenThatWasSeenBeforeExpiresAllTheSame() throws Exception {
        setTokenLife(B, 5);
        String brief;
        try {
            brief = newAdminToken(B);
        } finally {
            setTokenLife(B, 300);
        }
        long expiry = Long.parseLong(String.valueOf(claimsOf(brief).get("exp")));
        boolean seen = sees(brief, B);
        assertThat(seen || Instant.now().getEpochSecond() >= expiry).isTrue();

        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> !sees(brief, B));
        assertThat(Instant.now().getEpochSecond()).isGreaterThanOrEqualTo(expiry);
    }

    private static void setEnabled(String realm, String username, boolean enabled) {
        String id = KeycloakConsole.admin()
                .queryParam("username", username)
                .queryParam("exact", true)
                .get("/admin/realms/" + realm + "/users")
                .path("[0].id");
        KeycloakConsole.admin()
                .body(Map.of("enabled", enabled))
                .put("/admin/realms/" + realm + "/users/" + id)
                .then()
                .statusCode(204);
    }

    private static void setTokenLife(String realm, int seconds) {
        KeycloakConsole.admin()
                .body(Map.of("accessTokenLifespan", seconds))
                .put("/admin/realms/" + realm)
                .then()
                .statusCode(204);
    }

    private static void rotateKey(String realm) {
        KeycloakConsole.admin()
                .body(Map.of(
                        "name",
                        "newer",
                        "providerId",
                        "rsa-generated",
                        "providerType",
                        "org.keycloak.keys.KeyProvider",
                        "config",
                        Map.of("priority", List.of("200"), "algorithm", List.of("RS256"))))
                .post("/admin/realms/" + realm + "/components")
                .then()
                .statusCode(201);
    }

    private static void removeKey(String realm, String kid) {
        String provider = KeycloakConsole.admin()
                .get("/admin/realms/" + realm + "/keys")
                .path("keys.find { it.kid == '" + kid + "' }.providerId");
        KeycloakConsole.admin()
                .delete("/admin/realms/" + realm + "/components/" + provider)
                .then()
                .statusCode(204);
    }

    @Test
    void noRealmTakesPasswordsThroughKeycloaksOwnClient() {
        for (String realm : List.of(A, "operator")) {
            given().baseUri(Identity.url())
                    .port(-1)
                    .formParams(Map.of(
                            "grant_type",
                            "password",
                            "client_id",
                            "admin-cli",
                            "username",
                            realm.equals(A) ? "admin" : "operator",
                            "password",
                            realm.equals(A) ? "demo-admin-password" : "demo-operator-password"))
                    .post("/realms/" + realm + "/protocol/openid-connect/token")
                    .then()
                    .statusCode(400)
                    .body("error", equalTo("unauthorized_client"));
        }
    }

    @Test
    void newPersonIsAMemberByBeingInAGroupAndNothingWithout() {
        String inGroup = person(A, "new-in-group", List.of("/rnd"));
        String nowhere = person(A, "new-nowhere", List.of());

        request(inGroup).get("/v1/tenants/" + A + "/queues").then().statusCode(200);
        request(inGroup).get("/v1/tenants/" + A + "/audit-entries").then().statusCode(403);
        request(nowhere)
                .get("/v1/tenants/" + A + "/queues")
                .then()
                .statusCode(403)
                .body("detail", containsString("you have no role"));
    }

    private static String person(String realm, String username, List<String> groups) {
        KeycloakConsole.admin()
                .body(Map.of(
                        "username",
                        username,
                        "enabled",
                        true,
                        "firstName",
                        "New",
                        "lastName",
                        username,
                        "email",
                        username + "@" + realm + ".test",
                        "emailVerified",
                        true,
                        "groups",
                        groups,
                        "credentials",
                        List.of(Map.of("type", "password", "value", "password-of-the-tests", "temporary", false))))
                .post("/admin/realms/" + realm + "/users")
                .then()
                .statusCode(201);
        return TestTenants.userToken(realm, username, "password-of-the-tests");
    }

    @Test
    void tokenForAnotherAudienceIsRefused() {
        KeycloakConsole.admin()
                .body(Map.of("clientId", "another-program", "publicClient", true, "directAccessGrantsEnabled", true))
                .post("/admin/realms/" + A + "/clients")
                .then()
                .statusCode(201);
        String otherClient = given().baseUri(Identity.url())
                .port(-1)
                .formParams(Map.of(
                        "grant_type", "password",
                        "client_id", "another-program",
                        "username", "admin",
                        "password", "demo-admin-password"))
                .post("/realms/" + A + "/protocol/openid-connect/token")
                .then()
                .statusCode(200)
                .extract()
                .path("access_token");
        refused(otherClient);
        String identityToken = given().baseUri(Identity.url())
                .port(-1)
                .formParams(Map.of(
                        "grant_type", "password",
                        "client_id", "portal",
                        "scope", "openid",
                        "username", "admin",
                        "password", "demo-admin-password"))
                .post("/realms/" + A + "/protocol/openid-connect/token")
                .path("id_token");
        refused(identityToken);
    }

    @Test
    void anotherTenantLooksLikeNoTenant() {
        String unknown = request(newAdminToken(A))
                .get("/v1/tenants/no-such-tenant")
                .then()
                .statusCode(404)
                .extract()
                .asString();

        assertThat(request(newAdminToken(A))
                        .get("/v1/tenants/" + B)
                        .then()
                        .statusCode(404)
                        .extract()
                        .asString())
                .isEqualTo(unknown);
        assertThat(request(newAdminToken(A))
                        .get("/v1/operator/tenants")
                        .then()
                        .statusCode(404)
                        .extract()
                        .asString())
                .isEqualTo(unknown);
        assertThat(request(operatorToken())
                        .get("/v1/tenants/no-such-tenant")
                        .then()
                        .statusCode(404)
                        .extract()
                        .asString())
                .isEqualTo(unknown);
    }

    @Test
    void requestsSideBySideKeepTheirCallers() throws Exception {
        String a = newAdminToken(A);
        String b = newAdminToken(B);
        String operator = operatorToken();
        List<Future<Boolean>> answers = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int n = 0; n < 60; n++) {
                String unknown = "unknown-" + n;
                answers.add(threads.submit(() -> sees(a, A) && !sees(a, B)));
                answers.add(threads.submit(() -> sees(b, B) && !sees(b, A)));
                answers.add(threads.submit(() -> sees(operator, A) && !sees(operator, unknown)));
            }
        }
        for (Future<Boolean> answer : answers) {
            assertThat(answer.get()).isTrue();
        }
    }

    private static boolean sees(String token, String tenant) {
        return request(token).get("/v1/tenants/" + tenant).statusCode() == 200;
    }

    private static void refused(String token) {
        request(token)
                .get("/v1/tenants/" + A)
                .then()
                .statusCode(401)
                .contentType("application/problem+json")
                .body("code", equalTo("unauthenticated"));
    }

    private static Map<String, Object> claims(String issuer) {
        long now = Instant.now().getEpochSecond();
        return Map.of(
                "iss",
                issuer,
                "aud",
                "quartermaster",
                "sub",
                "1",
                "typ",
                "Bearer",
                "preferred_username",
                "admin",
                "iat",
                now,
                "exp",
                now + 300,
                "realm_access",
                Map.of("roles", List.of("tenant-admin", "operator")));
    }

    private static String keyOf(String token) throws IOException {
        return String.valueOf(part(token, 0).get("kid"));
    }

    private static Map<String, Object> claimsOf(String token) throws IOException {
        return part(token, 1);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> part(String token, int part) throws IOException {
        return JSON.readValue(Base64.getUrlDecoder().decode(token.split("\\.")[part]), Map.class);
    }

    private static String signed(Map<String, Object> claims) throws GeneralSecurityException {
        String text = encoded(Map.of("alg", "RS256", "typ", "JWT", "kid", "mine")) + "." + encoded(claims);
        Signature signature = Signature.getInstance("SHA256withRSA");
        signature.initSign(forgersKey.getPrivate());
        signature.update(text.getBytes(StandardCharsets.US_ASCII));
        return text + "." + Base64.getUrlEncoder().withoutPadding().encodeToString(signature.sign());
    }

    /** Signs with the realm's public key as if it were a shared secret. */
    private static String symmetric(Map<String, Object> claims) throws GeneralSecurityException {
        String key =
                given().baseUri(Identity.url()).port(-1).get("/realms/" + A).path("public_key");
        String text = encoded(Map.of("alg", "HS256", "typ", "JWT")) + "." + encoded(claims);
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(Base64.getDecoder().decode(key), "HmacSHA256"));
        return text + "."
                + Base64.getUrlEncoder()
                        .withoutPadding()
                        .encodeToString(mac.doFinal(text.getBytes(StandardCharsets.US_ASCII)));
    }

    private static String encoded(Map<String, Object> value) {
        try {
            return Base64.getUrlEncoder().withoutPadding().encodeToString(JSON.writeValueAsBytes(value));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Counts the connections. */
    private static final class Listener implements AutoCloseable {
        private final ServerSocket socket;
        private final AtomicInteger connections = new AtomicInteger();

        private Listener(ServerSocket socket) {
            this.socket = socket;
        }

        static Listener open() throws IOException {
            Listener listener = new Listener(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
            Thread.ofVirtual().start(listener::accept);
            return listener;
        }

        int port() {
            return socket.getLocalPort();
        }

        int connections() {
            return connections.get();
        }

        private void accept() {
            try {
                while (true) {
                    socket.accept().close();
                    connections.incrementAndGet();
                }
            } catch (IOException closed) {
                // the test is over
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
