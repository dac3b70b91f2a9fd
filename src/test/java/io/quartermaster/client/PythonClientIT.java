package io.quartermaster.client;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.agent.NodeProcess;
import io.quartermaster.agent.protocol.ProgramVersion;
import io.quartermaster.tenancy.TestTenants;
import io.quartermaster.testing.ExternalProgram;
import io.restassured.response.Response;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import org.eclipse.microprofile.config.ConfigProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The Python client as a wheel: its own tests, its content, and a training that survives a preemption, against the
 * service and a node with a real agent. Without Python, the tests are skipped with a message.
 */
@QuarkusTest
class PythonClientIT {

    private static final Path STORY = Path.of("src", "test", "clients", "preemption.py");
    private static final Path CONTRACT = Path.of("openapi", "openapi.yaml");
    private static final String TENANT = "python-client";
    private static final String POOL = "python-client";
    private static final Set<String> STREAMS = Set.of("watchWorkloads", "streamWorkloadLogs");
    private static final List<String> STEPS = List.of(
            "submitted once", "preempted after step ", "continued to the end", "watched: ", "refused as documented");

    @Test
    void testsOfThePackagePassWithTheInstalledWheel() throws IOException {
        ExternalProgram.Ended tests = ExternalProgram.end(
                List.of(PythonPackage.python().toString(), "-m", "unittest", "--quiet"),
                Map.of("PYTHONDONTWRITEBYTECODE", "1"),
                PythonPackage.SOURCES);

        assertThat(tests.exitCode()).as(tests.output()).isZero();
        assertThat(tests.output()).containsPattern("Ran [1-9][0-9]+ tests");
    }

    @Test
    void wheelHasEveryOperationAndNeedsTwoLibraries() throws IOException {
        PythonPackage.python();
        List<String> operations = Pattern.compile("operationId: (\\w+)")
                .matcher(Files.readString(CONTRACT))
                .results()
                .map(found -> found.group(1))
                .filter(id -> !STREAMS.contains(id))
                .map(id -> id.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT) + ".py")
                .toList();

        try (JarFile wheel = new JarFile(PythonPackage.wheel().toFile())) {
            List<String> names = wheel.stream().map(ZipEntry::getName).toList();
            assertThat(names.stream()
                            .filter(name -> name.startsWith("quartermaster/generated/api/"))
                            .map(name -> name.substring(name.lastIndexOf('/') + 1)))
                    .containsAll(operations);
            assertThat(names).contains("quartermaster/py.typed");
            String version = ProgramVersion.current();
            ZipEntry metadata = wheel.getEntry("quartermaster_client-" + version + ".dist-info/METADATA");
            assertThat(new String(wheel.getInputStream(metadata).readAllBytes(), StandardCharsets.UTF_8)
                            .lines()
                            .filter(line -> line.startsWith("Requires-Dist: ")))
                    .hasSize(2)
                    .anyMatch(line -> line.contains(" attrs"))
                    .anyMatch(line -> line.contains(" httpx"));
        }
    }

    @Test
    void trainingContinuesFromItsCheckpointAfterAPreemption(@TempDir Path home) throws Exception {
        Path python = PythonPackage.python();
        String server = ConfigProvider.getConfig().getValue("test.url", String.class);
        try (NodeProcess node = NodeProcess.start(POOL, 1)) {
            assertThat(node).isNotNull();
            makeTwoGroups();
            ClientRun commandLine = new ClientRun(home);
            signIn(commandLine, server);
            String secret = ok(request(operatorToken()).post("/v1/operator/tenants/" + TENANT + "/automation-secret"))
                    .path("clientSecret");

            Map<String, String> variables = new HashMap<>(Map.of(
                    "XDG_CONFIG_HOME",
                    String.valueOf(commandLine.folder().getParent()),
                    "STORY_SERVER",
                    server,
                    "STORY_TENANT",
                    TENANT,
                    "STORY_CLAIMANT",
                    memberToken(TENANT, "devops-member"),
                    "STORY_SECRET",
                    secret,
                    "STORY_TRAINING",
                    PythonPackage.SOURCES.resolve("examples/train.py").toString(),
                    "PYTHONUNBUFFERED",
                    "1"));
            ExternalProgram.Ended story = ExternalProgram.end(List.of(python.toString(), STORY.toString()), variables);

            assertThat(story.exitCode()).as(story.output()).isZero();
            assertThat(story.output()).contains(STEPS);
        }
        Response preempted = ok(request(adminToken(TENANT)).get("/v1/tenants/" + TENANT + "/workloads?name=train.py"));
        assertThat(preempted.jsonPath().getList("items.state", String.class)).containsExactly("succeeded");
        assertThat(preempted.jsonPath().getList("items.attempts", Integer.class))
                .containsExactly(2);
    }

    /** The group of the training has no reservation, so it works on what the other group leaves idle. */
    private static void makeTwoGroups() {
        TestTenants.provision(TENANT);
        ok(request(operatorToken())
                .body(Map.of("reserved", "1", "limit", "1"))
                .put("/v1/operator/tenants/" + TENANT + "/allotments/" + POOL));
        String own = "/v1/tenants/" + TENANT;
        ok(request(adminToken(TENANT))
                .body(Map.of("name", "one", "gpus", "1", "pools", List.of(POOL)))
                .post(own + "/profiles"));
        Map.of("rnd", "0", "devops", "1")
                .forEach((group, reserved) -> ok(request(adminToken(TENANT))
                        .body(Map.of(
                                "name",
                                group,
                                "group",
                                "/" + group,
                                "quotas",
                                List.of(Map.of("pool", POOL, "reserved", reserved, "limit", "1")),
                                "profiles",
                                List.of("one"),
                                "grace",
                                "PT1M"))
                        .post(own + "/policies")));
    }

    /** As a person signs in; the client then uses the files that the command line wrote. */
    private static void signIn(ClientRun commandLine, String server) {
        ClientRun.Result added = commandLine.run("context", "add", "work", "--server", server, "--tenant", TENANT);
        assertThat(added.exitCode()).as(added.err()).isZero();
        ClientRun.Result signedIn =
                commandLine.withInput("demo-member-password\n").run("login", "--user", "rnd-member");
        assertThat(signedIn.exitCode()).as(signedIn.err()).isZero();
    }

    private static Response ok(Response response) {
        assertThat(response.statusCode()).as(response.asString()).isIn(200, 201);
        return response;
    }
}
