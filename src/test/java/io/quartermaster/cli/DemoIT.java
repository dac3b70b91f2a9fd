package io.quartermaster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.cli.demo.ApiClient;
import io.quartermaster.cli.demo.DemoPasswords;
import io.quartermaster.cli.demo.DemoWorld;
import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.Ports;
import io.quartermaster.embedded.Secrets;
import io.quartermaster.testing.RandomCases;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * The main use of the product: the packaged program with everything it starts, and the demonstration played against it
 * through the public API. A second run kills the service and the agent in the middle.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock("a whole installation")
class DemoIT {

    private static final Duration PATIENCE = Duration.ofMinutes(20);
    private static final String PATIENCE_SECONDS = Long.toString(PATIENCE.toSeconds());
    private static final int MOST_STEPS = 960;

    /** {@code -Dqm.long=true} repeats the demonstration until fifty processes were killed. */
    private static final int KILLS = Boolean.getBoolean("qm.long") ? 50 : 5;

    private static final int KILLS_PER_PLAY = 5;
    private static final int LAST_LINES = 60;
    private static final Map<String, String> PORTS = Map.of(
            "QM_HTTP_PORT", Integer.toString(Ports.anyFree()),
            "QM_MANAGEMENT_PORT", Integer.toString(Ports.anyFree()),
            "QM_POSTGRES_PORT", Integer.toString(Ports.anyFree()),
            "QM_REDIS_PORT", Integer.toString(Ports.anyFree()),
            "QM_KEYCLOAK_PORT", Integer.toString(Ports.anyFree()));

    /** The folder stays, with all logs, until the build folder is emptied. */
    private static final Path FOLDER =
            Path.of("target", "it-demo-" + ProcessHandle.current().pid()).toAbsolutePath();

    @SuppressWarnings("NullAway.Init") // set before all tests
    private static Process service;

    @BeforeAll
    static void up() throws IOException {
        Files.createDirectories(FOLDER);
        service = start("up");
        awaitReady();
    }

    @AfterAll
    static void down() throws Exception {
        Process down = start("down");
        assertThat(down.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(ended(service)).isTrue();
        for (String port : PORTS.values()) {
            assertThat(Ports.answers(Integer.parseInt(port))).isFalse();
        }
    }

    @Test
    @Order(1)
    void theWorkedExampleHappensInOrderWithItsReasonsAndItsBill() throws Exception {
        Played played = playWithoutEarlyEnds();

        assertThat(played.output()).as(played.output()).contains("the equations of the ledger hold: yes, exactly");
        assertThat(played.exitCode()).isZero();
        assertThat(played.lines())
                .containsSubsequence(
                        "acme r-3 running, attempt 1",
                        "globex g-1 running, attempt 1",
                        "acme r-3 is being stopped: reclaim for d-1, by right of reserved",
                        "acme d-1 running, attempt 1",
                        "acme r-2 is being stopped: reclaim for d-2, by right of reserved",
                        "acme d-2 running, attempt 1",
                        "acme r-5 succeeded");
        assertThat(played.lines())
                .anyMatch(line -> line.startsWith("acme r-4 waiting: LIMIT"))
                .anyMatch(line -> line.startsWith("acme r-5 waiting: LIMIT"))
                .noneMatch(line -> line.startsWith("acme r-1 is being") || line.startsWith("globex g-1 is being"))
                .anyMatch(line -> line.matches("r-3: attempt 2 begins at step [1-9][0-9]* on GPUs .*"))
                .anyMatch(line -> line.matches("acme /devops within [1-9][0-9.]*, over-quota 0.0 GPU-seconds"))
                .anyMatch(line -> line.matches(
                        "globex demo reserved 0.0, reserved-idle 0.0, on-demand [1-9][0-9.]* GPU-seconds"));
        nothingStartedTwice();
    }

    @Test
    @Order(2)
    void aDemonstrationOfNoStepsIsRefused() throws Exception {
        Played played = play("--steps", "0").end();

        assertThat(played.exitCode()).as(played.output()).isEqualTo(2);
        assertThat(played.output()).contains("--steps is 1 or more, not 0");
    }

    /** Where the machine cannot keep work from the data folder, only the demonstration's own program runs. */
    @Test
    @Order(2)
    void workCannotReadTheDataFolder() {
        DataFolder folder = new DataFolder(data());
        RunFile run = RunFile.ofRunning(folder).orElseThrow();
        ApiClient member = ApiClient.ofUser(
                run.url(),
                run.keycloakUrl(),
                DemoWorld.OWNER,
                DemoWorld.RND_MEMBER,
                DemoPasswords.of(folder).member());
        String script = "ls %1$s | grep postgres || echo closed; cat %1$s/secrets.properties || echo closed;"
                + " cat %1$s/agent/secret || echo closed";
        String path = "/v1/tenants/" + DemoWorld.OWNER + "/workloads";
        JsonNode submitted = member.require(member.post(
                path,
                Map.of(
                        "queue",
                        DemoWorld.queue("rnd", 1),
                        "type",
                        "training",
                        "name",
                        "spy",
                        "command",
                        List.of("sh", "-c", script.formatted(data())))));
        String own = path + "/" + submitted.path("id").asText();
        Awaitility.await().atMost(PATIENCE).until(() -> List.of("succeeded", "failed")
                .contains(member.require(member.get(own))
                        .path("workload")
                        .path("state")
                        .asText()));

        String log = member.require(member.get(own + "/logs?attempt=1")).asText();
        String seen = member.require(member.get(own)).toString() + log;
        assertThat(seen).doesNotContain(Secrets.in(folder).password(DemoWorld.CLI_SECRET));
        if (!seen.contains("the demonstration's own program only")) {
            assertThat(log.lines().filter("closed"::equals)).as(log).hasSize(3);
        }
    }

    @Test
    @Order(3)
    void killedServicesAndAgentsStartNothingTwiceAndLoseNothing() throws Exception {
        long seed = RandomCases.firstSeed();
        Random random = new Random(seed);
        for (int killed = 0; killed < KILLS; ) {
            Play play = play("--steps", "60", "--patience", PATIENCE_SECONDS);
            for (int i = 0; i < KILLS_PER_PLAY && killed < KILLS && !play.isDone(); i++, killed++) {
                play.awaitLines(1 + random.nextInt(6));
                killOne(random.nextInt(3) == 0);
            }
            Played played = play.end();

            assertThat(played.exitCode())
                    .as("seed %d (repeat with -Dqm.seed), after %d kills: %s%s", seed, killed, played.output(), logs())
                    .isZero();
            nothingStartedTwice();
        }
    }

    @Test
    @Order(4)
    void aRestartedDatabaseAndAnEmptiedRedisCostTimeAndNothingElse() throws Exception {
        Play play = play("--steps", "40", "--patience", PATIENCE_SECONDS);

        play.awaitLines(4);
        emptyRedis();
        play.awaitLines(3);
        ProcessHandle database = stopDatabase();
        Awaitility.await().atMost(PATIENCE).until(() -> program("postgres")
                .filter(another -> !another.equals(database))
                .isPresent());
        play.awaitLines(1);
        emptyRedis();
        program("postgres").ifPresent(ProcessHandle::destroyForcibly);
        Played played = play.end();

        assertThat(played.exitCode()).as("%s%s", played.output(), logs()).isZero();
        nothingStartedTwice();
        ApiClient operator = operator();
        for (String tenant : List.of(DemoWorld.OWNER, DemoWorld.BORROWER)) {
            Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
                JsonNode live = operator.require(operator.get("/v1/tenants/" + tenant + "/usage/live"));
                assertThat(live.path("source").asText()).isEqualTo("redis");
                assertThat(live.path("pools")).isNotEmpty().allSatisfy(pool -> {
                    assertThat(pool.path("gpus").path("used").asText()).isEqualTo("0");
                    assertThat(pool.path("gpus").path("queued").asText()).isEqualTo("0");
                });
            });
        }
    }

    private static ApiClient operator() {
        DataFolder folder = new DataFolder(data());
        RunFile run = RunFile.ofRunning(folder).orElseThrow();
        return ApiClient.ofClient(
                run.url(),
                run.keycloakUrl(),
                "operator",
                DemoWorld.CLI_CLIENT,
                Secrets.in(folder).password(DemoWorld.CLI_SECRET));
    }

    /** Stops Redis and deletes its files, so that it starts again empty. */
    private static void emptyRedis() throws IOException {
        try (Stream<Path> kept = Files.walk(data().resolve("redis"))) {
            for (Path file : kept.filter(path -> path.getFileName().toString().endsWith(".aof")
                            || path.getFileName().toString().endsWith(".manifest"))
                    .toList()) {
                Files.delete(file);
            }
        }
        program("redis").ifPresent(ProcessHandle::destroyForcibly);
    }

    /** As {@code pg_ctl stop -m fast} does: the server ends every connection, and then ends regularly. */
    private static ProcessHandle stopDatabase() throws Exception {
        ProcessHandle database = program("postgres").orElseThrow();
        assertThat(new ProcessBuilder("kill", "-INT", Long.toString(database.pid()))
                        .start()
                        .waitFor())
                .isZero();
        return database;
    }

    /** The process beside the service with this name. */
    private static Optional<ProcessHandle> program(String name) throws IOException {
        Path pidFile = new DataFolder(data()).resolve("run").resolve(name + ".pid");
        if (!Files.exists(pidFile)) {
            return Optional.empty();
        }
        return ProcessHandle.of(Long.parseLong(Files.readString(pidFile).split(" ")[0]));
    }

    private static void killOne(boolean agent) throws Exception {
        if (agent) {
            program("agent").ifPresent(ProcessHandle::destroyForcibly);
            return;
        }
        service.destroyForcibly().waitFor();
        service = start("up");
        awaitReady();
    }

    /** Every start of a demonstration's job writes its attempt's id into a file of the workload. */
    private static void nothingStartedTwice() {
        try (Stream<Path> files = Files.walk(data().resolve("agent"))) {
            List<Path> starts = files.filter(file -> file.endsWith(".starts")).toList();
            assertThat(starts).isNotEmpty();
            for (Path file : starts) {
                assertThat(Files.readAllLines(file)).as(file.toString()).doesNotHaveDuplicates();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record Played(int exitCode, String output) {
        /** Without the time in front, and with single spaces. */
        List<String> lines() {
            return output.lines()
                    .map(line -> line.replaceFirst("^ *[0-9.]+ s ", "").strip().replaceAll(" +", " "))
                    .toList();
        }
    }

    /** A run of the demonstration beside the test. */
    private record Play(List<String> lines, CompletableFuture<Played> future) {

        boolean isDone() {
            return future.isDone();
        }

        /** Returns when the story has printed this many further lines, or has ended. */
        void awaitLines(int more) {
            int wanted = lines.size() + more;
            Awaitility.await()
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(50))
                    .until(() -> lines.size() >= wanted || future.isDone());
        }

        Played end() throws Exception {
            return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /**
     * On a slow machine, jobs of half a minute end before the last preemption of the story; then the jobs become
     * longer.
     */
    private static Played playWithoutEarlyEnds() throws Exception {
        for (int steps = 60; ; steps *= 4) {
            Played played = play("--steps", Integer.toString(steps), "--patience", PATIENCE_SECONDS)
                    .end();
            List<String> lines = played.lines();
            int lastStart = lines.indexOf("acme d-2 running, attempt 1");
            boolean endedEarly = played.exitCode() == 0
                    && lastStart >= 0
                    && lines.subList(0, lastStart).stream().anyMatch(line -> line.matches("acme r-[1-3] succeeded"));
            if (!endedEarly || steps >= MOST_STEPS) {
                return played;
            }
        }
    }

    /**
     * Plays beside the test; returns once the story has begun, because until then the command needs a running service.
     */
    private static Play play(String... options) throws Exception {
        awaitReady();
        List<String> arguments = new ArrayList<>(List.of("demo"));
        arguments.addAll(List.of(options));
        Process demo = start(arguments.toArray(String[]::new));
        CompletableFuture<String> begun = new CompletableFuture<>();
        // A thread of its own: it runs for minutes, and the common pool may have only one thread, which others need.
        List<String> seen = new CopyOnWriteArrayList<>();
        CompletableFuture<Played> play = CompletableFuture.supplyAsync(
                () -> {
                    StringBuilder output = new StringBuilder();
                    try (BufferedReader lines = demo.inputReader(StandardCharsets.UTF_8)) {
                        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                            output.append(line).append('\n');
                            seen.add(line);
                            begun.complete(line);
                        }
                        return new Played(demo.waitFor(), output.toString());
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        throw new IllegalStateException(e);
                    }
                },
                Thread::startVirtualThread);
        begun.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        return new Play(seen, play);
    }

    private static void awaitReady() {
        Awaitility.await().atMost(PATIENCE).pollInterval(Duration.ofMillis(200)).until(() -> {
            assertThat(ended(service)).as("the service ended%s", logs()).isFalse();
            return RunFile.ofRunning(new DataFolder(data()))
                    .filter(RunFile::ready)
                    .isPresent();
        });
    }

    /** The last lines of the service's and the agent's logs, for readers of the report without access to the folder. */
    private static String logs() throws IOException {
        StringBuilder logs = new StringBuilder();
        for (Path log : List.of(FOLDER.resolve("up.out"), data().resolve("log/agent.log"))) {
            List<String> lines = Files.exists(log) ? Files.readAllLines(log) : List.of();
            logs.append("\n--- ").append(log.getFileName()).append('\n');
            lines.stream().skip(Math.max(0, lines.size() - LAST_LINES)).forEach(line -> logs.append(line)
                    .append('\n'));
        }
        return logs.toString();
    }

    private static boolean ended(Process process) {
        return !process.isAlive();
    }

    private static Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx384m",
                "-jar",
                Path.of("target", "quarkus-app", "quarkus-run.jar").toString()));
        command.addAll(List.of(arguments));
        command.addAll(List.of("--data-dir", data().toString()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        if (arguments[0].equals("up")) {
            builder.redirectOutput(
                    ProcessBuilder.Redirect.appendTo(FOLDER.resolve("up.out").toFile()));
        }
        builder.environment().putAll(PORTS);
        // On a slow machine a restart of the service takes longer than a node's lease, and work would end.
        builder.environment().put("QUARTERMASTER_AGENTS_LEASE", "PT10M");
        return builder.start();
    }

    private static Path data() {
        return FOLDER.resolve("data");
    }
}
