package io.quartermaster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.cli.demo.ApiClient;
import io.quartermaster.cli.demo.DemoWorld;
import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.Secrets;
import io.quartermaster.testing.OwnProcesses;
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
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * The main use of the product: the packaged program with everything it starts, and the demonstration played against it
 * through the public API. A second run kills the service and the agent in the middle.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@OwnProcesses
class DemoIT {

    private static final Duration PATIENCE = TestInstallation.PATIENCE;
    private static final String PATIENCE_SECONDS = Long.toString(PATIENCE.toSeconds());
    private static final int MOST_STEPS = 640;

    /** {@code -Dqm.long=true} repeats the demonstration until fifty processes were killed. */
    private static final int KILLS = Boolean.getBoolean("qm.long") ? 50 : 2;

    private static final int KILLS_PER_PLAY = 5;

    @SuppressWarnings("NullAway.Init") // set before all tests
    static TestInstallation installation;

    @BeforeAll
    static void up() throws Exception {
        installation = new TestInstallation("demo");
    }

    @AfterAll
    static void down() throws Exception {
        installation.down();
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
        ApiClient member = installation.user(DemoWorld.RND_MEMBER);
        Path data = installation.data();
        String script = "ls %1$s | grep postgres || echo closed; cat %1$s/secrets.properties || echo closed;"
                + " cat %1$s/agent/secret || echo closed";
        String own = TestInstallation.workloads()
                + "/"
                + TestInstallation.submit(
                        member,
                        Map.of(
                                "queue",
                                DemoWorld.queue("rnd", 1),
                                "type",
                                "training",
                                "name",
                                "spy",
                                "command",
                                List.of("sh", "-c", script.formatted(data))));
        Awaitility.await().atMost(PATIENCE).until(() -> List.of("succeeded", "failed")
                .contains(member.require(member.get(own))
                        .path("workload")
                        .path("state")
                        .asText()));

        String log = member.require(member.get(own + "/logs?attempt=1")).asText();
        String seen = member.require(member.get(own)).toString() + log;
        assertThat(seen).doesNotContain(Secrets.in(new DataFolder(data)).password(DemoWorld.CLI_SECRET));
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
            Play play = play("--steps", "30", "--patience", PATIENCE_SECONDS);
            for (int i = 0; i < KILLS_PER_PLAY && killed < KILLS && !play.isDone(); i++, killed++) {
                play.awaitLines(1 + random.nextInt(6));
                killOne(random.nextInt(3) == 0);
            }
            Played played = play.end();

            assertThat(played.exitCode())
                    .as(
                            "seed %d (repeat with -Dqm.seed), after %d kills: %s%s",
                            seed, killed, played.output(), installation.logs())
                    .isZero();
            nothingStartedTwice();
        }
    }

    @Test
    @Order(4)
    void aRestartedDatabaseAndAnEmptiedRedisCostTimeAndNothingElse() throws Exception {
        Play play = play("--steps", "24", "--patience", PATIENCE_SECONDS);

        play.awaitLines(4);
        emptyRedis();
        play.awaitLines(3);
        ProcessHandle database = stopDatabase();
        Awaitility.await().atMost(PATIENCE).until(() -> installation
                .program("postgres")
                .filter(another -> !another.equals(database))
                .isPresent());
        play.awaitLines(1);
        emptyRedis();
        installation.program("postgres").ifPresent(ProcessHandle::destroyForcibly);
        Played played = play.end();

        assertThat(played.exitCode())
                .as("%s%s", played.output(), installation.logs())
                .isZero();
        nothingStartedTwice();
        ApiClient operator = installation.operator();
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

    /** Stops Redis and deletes its files, so that it starts again empty. */
    private static void emptyRedis() throws IOException {
        try (Stream<Path> kept = Files.walk(installation.data().resolve("redis"))) {
            for (Path file : kept.filter(path -> path.getFileName().toString().endsWith(".aof")
                            || path.getFileName().toString().endsWith(".manifest"))
                    .toList()) {
                Files.delete(file);
            }
        }
        installation.program("redis").ifPresent(ProcessHandle::destroyForcibly);
    }

    /** As {@code pg_ctl stop -m fast} does: the server ends every connection, and then ends regularly. */
    private static ProcessHandle stopDatabase() throws Exception {
        ProcessHandle database = installation.program("postgres").orElseThrow();
        assertThat(new ProcessBuilder("kill", "-INT", Long.toString(database.pid()))
                        .start()
                        .waitFor())
                .isZero();
        return database;
    }

    private static void killOne(boolean agent) throws Exception {
        if (agent) {
            installation.killAgent();
        } else {
            installation.killService();
        }
    }

    /** Every start of a demonstration's job writes its attempt's id into a file of the workload. */
    private static void nothingStartedTwice() {
        try (Stream<Path> files = Files.walk(installation.data().resolve("agent"))) {
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
     * On a slow machine, jobs of twenty seconds end before the last preemption of the story; then the jobs become
     * longer.
     */
    private static Played playWithoutEarlyEnds() throws Exception {
        for (int steps = 40; ; steps *= 4) {
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
        installation.awaitReady();
        List<String> arguments = new ArrayList<>(List.of("demo"));
        arguments.addAll(List.of(options));
        Process demo = installation.start(arguments.toArray(String[]::new));
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

    @Nested
    class Pauses extends PauseTests {}
}
