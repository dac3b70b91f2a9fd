package io.quartermaster.governance;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.lessThan;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.tenancy.TestTenants;
import io.quartermaster.testing.KeycloakConsole;
import io.quartermaster.testing.Management;
import io.restassured.response.Response;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.eclipse.microprofile.config.ConfigProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A Keycloak that accepts connections and does not answer affects only the calls that need it. */
@QuarkusTest
class KeycloakOutageIT {

    private static final String A = "outage-a";
    private static final String B = "outage-b";
    /** The service has seen no token of this tenant before the outage. */
    private static final String NEW = "outage-new";

    private static final int WRITES = 12;
    /** More than the event loops of a service of this size: each new connection goes to the next loop. */
    private static final int CONNECTIONS = 16;

    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final int SHORT_LIFE_SECONDS = 3;
    private static final int USUAL_LIFE_SECONDS = 60;

    @BeforeAll
    static void twoTenantsWithAPolicy() {
        request(operatorToken())
                .body(Map.of("name", "outage", "capacity", "8"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(201);
        TestTenants.provision(A, B);
        for (String tenant : List.of(A, B)) {
            request(operatorToken())
                    .body(Map.of("reserved", "4"))
                    .put("/v1/operator/tenants/" + tenant + "/allotments/outage")
                    .then()
                    .statusCode(201);
            request(adminToken(tenant))
                    .body(Map.of("name", "one", "gpus", "1", "pools", List.of("outage")))
                    .post("/v1/tenants/" + tenant + "/profiles")
                    .then()
                    .statusCode(201);
            request(adminToken(tenant))
                    .body(policy())
                    .post("/v1/tenants/" + tenant + "/policies")
                    .then()
                    .statusCode(201);
        }
        adminTokensLive(SHORT_LIFE_SECONDS);
    }

    @AfterAll
    static void tokensLiveAsLongAsUsual() {
        adminTokensLive(USUAL_LIFE_SECONDS);
    }

    @Test
    void hangWithPolicyWritesBlocksNoEventLoopAndNothingAfterIt() throws Exception {
        String token = adminToken(A);
        String version =
                request(token).get("/v1/tenants/" + A + "/policies/rnd").header("ETag");
        putPolicy(token, version);
        List<Future<Integer>> writes = new ArrayList<>();

        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            try (KeycloakConsole.Hang hang = KeycloakConsole.hang()) {
                for (int i = 0; i < WRITES; i++) {
                    writes.add(threads.submit(() -> putPolicy(token, version).statusCode()));
                }
                // Longer than the lifetime of the token of the calls that hang: an answer after that time refuses it.
                Awaitility.await()
                        .during(Duration.ofSeconds(SHORT_LIFE_SECONDS + 1))
                        .atMost(Duration.ofMinutes(1))
                        .until(KeycloakOutageIT::everyLoopAnswers);
            }
            for (int i = 0; i < WRITES; i++) {
                writes.add(threads.submit(() -> putPolicy(token, version).statusCode()));
            }
            for (Future<Integer> write : writes) {
                assertThat(write.get()).isEqualTo(200);
            }
        }

        Awaitility.await().until(() -> Management.request().get("/health/live").statusCode() == 200);
        request(token)
                .body(Map.of("path", "/after"))
                .post("/v1/tenants/" + A + "/groups")
                .then()
                .statusCode(201);
    }

    @Test
    void tokenOfARealmWhoseKeysAreNotKnownGets503WhileKeycloakHangs() {
        TestTenants.provision(NEW);
        String token = adminToken(NEW);

        try (KeycloakConsole.Hang hang = KeycloakConsole.hang()) {
            request(token)
                    .get("/v1/tenants/" + NEW)
                    .then()
                    .statusCode(503)
                    .body("code", equalTo("identity-unavailable"))
                    .time(lessThan(15_000L));
        }

        request(token).get("/v1/tenants/" + NEW).then().statusCode(200);
    }

    private static Response putPolicy(String token, String version) {
        return request(token).header("If-Match", version).body(policy()).put("/v1/tenants/" + A + "/policies/rnd");
    }

    private static Map<String, Object> policy() {
        return Map.of(
                "name",
                "rnd",
                "group",
                "/rnd",
                "quotas",
                List.of(Map.of("pool", "outage", "reserved", "2")),
                "profiles",
                List.of("one"));
    }

    /** Each check opens connections of its own, one after the other, so that each event loop serves some of them. */
    private static boolean everyLoopAnswers() {
        URI open = URI.create(ConfigProvider.getConfig().getValue("test.url", String.class) + "/openapi");
        for (int i = 0; i < CONNECTIONS; i++) {
            try (HttpClient client = HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .connectTimeout(ANSWER)
                    .build()) {
                client.send(
                        HttpRequest.newBuilder(open).timeout(ANSWER).build(), HttpResponse.BodyHandlers.discarding());
            } catch (IOException e) {
                return false;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return true;
    }

    private static void adminTokensLive(int seconds) {
        KeycloakConsole.admin()
                .body(Map.of("accessTokenLifespan", seconds))
                .put("/admin/realms/master")
                .then()
                .statusCode(204);
        // Issued tokens stay valid for their lifetime, so Keycloak is made to refuse them.
        KeycloakConsole.admin().post("/admin/realms/master/logout-all").then().statusCode(200);
    }
}
