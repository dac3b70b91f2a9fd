package io.quartermaster.contract;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.agent.NodeProcess;
import io.quartermaster.tenancy.TestTenants;
import io.quartermaster.testing.ExternalProgram;
import io.restassured.response.Response;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Generated clients run one whole story each, as members of two tenants, against the service and a node with a real
 * agent: submit, watch, explain, cancel, usage. Without Python or Node, a story is skipped with a message.
 */
@QuarkusTest
class ClientStoriesIT {

    private static final Path PROGRAMS = Path.of("src", "test", "clients");
    private static final Path PYTHON_LIBRARIES = Path.of("target", "client-venv");
    private static final Path TYPESCRIPT_COMPILER = Path.of("target", "typescript", "lib", "tsc.js");
    private static final String FLEET = "stories";
    private static final String QUEUE = "story-one";
    private static final String PYTHON = "story-python";
    private static final String TYPESCRIPT = "story-typescript";
    private static final int FIRST_NODE_WITH_FETCH = 18;
    private static final List<String> STEPS =
            List.of("submitted once", "watched it start", "explained: ", "cancelled", "used ", "refused as documented");

    private static @Nullable NodeProcess node;

    @BeforeAll
    static void twoTenantsAndANode() throws IOException {
        node = NodeProcess.start(FLEET, 2);
        TestTenants.provision(PYTHON, TYPESCRIPT);
        for (String tenant : List.of(PYTHON, TYPESCRIPT)) {
            made(request(operatorToken())
                    .body(Map.of("reserved", "1", "limit", "1"))
                    .put("/v1/operator/tenants/" + tenant + "/allotments/" + FLEET));
            String own = "/v1/tenants/" + tenant;
            made(request(adminToken(tenant))
                    .body(Map.of("name", "one", "gpus", "1", "pools", List.of(FLEET)))
                    .post(own + "/profiles"));
            made(request(adminToken(tenant))
                    .body(Map.of(
                            "name",
                            "story",
                            "group",
                            "/rnd",
                            "quotas",
                            List.of(Map.of("pool", FLEET, "reserved", "1", "limit", "1")),
                            "profiles",
                            List.of("one")))
                    .post(own + "/policies"));
        }
    }

    @AfterAll
    static void endNode() throws InterruptedException {
        if (node != null) {
            node.close();
        }
    }

    @Test
    void generatedPythonClientPlaysAStory() throws IOException {
        Path python = pythonWithLibraries();
        GeneratedClients.generate();

        ExternalProgram.Ended story = ExternalProgram.end(
                List.of(python.toString(), PROGRAMS.resolve("story.py").toString()),
                environment(PYTHON, TYPESCRIPT, GeneratedClients.FOLDER.resolve("python")));

        requireStory(PYTHON, story);
    }

    @Test
    void generatedTypescriptClientPlaysAStory() throws IOException {
        String program = node();
        GeneratedClients.generate();
        Path folder = Files.createDirectories(GeneratedClients.FOLDER.resolve("typescript-story"));
        for (String file : List.of("story.ts", "tsconfig.json")) {
            Files.copy(PROGRAMS.resolve(file), folder.resolve(file), StandardCopyOption.REPLACE_EXISTING);
        }
        Files.writeString(GeneratedClients.FOLDER.resolve("package.json"), "{\"type\": \"module\"}\n");
        ExternalProgram.run(List.of(program, TYPESCRIPT_COMPILER.toString(), "--project", folder.toString()));

        ExternalProgram.Ended story = ExternalProgram.end(
                List.of(
                        program,
                        GeneratedClients.FOLDER
                                .resolve("typescript-built/typescript-story/story.js")
                                .toString()),
                environment(TYPESCRIPT, PYTHON, GeneratedClients.FOLDER));

        requireStory(TYPESCRIPT, story);
    }

    /** Checks the output of the story, and the service's record of it. */
    private static void requireStory(String tenant, ExternalProgram.Ended story) {
        assertThat(story.exitCode()).as(story.output()).isZero();
        assertThat(story.output()).contains(STEPS);
        String own = "/v1/tenants/" + tenant;
        assertThat(request(adminToken(tenant))
                        .get(own + "/workloads")
                        .jsonPath()
                        .<String>getList("items.state"))
                .containsExactly("cancelled", "cancelled");
        String held = request(adminToken(tenant)).get(own + "/usage").path("totals.held.gpuMilliMillis");
        assertThat(new BigInteger(held)).isPositive();
    }

    private static Map<String, String> environment(String tenant, String stranger, Path library) {
        return Map.of(
                "STORY_URL",
                ConfigProvider.getConfig().getValue("test.url", String.class),
                "STORY_TENANT",
                tenant,
                "STORY_STRANGER",
                stranger,
                "STORY_QUEUE",
                QUEUE,
                "STORY_TOKEN",
                memberToken(tenant, "rnd-member"),
                "PYTHONPATH",
                library.toString(),
                "PYTHONUNBUFFERED",
                "1");
    }

    private static Path pythonWithLibraries() throws IOException {
        String python = ExternalProgram.onPath("python3").orElseThrow(() -> skipped("Python", "there is no python3"));
        Path wanted = PROGRAMS.resolve("requirements.txt");
        Path present = PYTHON_LIBRARIES.resolve("requirements.txt");
        Path program = PYTHON_LIBRARIES.resolve("bin/python");
        if (!Files.exists(present) || !Files.readString(present).equals(Files.readString(wanted))) {
            for (List<String> command : List.of(
                    List.of(python, "-m", "venv", "--clear", PYTHON_LIBRARIES.toString()),
                    List.of(
                            program.toString(),
                            "-m",
                            "pip",
                            "install",
                            "--quiet",
                            "--disable-pip-version-check",
                            "--retries=1",
                            "-r",
                            wanted.toString()))) {
                ExternalProgram.Ended ended = ExternalProgram.end(command, Map.of());
                if (ended.exitCode() != 0) {
                    throw skipped("Python", "its libraries cannot be installed: " + ended.output());
                }
            }
            Files.copy(wanted, present, StandardCopyOption.REPLACE_EXISTING);
        }
        return program;
    }

    private static String node() throws IOException {
        String program = ExternalProgram.onPath("node").orElseThrow(() -> skipped("TypeScript", "there is no node"));
        String version = ExternalProgram.run(List.of(program, "--version")).strip();
        if (Integer.parseInt(version.replaceFirst("^v?([0-9]+).*$", "$1")) < FIRST_NODE_WITH_FETCH) {
            throw skipped("TypeScript", "node is of version " + version + " and has no fetch");
        }
        return program;
    }

    private static RuntimeException skipped(String language, String reason) {
        return ExternalProgram.skipped("the story of the generated " + language + " client", reason);
    }

    private static void made(Response response) {
        assertThat(response.statusCode()).as(response.asString()).isIn(200, 201);
    }
}
