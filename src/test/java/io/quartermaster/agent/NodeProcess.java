package io.quartermaster.agent;

import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.testing.ExternalProgram;
import io.restassured.path.json.JsonPath;
import io.restassured.response.Response;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.eclipse.microprofile.config.ConfigProvider;

/** A node of a pool and a cluster of its own, with a real agent in a process of its own. Its end stops its work. */
public final class NodeProcess implements AutoCloseable {

    private final Process agent;

    private NodeProcess(Process agent) {
        this.agent = agent;
    }

    /**
     * Makes a cluster, a pool and a node of this name, and starts the node's agent.
     *
     * @param gpus the number of simulated GPUs
     */
    public static NodeProcess start(String name, int gpus) throws IOException {
        made(request(operatorToken())
                .body(Map.of("name", name, "kind", "agent", "region", "north"))
                .post("/v1/operator/clusters"));
        made(request(operatorToken())
                .body(Map.of("name", name, "tenantsTrustEachOther", true))
                .post("/v1/operator/pools"));
        made(request(operatorToken())
                .body(Map.of("name", name, "cluster", name, "pool", name))
                .post("/v1/operator/nodes"));
        JsonPath credential = made(request(operatorToken()).post("/v1/operator/nodes/" + name + "/credential"));
        Path folder = Files.createDirectories(
                Path.of("target", "it-" + name + "-" + ProcessHandle.current().pid()));
        ProcessBuilder builder = new ProcessBuilder(
                        ExternalProgram.java(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        AgentCommand.class.getName(),
                        "--server=" + ConfigProvider.getConfig().getValue("test.url", String.class),
                        "--node=" + name,
                        "--token-url=" + credential.getString("tokenUrl"),
                        "--client-id=" + credential.getString("clientId"),
                        "--state-dir=" + folder.resolve("state").toAbsolutePath(),
                        "--isolation=none",
                        "--trust-tenants",
                        "--stop-work-on-exit",
                        "--simulated-gpus=" + gpus)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("agent.log").toFile());
        builder.environment().put("QM_AGENT_SECRET", credential.getString("clientSecret"));
        return new NodeProcess(builder.start());
    }

    private static JsonPath made(Response response) {
        assertThat(response.statusCode()).as(response.asString()).isIn(200, 201);
        return response.jsonPath();
    }

    @Override
    public void close() throws InterruptedException {
        agent.destroy();
        assertThat(agent.waitFor(1, TimeUnit.MINUTES)).isTrue();
    }
}
