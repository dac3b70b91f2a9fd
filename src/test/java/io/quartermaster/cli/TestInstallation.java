package io.quartermaster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.cli.demo.ApiClient;
import io.quartermaster.cli.demo.DemoPasswords;
import io.quartermaster.cli.demo.DemoWorld;
import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.Ports;
import io.quartermaster.embedded.Secrets;
import io.quartermaster.testing.PreparedData;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/**
 * The packaged program with all servers that it starts and the demonstration, on free ports. Its folder stays, with all
 * logs, until the build folder is emptied.
 */
final class TestInstallation {

    static final Duration PATIENCE = Duration.ofMinutes(20);

    private static final int LAST_LINES = 60;

    private final Map<String, String> ports = Map.of(
            "QM_HTTP_PORT", Integer.toString(Ports.anyFree()),
            "QM_MANAGEMENT_PORT", Integer.toString(Ports.anyFree()),
            "QM_POSTGRES_PORT", Integer.toString(Ports.anyFree()),
            "QM_REDIS_PORT", Integer.toString(Ports.anyFree()),
            "QM_KEYCLOAK_PORT", Integer.toString(Ports.anyFree()));

    private final Path folder;
    private Process service;

    /** Starts the program and returns when it is ready. */
    TestInstallation(String name) throws IOException {
        folder = Path.of("target", "it-" + name + "-" + ProcessHandle.current().pid())
                .toAbsolutePath();
        Files.createDirectories(folder);
        PreparedData.copyTo(data());
        service = startService();
        awaitReady();
    }

    Path data() {
        return folder.resolve("data");
    }

    void awaitReady() {
        Awaitility.await().atMost(PATIENCE).pollInterval(Duration.ofMillis(200)).until(() -> {
            assertThat(service.isAlive()).as("the service ended%s", logs()).isTrue();
            return RunFile.ofRunning(new DataFolder(data()))
                    .filter(RunFile::ready)
                    .isPresent();
        });
    }

    /** Kills the service alone and starts it again. */
    void killService() throws Exception {
        service.destroyForcibly().waitFor();
        service = startService();
        awaitReady();
    }

    void killAgent() throws IOException {
        program("agent").ifPresent(ProcessHandle::destroyForcibly);
    }

    /** The process beside the service with this name. */
    Optional<ProcessHandle> program(String name) throws IOException {
        Path pidFile = new DataFolder(data()).resolve("run").resolve(name + ".pid");
        if (!Files.exists(pidFile)) {
            return Optional.empty();
        }
        return ProcessHandle.of(Long.parseLong(Files.readString(pidFile).split(" ")[0]));
    }

    /** Ends everything, and checks that nothing is left. */
    void down() throws Exception {
        assertThat(run("down")).isZero();
        assertThat(service.isAlive()).isFalse();
        assertThat(service.exitValue()).as("the service was asked to end").isZero();
        assertThat(Files.readString(data().resolve("log/service.log")))
                .as("the calls that the service holds end with it")
                .doesNotContain("Timed out waiting for graceful shutdown");
        for (String port : ports.values()) {
            assertThat(Ports.answers(Integer.parseInt(port))).isFalse();
        }
    }

    ApiClient operator() {
        RunFile run = running();
        return ApiClient.ofClient(
                run.url(),
                run.keycloakUrl(),
                "operator",
                DemoWorld.CLI_CLIENT,
                Secrets.in(new DataFolder(data())).password(DemoWorld.CLI_SECRET));
    }

    /** A user of the owning tenant. */
    ApiClient user(String name) {
        RunFile run = running();
        DemoPasswords passwords = DemoPasswords.of(new DataFolder(data()));
        String password = name.equals("admin") ? passwords.admin() : passwords.member();
        return ApiClient.ofUser(run.url(), run.keycloakUrl(), DemoWorld.OWNER, name, password);
    }

    RunFile running() {
        return RunFile.ofRunning(new DataFolder(data())).orElseThrow();
    }

    /** Submits a workload of the owning tenant, and returns its id. */
    static String submit(ApiClient owner, Map<String, Object> workload) {
        JsonNode submitted = owner.require(owner.post(workloads(), workload));
        return submitted.path("id").asText();
    }

    static String workloads() {
        return "/v1/tenants/" + DemoWorld.OWNER + "/workloads";
    }

    /** The last lines of the service's and the agent's logs, for readers of the report without access to the folder. */
    String logs() throws IOException {
        StringBuilder logs = new StringBuilder();
        for (Path log : List.of(folder.resolve("up.out"), data().resolve("log/agent.log"))) {
            List<String> lines = Files.exists(log) ? Files.readAllLines(log) : List.of();
            logs.append("\n--- ").append(log.getFileName()).append('\n');
            lines.stream().skip(Math.max(0, lines.size() - LAST_LINES)).forEach(line -> logs.append(line)
                    .append('\n'));
        }
        return logs.toString();
    }

    /** The exit code of a command, whose output goes to a file. */
    int run(String command) throws Exception {
        Process process = toFile(command);
        assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        return process.exitValue();
    }

    /** Starts a command whose output the caller reads. */
    Process start(String... arguments) throws IOException {
        return builder(arguments).start();
    }

    private Process startService() throws IOException {
        return toFile("up");
    }

    private Process toFile(String command) throws IOException {
        return builder(command)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        folder.resolve(command + ".out").toFile()))
                .start();
    }

    private ProcessBuilder builder(String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx384m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-jar",
                Path.of("target", "quarkus-app", "quarkus-run.jar").toString()));
        command.addAll(List.of(arguments));
        command.addAll(List.of("--data-dir", data().toString()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(ports);
        // On a slow machine a restart of the service takes longer than a node's lease, and work would end.
        builder.environment().put("QUARTERMASTER_AGENTS_LEASE", "PT10M");
        return builder;
    }
}
