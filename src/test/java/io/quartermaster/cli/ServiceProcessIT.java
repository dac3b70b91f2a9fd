package io.quartermaster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.Ports;
import io.quartermaster.launch.ExitCodes;
import io.quartermaster.testing.OwnProcesses;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The packaged program as users start it: real processes, with an external Keycloak that this test does not need. */
@OwnProcesses
class ServiceProcessIT {

    private static final Duration PATIENCE = Duration.ofMinutes(12);

    private final Path temporary;

    private final int httpPort = Ports.anyFree();
    private final int managementPort = Ports.anyFree();
    private final int postgresPort = Ports.anyFree();
    private final int redisPort = Ports.anyFree();

    ServiceProcessIT(@TempDir Path temporary) {
        this.temporary = temporary;
    }

    @AfterEach
    void nothingIsLeftRunning() throws Exception {
        assertThat(run("down").exitCode()).isZero();
        assertThat(Ports.answers(postgresPort)).isFalse();
        assertThat(Ports.answers(redisPort)).isFalse();
    }

    @Test
    void aKilledServiceIsFollowedByOneThatTakesItsDatabaseOver() throws Exception {
        Process first = startService();
        awaitService();
        String database = pidFile("postgres");
        assertThat(statusOf("/openapi")).isEqualTo(200);
        assertThat(statusOf("/swagger-ui/"))
                .as("pages to try the API are for development")
                .isEqualTo(404);
        assertThat(answerTo("/v1/tenants?pageSize=%zz"))
                .as("an address that clients refuse to send")
                .startsWith("HTTP/1.1 400")
                .contains("application/problem+json", "pageSize");

        Ended second = run("up");
        assertThat(second.exitCode()).isEqualTo(ExitCodes.ALREADY_RUNNING);
        assertThat(second.output())
                .contains("already runs")
                .contains(Long.toString(first.pid()))
                .contains(":" + httpPort);
        Ended reset = run("reset", "--yes");
        assertThat(reset.exitCode()).isEqualTo(ExitCodes.REFUSED);

        first.destroyForcibly().waitFor();
        assertThat(run("status").exitCode()).isEqualTo(ExitCodes.NOT_RUNNING);
        Process third = startService();
        awaitService();
        assertThat(pidFile("postgres")).isEqualTo(database);

        ProcessHandle.of(Long.parseLong(database.split(" ")[0])).orElseThrow().destroyForcibly();
        Awaitility.await().atMost(PATIENCE).until(() -> !pidFile("postgres").equals(database));
        awaitService();

        third.destroy();
        assertThat(third.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(third.exitValue()).as("after a signal").isZero();
        assertThat(Ports.answers(postgresPort)).isFalse();
        assertThat(run("reset", "--yes").exitCode()).isZero();
        assertThat(data()).isEmptyDirectory();
    }

    @Test
    void aPortInUseIsNamedWithTheSettingThatChangesIt() throws Exception {
        try (ServerSocket other = new ServerSocket(redisPort, 1, InetAddress.getLoopbackAddress())) {
            Ended ended = run("up");

            assertThat(other.isBound()).isTrue();
            assertThat(ended.exitCode()).isEqualTo(ExitCodes.CANNOT_START);
            assertThat(ended.output())
                    .contains("Port " + redisPort + " (for Redis)")
                    .contains("--redis-port or QM_REDIS_PORT");
        }
        assertThat(Ports.answers(postgresPort)).isFalse();
    }

    private record Ended(int exitCode, String output) {}

    private Ended run(String... arguments) throws IOException, InterruptedException {
        Process process = start(arguments);
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        return new Ended(process.exitValue(), output);
    }

    /** Its output goes to a file, because the test does not read it while the program runs. */
    private Process startService() throws IOException {
        return builder("up")
                .redirectOutput(temporary.resolve("output").toFile())
                .start();
    }

    private Process start(String... arguments) throws IOException {
        return builder(arguments).start();
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
        builder.environment()
                .putAll(Map.of(
                        "QM_HTTP_PORT",
                        Integer.toString(httpPort),
                        "QM_MANAGEMENT_PORT",
                        Integer.toString(managementPort),
                        "QM_POSTGRES_PORT",
                        Integer.toString(postgresPort),
                        "QM_REDIS_PORT",
                        Integer.toString(redisPort),
                        "QM_KEYCLOAK_URL",
                        "http://127.0.0.1:1",
                        "QM_KEYCLOAK_ADMIN_USER",
                        "admin",
                        "QM_KEYCLOAK_ADMIN_PASSWORD",
                        "none"));
        return builder;
    }

    private void awaitService() throws Exception {
        try (HealthProbe healthProbe = new HealthProbe()) {
            Awaitility.await().atMost(PATIENCE).until(() -> healthProbe
                    .readiness("http://127.0.0.1:" + managementPort)
                    .filter(HealthProbe.Health::canServe)
                    .isPresent());
        }
    }

    private int statusOf(String path) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + httpPort + path))
                                    .build(),
                            HttpResponse.BodyHandlers.discarding())
                    .statusCode();
        }
    }

    private String answerTo(String address) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), httpPort)) {
            String request = "GET " + address + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private String pidFile(String program) throws IOException {
        return Files.readString(new DataFolder(data()).resolve("run").resolve(program + ".pid"));
    }

    private Path data() {
        return temporary.resolve("data");
    }
}
