package io.quartermaster.workloads;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.newAdminToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.contract.AnswerValidator;
import io.quartermaster.testing.Identity;
import io.restassured.RestAssured;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Live views of workloads: resumed without a gap, and ended with the right to see them. */
@QuarkusTest
class LiveViewIT extends TwoTenantsWork {

    @Test
    void aLiveViewIsResumedWithoutGapOrRepetition() throws Exception {
        endAll();
        String first = submit("watched");
        eventually(first, "starting");
        List<String> seen = watch("0", 1, first);
        rows.report(UUID.fromString(first), "ended", "succeeded", "");
        dispatcher.wake();
        eventually(first, "succeeded");
        String last = seen.getLast().split(" ")[0];
        List<String> resumed = watch(last, 1, first);
        assertThat(seen.getFirst()).contains("\"state\":\"starting\"");
        assertThat(resumed.getFirst()).contains("\"state\":\"succeeded\"");
        assertThat(Long.parseLong(resumed.getFirst().split(" ")[0])).isGreaterThan(Long.parseLong(last));

        request(member())
                .header("Last-Event-ID", "nonsense")
                .get(WORKLOADS + "/watch")
                .then()
                .statusCode(400)
                .body("errors.field", contains("Last-Event-ID"));
        // The tenant is younger than the retention of the feed, so no entry of it was deleted.
        assertThat(watch("1", 1, first)).isEqualTo(seen);
        rows.run("update tenant set created_at = created_at - interval '2 days' where id = $1", B);
        request(adminToken(B))
                .header("Last-Event-ID", "1")
                .get("/v1/tenants/" + B + "/workloads/watch")
                .then()
                .statusCode(200)
                .body(containsString("event:problem"), containsString("feed-entry-gone"));
    }

    @Test
    void aLiveViewEndsWhenItsTokenExpires() throws Exception {
        String realm = "/admin/realms/" + B;
        Identity.admin()
                .body(Map.of("accessTokenLifespan", 8))
                .put(realm)
                .then()
                .statusCode(204);
        String token;
        try {
            token = newAdminToken(B);
        } finally {
            Identity.admin().body(Map.of("accessTokenLifespan", 300)).put(realm);
        }
        Instant issued = Instant.now();

        awaitEndOfView(token);

        assertThat(Duration.between(issued, Instant.now())).isBetween(Duration.ofSeconds(5), PATIENCE);
        request(token).get("/v1/tenants/" + B + "/queues").then().statusCode(401);
    }

    @Test
    void aLiveViewEndsWhenItsUserIsGone() throws Exception {
        String token = memberToken(B, "rnd-member");
        String users = "/admin/realms/" + B + "/users";
        String user =
                Identity.admin().queryParam("username", "rnd-member").get(users).path("[0].id");
        Identity.admin()
                .body(Map.of("enabled", false))
                .put(users + "/" + user)
                .then()
                .statusCode(204);
        try {
            awaitEndOfView(token);
        } finally {
            Identity.admin().body(Map.of("enabled", true)).put(users + "/" + user);
        }
        Awaitility.await()
                .atMost(PATIENCE)
                .until(() -> request(token).get("/v1/tenants/" + B + "/queues").statusCode() == 200);
    }

    /** Opens a live view of B, and returns when the service ends it. */
    private static void awaitEndOfView(String token) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest view = HttpRequest.newBuilder(URI.create(
                            "http://127.0.0.1:" + RestAssured.port + "/v1/tenants/" + B + "/workloads/watch"))
                    .header("Authorization", "Bearer " + token)
                    .build();
            HttpResponse<String> whole = client.sendAsync(view, HttpResponse.BodyHandlers.ofString())
                    .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(whole.statusCode()).isEqualTo(200);
        }
    }

    /** Reads that many events of a workload: for each its id, a space, and its data. */
    private List<String> watch(String lastSeen, int events, String workload) throws Exception {
        List<String> found = new ArrayList<>();
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(
                            "http://127.0.0.1:" + RestAssured.port + WORKLOADS + "/watch?workload=" + workload))
                    .header("Authorization", "Bearer " + member())
                    .header("Last-Event-ID", lastSeen)
                    .timeout(PATIENCE)
                    .build();
            HttpResponse<InputStream> answer = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
            assertThat(answer.statusCode()).isEqualTo(200);
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
                String id = "";
                String line = lines.readLine();
                while (line != null && found.size() < events) {
                    if (line.startsWith("id:")) {
                        id = line.substring(3).strip();
                    } else if (line.startsWith("data:")) {
                        String data = line.substring(5).strip();
                        assertThat(AnswerValidator.committed()
                                        .eventFindings("/v1/tenants/{tenant}/workloads/watch", data))
                                .as(data)
                                .isEmpty();
                        found.add(id + " " + data);
                    }
                    line = found.size() < events ? lines.readLine() : null;
                }
            }
            client.shutdownNow();
        }
        return found;
    }
}
