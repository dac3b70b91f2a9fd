package io.quartermaster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.cli.demo.ApiClient;
import io.quartermaster.cli.demo.DemoWorld;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Preemption by pause, from a policy to the processes on the node and back: the packaged program, its API, its agent.
 * {@link DemoIT} runs them on its installation, because the start of one takes longer than all of these tests.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
abstract class PauseTests {

    private static final Duration PATIENCE = TestInstallation.PATIENCE;

    /** Counts into a file, from 1 in every process, until the file {@code .enough} exists. */
    private static final String COUNT =
            "echo $$ >> \"$QM_CHECKPOINT_DIR/.pids\"; n=0; while [ ! -e \"$QM_CHECKPOINT_DIR/.enough\" ]; do"
                    + " n=$((n+1)); echo $n >> \"$QM_CHECKPOINT_DIR/.steps\"; sleep 0.1; done; echo \"done at $n\"";

    private static ApiClient rnd() {
        return DemoIT.installation.user(DemoWorld.RND_MEMBER);
    }

    private static ApiClient devops() {
        return DemoIT.installation.user(DemoWorld.DEVOPS_MEMBER);
    }

    @BeforeAll
    static void letRndBePaused() throws Exception {
        ApiClient admin = DemoIT.installation.user("admin");
        String path = "/v1/tenants/" + DemoWorld.OWNER + "/policies/rnd";
        ApiClient.Answer before = admin.get(path);
        String body = """
                {"group": "/rnd", "quotas": [{"pool": "demo", "reserved": "5", "limit": "9"}],
                 "profiles": ["1gpu", "2gpu", "3gpu"], "grace": "PT5M", "onPreemption": "pause"}
                """;
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpResponse<String> changed = http.send(
                    HttpRequest.newBuilder(
                                    URI.create(DemoIT.installation.running().url() + path))
                            .header("Authorization", "Bearer " + admin.validToken())
                            .header("Content-Type", "application/json")
                            .header("If-Match", before.etag().orElseThrow())
                            .PUT(HttpRequest.BodyPublishers.ofString(body))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(changed.statusCode()).as(changed.body()).isEqualTo(200);
        }
    }

    /** A counting workload, as its owner and its node see it. */
    private record Counter(ApiClient owner, String id) {
        static Counter submit(ApiClient owner, String queue, String name) {
            return new Counter(
                    owner,
                    TestInstallation.submit(
                            owner,
                            Map.of(
                                    "queue",
                                    queue,
                                    "name",
                                    name,
                                    "type",
                                    "training",
                                    "command",
                                    List.of("sh", "-c", COUNT),
                                    "abortCallback",
                                    List.of("sh", "-c", "echo called > \"$QM_CHECKPOINT_DIR/.callback\""))));
        }

        String path() {
            return TestInstallation.workloads() + "/" + id;
        }

        JsonNode details() {
            return owner.require(owner.get(path()));
        }

        String state() {
            return details().path("workload").path("state").asText();
        }

        void await(String state) {
            Awaitility.await()
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(100))
                    .ignoreExceptions()
                    .until(() -> state().equals(state));
        }

        Path file(String name) {
            return DemoIT.installation
                    .data()
                    .resolve("agent/state/tenants")
                    .resolve(DemoWorld.OWNER)
                    .resolve("checkpoints")
                    .resolve(id)
                    .resolve(name);
        }

        List<String> pids() throws IOException {
            return Files.readAllLines(file(".pids"));
        }

        int steps() throws IOException {
            return Files.readAllLines(file(".steps")).size();
        }

        void enough() throws IOException {
            Files.createFile(file(".enough"));
        }

        void awaitSteps(int beyond) {
            Awaitility.await()
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(50))
                    .ignoreExceptions()
                    .until(() -> steps() > beyond);
        }

        boolean hasProcesses() throws IOException {
            for (String pid : pids()) {
                Path stat = Path.of("/proc", pid, "stat");
                if (Files.exists(stat) && !Files.readString(stat).contains(") Z ")) {
                    return true;
                }
            }
            return false;
        }

        void wish(String wish) {
            owner.require(owner.post(path() + "/" + wish, Map.of()));
        }
    }

    /** Three jobs of R&D hold nine GPUs; DevOps then reclaims three of them. */
    private static List<Counter> threeOfRnd() {
        List<Counter> running = new ArrayList<>();
        for (int i = 1; i <= 3; i++) {
            Counter counter = Counter.submit(rnd(), DemoWorld.queue("rnd", 3), "r-" + i);
            counter.await("running");
            counter.awaitSteps(1);
            running.add(counter);
        }
        return running;
    }

    private static void finish(List<Counter> counters) throws IOException {
        for (Counter counter : counters) {
            counter.enough();
            counter.await("succeeded");
        }
    }

    @Test
    @Order(1)
    void aVictimStandsStillAcrossAKilledServiceAndGoesOnInTheSameProcess() throws Exception {
        List<Counter> jobs = threeOfRnd();
        Counter victim = jobs.getLast();
        Counter claimant = Counter.submit(devops(), DemoWorld.queue("devops", 3), "d-1");
        victim.await("paused");
        claimant.await("running");
        int stoodAt = victim.steps();
        JsonNode paused = victim.details();
        assertThat(paused.path("attempts").path(0).path("outcome").asText()).isEqualTo("paused");
        assertThat(paused.path("workload").path("attempts").asInt()).isEqualTo(1);
        assertThat(paused.path("workload").hasNonNull("pausedUntil")).isTrue();
        JsonNode explained = victim.owner().require(victim.owner().get(victim.path() + "/explain"));
        assertThat(explained.path("sentence").asText())
                .contains("was paused at", "is paused: its processes stay on its node", "waits to resume there");
        assertThat(explained.path("position").path("aheadInQueue").asInt()).isZero();

        DemoIT.installation.killService();
        victim.await("paused");
        assertThat(victim.steps()).isEqualTo(stoodAt);
        assertThat(victim.hasProcesses()).isTrue();

        finish(List.of(claimant));
        victim.await("running");
        victim.awaitSteps(stoodAt);
        assertThat(victim.pids()).hasSize(1);
        assertThat(victim.file(".callback")).doesNotExist();
        assertThat(victim.details().path("workload").path("attempts").asInt()).isEqualTo(2);

        finish(jobs);
        List<String> steps = Files.readAllLines(victim.file(".steps"));
        assertThat(steps)
                .isEqualTo(IntStream.rangeClosed(1, steps.size())
                        .mapToObj(Integer::toString)
                        .toList());
        String log = victim.owner()
                .require(victim.owner().get(victim.path() + "/logs?attempt=2"))
                .asText();
        assertThat(log).contains("paused", "continues as attempt", "done at " + steps.size());
        assertThat(DemoIT.installation.run("audit")).isZero();
    }

    @Test
    @Order(2)
    void whatIsCancelledOrHeldWhilePausedLeavesNoProcess() throws Exception {
        List<Counter> jobs = threeOfRnd();
        List<Counter> claimants = new ArrayList<>();
        claimants.add(Counter.submit(devops(), DemoWorld.queue("devops", 3), "d-2"));
        Counter cancelled = jobs.get(2);
        cancelled.await("paused");
        cancelled.wish("cancel");
        cancelled.await("cancelled");
        Awaitility.await().atMost(PATIENCE).until(() -> !cancelled.hasProcesses());

        claimants.add(Counter.submit(devops(), DemoWorld.queue("devops", 2), "d-3"));
        Counter held = jobs.get(1);
        held.await("paused");
        held.wish("hold");
        held.await("held");
        Awaitility.await().atMost(PATIENCE).until(() -> !held.hasProcesses());
        held.wish("release");
        finish(claimants);
        held.await("running");
        Awaitility.await().atMost(PATIENCE).until(() -> held.pids().size() == 2);
        finish(List.of(jobs.get(0), held));
        assertThat(DemoIT.installation.run("audit")).isZero();
    }

    @Test
    @Order(3)
    void whoseProcessesDieWhilePausedStartsAnew() throws Exception {
        List<Counter> jobs = threeOfRnd();
        Counter victim = jobs.getLast();
        Counter claimant = Counter.submit(devops(), DemoWorld.queue("devops", 3), "d-4");
        victim.await("paused");
        ProcessHandle.of(Long.parseLong(victim.pids().getFirst())).orElseThrow().destroyForcibly();
        victim.await("waiting");
        finish(List.of(claimant));
        victim.await("running");
        Awaitility.await().atMost(PATIENCE).until(() -> victim.pids().size() == 2);
        finish(jobs);
    }
}
