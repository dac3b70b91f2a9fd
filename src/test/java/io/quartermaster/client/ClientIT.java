package io.quartermaster.client;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.tenancy.Browser;
import io.quartermaster.tenancy.TestTenants;
import io.quartermaster.testing.Identity;
import io.restassured.response.Response;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.ConfigProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** People's commands against the service and its Keycloak. Nothing runs work here, so work waits. */
@QuarkusTest
class ClientIT {

    private static final String TENANT = "client-a";
    private static final String OTHER = "client-b";
    private static final String POOL = "client-pool";
    private static final String QUEUE = "rnd-client-one";
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Pattern ADDRESS = Pattern.compile("(http\\S+user_code=\\S+)");
    private static final ObjectMapper JSON = new ObjectMapper();

    private ClientRun client;

    @BeforeAll
    static void twoTenantsWithAPool() {
        TestTenants.provision(TENANT);
        TestTenants.provision(OTHER);
        ok(request(operatorToken())
                .body(Map.of("name", "client-cluster", "kind", "agent", "region", "eu-central"))
                .post("/v1/operator/clusters"));
        ok(request(operatorToken()).body(Map.of("name", POOL)).post("/v1/operator/pools"));
        ok(request(operatorToken())
                .body(Map.of("name", "client-node", "cluster", "client-cluster", "pool", POOL))
                .post("/v1/operator/nodes"));
        for (String tenant : List.of(TENANT, OTHER)) {
            ok(request(operatorToken())
                    .body(Map.of("reserved", "4", "limit", "8"))
                    .put("/v1/operator/tenants/" + tenant + "/allotments/" + POOL));
        }
        String own = "/v1/tenants/" + TENANT;
        for (int workers : new int[] {1, 2}) {
            ok(request(adminToken(TENANT))
                    .body(Map.of(
                            "name",
                            workers == 1 ? "client-one" : "client-two",
                            "gpus",
                            "1",
                            "workers",
                            workers,
                            "pools",
                            List.of(POOL)))
                    .post(own + "/profiles"));
        }
        policy("rnd", "/rnd");
        policy("devops", "/devops");
    }

    private static void policy(String name, String group) {
        ok(request(adminToken(TENANT))
                .body(Map.of(
                        "name",
                        name,
                        "group",
                        group,
                        "quotas",
                        List.of(Map.of("pool", POOL, "reserved", "2", "limit", "4")),
                        "profiles",
                        List.of("client-one", "client-two")))
                .post("/v1/tenants/" + TENANT + "/policies"));
    }

    private static void ok(Response response) {
        assertThat(response.statusCode()).as(response.asString()).isBetween(200, 202);
    }

    @BeforeEach
    void person(@TempDir Path home) {
        client = new ClientRun(home);
        assertThat(client.run("context", "add", "test", "--server", server(), "--tenant", TENANT)
                        .exitCode())
                .isZero();
    }

    private static String server() {
        String url = ConfigProvider.getConfig().getValue("test.url", String.class);
        return url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    }

    private void signIn(String username) {
        // Keycloak refuses a second login of a user while the first is still being recorded.
        await().atMost(PATIENCE).untilAsserted(() -> {
            ClientRun.Result result =
                    client.withInput("demo-member-password\n").run("login", "--user", username, "-o", "name");
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.line()).isEqualTo(username);
        });
    }

    private JsonNode json(String... arguments) throws Exception {
        String[] all = java.util.Arrays.copyOf(arguments, arguments.length + 2);
        all[arguments.length] = "-o";
        all[arguments.length + 1] = "json";
        ClientRun.Result result = client.run(all);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return JSON.readTree(result.out());
    }

    @Test
    void aPersonConfirmsTheCodeInABrowserAndIsSignedIn() throws Exception {
        StringWriter err = new StringWriter();
        CompletableFuture<ClientRun.Result> login =
                CompletableFuture.supplyAsync(() -> client.run(err, "login", "-o", "json"));
        await().atMost(PATIENCE).until(() -> ADDRESS.matcher(err.toString()).find());
        Matcher address = ADDRESS.matcher(err.toString());
        assertThat(address.find()).isTrue();

        try (Browser browser = Browser.at(URI.create(address.group(1)))) {
            await().atMost(PATIENCE).untilAsserted(() -> {
                browser.submit(Map.of("username", "rnd-member", "password", "demo-member-password"));
                assertThat(browser.html()).contains("name=\"accept\"");
            });
            browser.submit(Map.of("accept", "Yes"));
        }

        ClientRun.Result result = login.get();
        assertThat(result.exitCode()).as(result.err()).isZero();
        JsonNode me = JSON.readTree(result.out());
        assertThat(me.path("username").asText()).isEqualTo("rnd-member");
        assertThat(me.path("tenant").asText()).isEqualTo(TENANT);
        assertThat(me.path("groups").path(0).asText()).isEqualTo("/rnd");
        assertThat(json("whoami").path("roles").path(0).asText()).isEqualTo("member");
        assertThat(result.err()).doesNotContain(tokens().path("accessToken").asText());
    }

    @Test
    void aLoginIsRenewedSilentlyAndEndsWithLogout() throws Exception {
        signIn("rnd-member");
        JsonNode before = tokens();
        expireToken();

        assertThat(json("whoami").path("username").asText()).isEqualTo("rnd-member");

        JsonNode after = tokens();
        assertThat(after.path("accessToken").asText())
                .isNotEqualTo(before.path("accessToken").asText());
        assertThat(client.run("logout").out()).startsWith("Signed out of tenant " + TENANT);
        assertThat(client.run("list").exitCode()).isEqualTo(3);
        given().baseUri(Identity.url())
                .port(-1)
                .formParams(Map.of(
                        "grant_type",
                        "refresh_token",
                        "client_id",
                        "qm-cli",
                        "refresh_token",
                        after.path("refreshToken").asText()))
                .post("/realms/" + TENANT + "/protocol/openid-connect/token")
                .then()
                .statusCode(400);
        assertThat(client.run("logout").out()).startsWith("You were not signed in");
    }

    @Test
    void aLoginOutlastsTheSessionOfABrowser() throws Exception {
        signIn("devops-member");

        String[] token = tokens().path("refreshToken").asText().split("\\.");

        String claims =
                new String(java.util.Base64.getUrlDecoder().decode(token[1]), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(JSON.readTree(claims).path("typ").asText()).isEqualTo("Offline");
    }

    @Test
    void aProgramSignsInWithItsSecretAndIsRenewedWithIt() throws Exception {
        Response secret = request(operatorToken()).post("/v1/operator/tenants/" + OTHER + "/automation-secret");
        secret.then().statusCode(201);
        client.with("QM_TENANT", OTHER).with("QM_CLIENT_SECRET", secret.path("clientSecret"));

        ClientRun.Result login = client.run("login", "--client-id", secret.path("clientId"));
        expireToken();

        assertThat(login.exitCode()).as(login.err()).isZero();
        assertThat(json("whoami").path("username").asText()).isEqualTo("service-account-automation");
        client.with("QM_CLIENT_SECRET", "wrong");
        ClientRun.Result refused = client.run("login", "--client-id", "automation");
        assertThat(refused.exitCode()).isEqualTo(3);
        assertThat(refused.err()).contains("refused the sign-in").doesNotContain("wrong");
    }

    @Test
    void aTenantThatDoesNotExistHasTheSameSignInButNoRealm() {
        String known = signInOf(TENANT);
        String unknown = signInOf("never-there");

        assertThat(unknown).isEqualTo(known.replace(TENANT, "never-there"));
        given().get("/v1/sign-in/Not_a_name").then().statusCode(400);
        ClientRun.Result login = client.with("QM_TENANT", "never-there").run("login");
        assertThat(login.exitCode()).isEqualTo(4);
        assertThat(login.err()).startsWith("qm: there is no sign-in for tenant never-there");
    }

    private static String signInOf(String tenant) {
        return given().get("/v1/sign-in/" + tenant)
                .then()
                .statusCode(200)
                .extract()
                .asString();
    }

    @Test
    void aMemberSubmitsExplainsHoldsReleasesAndCancels() throws Exception {
        signIn("rnd-member");

        String id = client.run(
                        "submit",
                        "-q",
                        QUEUE,
                        "--name",
                        "life",
                        "-l",
                        "team=nlp",
                        "--max-runtime",
                        "1h",
                        "-o",
                        "name",
                        "--",
                        "sh",
                        "-c",
                        "true")
                .line();

        assertThat(id).matches("[0-9a-f-]{36}");
        JsonNode shown = json("show", "life");
        assertThat(shown.path("workload").path("id").asText()).isEqualTo(id);
        assertThat(shown.path("workload").path("maxRuntime").asText()).isEqualTo("PT1H");
        assertThat(client.run("show", id.substring(0, 18)).out()).contains("Name       life", "sh -c true", "team=nlp");
        assertThat(json("list", "--mine").path("items").findValuesAsText("id")).contains(id);
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(client.run("why", "life").out())
                        .startsWith("life waits.")
                        .contains(POOL, "Position: "));
        assertThat(client.run("hold", "life").line()).isEqualTo("life is held. Let it start with: qm release");
        assertThat(client.run("release", "life").out()).startsWith("life may start");
        assertThat(client.run("cancel", "life", "--dry-run").line())
                .isEqualTo("The service would do this. Nothing was changed.");
        assertThat(client.run("cancel", "life").line()).isEqualTo("life is cancelled.");
        assertThat(client.run("list", "-q", QUEUE, "--name", "life").out()).isEmpty();
        assertThat(json("list", "--all", "--name", "life")
                        .path("items")
                        .path(0)
                        .path("state")
                        .asText())
                .isEqualTo("cancelled");
        assertThat(client.run("submit", "-q", QUEUE, "--name", "gone", "--hold", "-o", "name", "--", "true")
                        .line())
                .isNotEmpty();
        assertThat(client.run("cancel", "gone").exitCode()).isZero();
        assertThat(client.run("logs", "gone").out()).isEmpty();
    }

    @Test
    void queuesShowTheShareOfTheGroupAndForecasts() throws Exception {
        signIn("rnd-member");
        client.run("submit", "-q", QUEUE, "--name", "queued", "--", "true");

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(client.run("queues", "--start").out())
                        .containsPattern(QUEUE
                                + " +/rnd +open +1 GPU +0 of 2, at most 4 +2 reserved, 4 in all +1 +1, first at 1 +none"
                                + " found within the next 24h")
                        .containsPattern("rnd-client-two +/rnd +open +2 x 1 GPU ")
                        .doesNotContain("devops"));
        assertThat(client.run("queues", "--all", "-o", "name").out()).contains("devops-client-one\n", QUEUE + "\n");
        assertThat(client.run("try", "-q", QUEUE).out())
                .contains("No start of the job was found within the next 24h", POOL);
        ClientRun.Result top = client.run("top");
        assertThat(top.out()).containsPattern("/rnd +" + POOL + " +0 +2 +4 +1").contains("queued");
        client.run("cancel", "queued");
    }

    @Test
    void refusalsNameTheFieldAndWhatIsAccepted() {
        signIn("rnd-member");

        ClientRun.Result field = client.run("submit", "-q", QUEUE, "--priority", "1001", "--debug", "--", "true");
        ClientRun.Result queue = client.run("submit", "-q", "no-such-queue", "--", "true");
        ClientRun.Result forbidden = client.run("submit", "-q", "devops-client-one", "--", "true");
        ClientRun.Result workers = client.run("submit", "-q", QUEUE, "--workers", "2", "--", "true");
        ClientRun.Result job = client.run("why", "no-such-job");

        assertThat(field.exitCode()).isEqualTo(5);
        assertThat(field.err()).contains("priority", "accepted: ", "request id: ");
        assertThat(List.of(queue.exitCode(), forbidden.exitCode(), workers.exitCode(), job.exitCode()))
                .containsExactly(4, 5, 5, 4);
        assertThat(queue.err()).containsOnlyOnce("there is no such queue").contains("qm queues lists yours");
        assertThat(field.err()).containsOnlyOnce("out of range");
        assertThat(workers.err())
                .isEqualTo("qm: queue " + QUEUE
                        + " gives each job 1 worker, and --workers asks for 2. Use: rnd-client-two\n");
        assertThat(client.run("submit", "-q", "rnd-client-two", "--workers", "2", "--dry-run", "--", "true")
                        .out())
                .startsWith("The service would take this job.");
    }

    @Test
    void aFileOfSeveralJobsIsTakenAsAWholeOrNotAtAll(@TempDir Path folder) throws Exception {
        signIn("rnd-member");
        Path file = Files.writeString(folder.resolve("jobs.yaml"), """
                {queue: rnd-client-one, name: batch-1, command: [echo, 1]}
                ---
                {queue: rnd-client-one, name: batch-2, command: [echo, 2]}
                """);

        List<String> ids = client.run("submit", "-f", file.toString(), "-o", "name")
                .line()
                .lines()
                .toList();
        Files.writeString(file, Files.readString(file).replace("name: batch-2", "nam: batch-2"));
        ClientRun.Result refused = client.run("submit", "-f", file.toString());

        assertThat(ids).hasSize(2);
        assertThat(refused.exitCode()).isEqualTo(5);
        assertThat(refused.err()).contains("nam");
        assertThat(client.run("cancel", "-o", "name", ids.getFirst(), ids.getLast())
                        .line()
                        .lines()
                        .toList())
                .isEqualTo(ids);
        assertThat(json("list", "--name", "batch-").path("items")).isEmpty();
    }

    @Test
    void aTokenOfOneTenantFindsNothingOfAnother() {
        signIn("rnd-member");
        String id = client.run("submit", "-q", QUEUE, "--name", "private", "--hold", "-o", "name", "--", "true")
                .line();
        client.with("QM_TENANT", OTHER).with("QM_TOKEN", TestTenants.memberToken(OTHER, "rnd-member"));

        assertThat(client.run("show", id).exitCode()).isEqualTo(4);
        assertThat(client.run("list", "--all", "-o", "name").out()).isEmpty();
        client.with("QM_TENANT", TENANT);
        assertThat(client.run("show", id).exitCode()).isEqualTo(4);
    }

    private JsonNode tokens() throws Exception {
        return JSON.readTree(client.folder().resolve("tokens.json").toFile())
                .iterator()
                .next();
    }

    private void expireToken() throws Exception {
        Path file = client.folder().resolve("tokens.json");
        JsonNode logins = JSON.readTree(file.toFile());
        logins.forEach(login -> ((ObjectNode) login).put("expiresAt", 0));
        Files.writeString(file, logins.toString());
    }
}
