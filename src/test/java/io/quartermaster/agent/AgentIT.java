package io.quartermaster.agent;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.quartermaster.agent.AgentConfig.Credentials;
import io.quartermaster.agent.AgentConfig.Devices;
import io.quartermaster.agent.AgentConfig.Pace;
import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.AttemptState.Running;
import io.quartermaster.agent.protocol.Inventory;
import io.quartermaster.agent.protocol.Inventory.Isolation;
import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.agent.protocol.SyncRequest;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** A real agent with real processes; only the service is played. */
class AgentIT {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final long LONG_LEASE = 60_000;
    private static final Pace QUICK = new Pace(20, 2_000, 100, 50, 200, 60_000, 64 * 1024);

    @TempDir(cleanup = CleanupMode.NEVER)
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final List<Process> forked = new ArrayList<>();

    @AfterEach
    void endEverything() throws Exception {
        for (AutoCloseable closeable : open.reversed()) {
            closeable.close();
        }
        forked.forEach(Process::destroyForcibly);
        for (UUID id : attemptFolders()) {
            ProcessGroup.kill(Optional.empty(), id.toString(), 5_000);
        }
    }

    @Test
    void startsAnAttemptOnceHoweverOftenItIsOrdered() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path starts = folder.resolve("starts");
        AttemptOrder order = Orders.shell("echo started >> " + starts + "; exit 0");

        service.order(order);
        Ended end = awaitEnd(service, order);
        for (int repeat = 0; repeat < 5; repeat++) {
            int seen = service.requests().size();
            service.changed();
            await().atMost(PATIENCE).until(() -> service.requests().size() > seen);
        }

        assertThat(end.outcome()).isEqualTo(Outcome.SUCCEEDED);
        assertThat(end.exitCode()).isZero();
        assertThat(Files.readAllLines(starts)).containsExactly("started");
    }

    @Test
    void neverStartsAgainWhatItHasForgotten() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path starts = folder.resolve("starts");
        AttemptOrder order = Orders.shell("echo started >> " + starts);
        service.order(order);
        awaitEnd(service, order);

        service.takenIn(order.attemptId());
        await().atMost(PATIENCE).until(() -> attemptFolders().isEmpty());
        service.order(order);
        await().atMost(PATIENCE).until(() -> service.end(order.attemptId())
                .filter(end -> end.outcome() == Outcome.LOST)
                .isPresent());

        assertThat(Files.readAllLines(starts)).containsExactly("started");
    }

    @Test
    void reportsTheExitCodeOfWorkThatFails() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell("exit 3");

        service.order(order);

        Ended end = awaitEnd(service, order);
        assertThat(end.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(end.exitCode()).isEqualTo(3);
    }

    @Test
    void aKilledAgentsWorkGoesOnAndTheNextAgentReportsItsEnd() throws Exception {
        FakeService service = service(LONG_LEASE);
        Process first = fork(service);
        Path go = folder.resolve("go");
        Path pids = folder.resolve("pids");
        AttemptOrder order = Orders.shell(
                "echo $$ >> %s; while [ ! -e %s ]; do sleep 0.05; done; echo done; exit 7".formatted(pids, go));
        service.order(order);
        awaitRunning(service, order);

        first.destroyForcibly().waitFor();
        assertThat(runs(pid(pids))).isTrue();
        agent(service);
        await().atMost(PATIENCE).until(() -> instances(service) == 2);
        Files.createFile(go);

        Ended end = awaitEnd(service, order);
        assertThat(end.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(end.exitCode()).isEqualTo(7);
        assertThat(Files.readAllLines(pids)).hasSize(1);
        assertThat(service.log(order.attemptId())).contains("done");
    }

    @Test
    void whatEndedWhileNoAgentRanIsReportedByTheNext() throws Exception {
        FakeService service = service(LONG_LEASE);
        Agent first = agent(service);
        Path go = folder.resolve("go");
        AttemptOrder order = Orders.shell("while [ ! -e %s ]; do sleep 0.05; done; exit 4".formatted(go));
        service.order(order);
        awaitRunning(service, order);

        first.close();
        Files.createFile(go);
        Path exit = state().resolve("attempts").resolve(order.attemptId() + "/exit");
        await().atMost(PATIENCE).until(() -> Files.exists(exit));
        agent(service);

        assertThat(awaitEnd(service, order).exitCode()).isEqualTo(4);
    }

    @Test
    void whatWasRecordedAndNotStartedIsLostAndNeverStarted() throws Exception {
        FakeService service = service(LONG_LEASE);
        Path starts = folder.resolve("starts");
        AttemptOrder order = Orders.shell("echo started >> " + starts);
        try (StateFolder crashed = StateFolder.open(state())) {
            Launcher launcher = Launcher.forMachine(Isolation.NONE);
            Path attempt = Files.createDirectory(
                    crashed.attempts().resolve(order.attemptId().toString()));
            new WorkEnvironment(crashed, launcher, 1_024, 20)
                    .describe(order, launcher.forWork(order))
                    .write(new AttemptFolder(attempt).record());
        }
        service.order(order);

        agent(service);

        Ended end = awaitEnd(service, order);
        assertThat(end.outcome()).isEqualTo(Outcome.LOST);
        assertThat(end.startedAtEpochMillis()).isNull();
        assertThat(starts).doesNotExist();
    }

    @Test
    void aSupervisorThatComesTooLateStartsNothing() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path starts = folder.resolve("starts");
        AttemptOrder order = Orders.shell("echo started >> " + starts);
        service.order(order);
        awaitEnd(service, order);

        Path attempt = state().resolve("attempts").resolve(order.attemptId().toString());
        Path program = state().resolve("program");
        Process late;
        try (Stream<Path> jars = Files.list(program)) {
            Path jar = jars.findFirst().orElseThrow();
            late = new ProcessBuilder(java(), "-cp", jar.toString(), Supervisor.class.getName(), attempt.toString())
                    .start();
        }

        assertThat(late.waitFor()).isZero();
        assertThat(Files.readAllLines(starts)).hasSize(1);
    }

    @Test
    void workEndsWithTheLeaseAlthoughTheAgentIsDead() throws Exception {
        FakeService service = service(2_000);
        Process agent = fork(service);
        Path pids = folder.resolve("pids");
        AttemptOrder order = Orders.shell("trap '' TERM; echo $$ > %s; while :; do sleep 0.05; done".formatted(pids));
        service.order(order);
        awaitRunning(service, order);
        long pid = pid(pids);

        agent.destroyForcibly().waitFor();

        await().atMost(PATIENCE).until(() -> !runs(pid));
        agent(service);
        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.LOST);
    }

    @Test
    void workSavesItsStateBeforeALeaseThatIsNotRenewedEnds() throws Exception {
        FakeService service = service(3_000);
        agent(service);
        AttemptOrder order = Orders.withCallback(
                Orders.shell("while :; do sleep 0.05; done"), "echo $QM_STOP_REASON > $QM_CHECKPOINT_DIR/saved");
        service.order(order);
        awaitRunning(service, order);

        service.away(true);
        Path saved = checkpoints().resolve("saved");
        await().atMost(PATIENCE).until(() -> Files.exists(saved) && Files.size(saved) > 0);
        service.away(false);

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.LOST);
        assertThat(saved).hasContent("GIVEN_UP");
    }

    @Test
    void workOutlivesAServiceThatIsAwayForLessThanTheLease() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path go = folder.resolve("go");
        AttemptOrder order = Orders.shell("while [ ! -e %s ]; do sleep 0.05; done".formatted(go));
        service.order(order);
        awaitRunning(service, order);

        service.away(true);
        Files.createFile(go);
        Path exit = state().resolve("attempts").resolve(order.attemptId() + "/exit");
        await().atMost(PATIENCE).until(() -> Files.exists(exit));
        service.away(false);

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.SUCCEEDED);
    }

    @Test
    void aPreemptedAttemptWritesACheckpointThatTheNextOneFinds() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder first = Orders.withCallback(
                Orders.shell("echo 1 > $QM_CHECKPOINT_DIR/step; while :; do sleep 0.05; done"),
                "echo 42 > $QM_CHECKPOINT_DIR/step");
        service.order(first);
        awaitRunning(service, first);
        await().atMost(PATIENCE).until(() -> Files.exists(checkpoints().resolve("step")));

        service.order(Orders.stopped(first, StopReason.PREEMPTED, 10_000));
        Ended end = awaitEnd(service, first);
        AttemptOrder second = Orders.next(first, "echo attempt $QM_ATTEMPT resumes at $(cat $QM_CHECKPOINT_DIR/step)");
        service.order(second);
        awaitEnd(service, second);

        assertThat(end.outcome()).isEqualTo(Outcome.PREEMPTED);
        assertThat(service.log(second.attemptId())).contains("attempt 2 resumes at 42");
        assertThat(service.report(first.attemptId()).orElseThrow().checkpoint())
                .satisfies(checkpoint -> assertThat(checkpoint).isNotNull());
    }

    @Test
    void aCallbackThatHangsIsCutAndTheWorkStillGetsTerm() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.withCallback(
                Orders.shell("trap 'echo got term; exit 0' TERM; while :; do sleep 0.05; done"), "sleep 600");
        service.order(order);
        awaitRunning(service, order);
        long asked = System.nanoTime();

        service.order(Orders.stopped(order, StopReason.CANCELLED, 1_500));

        Ended end = awaitEnd(service, order);
        assertThat(end.outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat(end.exitCode()).isZero();
        assertThat(end.detail()).contains("callback took too long");
        assertThat(service.log(order.attemptId())).contains("got term");
        assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(Duration.ofSeconds(10));
    }

    @Test
    void workThatIgnoresTermIsKilledWithEverythingItStarted() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path pids = folder.resolve("pids");
        AttemptOrder order = Orders.shell(
                "trap '' TERM; setsid sh -c 'echo $$ >> %1$s; exec sleep 600' & echo $$ >> %1$s; while :; do sleep 0.05; done"
                        .formatted(pids));
        service.order(order);
        awaitRunning(service, order);
        await().atMost(PATIENCE)
                .until(() -> Files.exists(pids) && Files.readAllLines(pids).size() == 2);

        service.order(Orders.stopped(order, StopReason.PREEMPTED, 500));

        Ended end = awaitEnd(service, order);
        assertThat(end.outcome()).isEqualTo(Outcome.PREEMPTED);
        assertThat(end.exitCode()).isEqualTo(137);
        for (String pid : Files.readAllLines(pids)) {
            assertThat(runs(Long.parseLong(pid))).isFalse();
        }
    }

    @Test
    void workWhoseSupervisorIsKilledIsKilledTooAndLost() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path pids = folder.resolve("pids");
        AttemptOrder order = Orders.shell("echo $$ > %s; sleep 600 & while :; do sleep 0.05; done".formatted(pids));
        service.order(order);
        awaitRunning(service, order);
        ProcessHandle work = ProcessHandle.of(pid(pids)).orElseThrow();

        work.parent().orElseThrow().destroyForcibly();

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.LOST);
        assertThat(runs(work.pid())).isFalse();
    }

    @Test
    void workIsStoppedWhenItIsNoLongerListed() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell("while :; do sleep 0.05; done");
        service.order(order);
        awaitRunning(service, order);

        service.unlist(order.attemptId());

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.LOST);
    }

    @Test
    void workIsStoppedAtItsMaximumRunTime() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.withMaxRuntime(Orders.shell("while :; do sleep 0.05; done"), 300);

        service.order(order);

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.TIMED_OUT);
    }

    @Test
    void workSeesItsOwnEnvironmentAndNothingOfTheAgents() throws Exception {
        FakeService service = service(LONG_LEASE);
        fork(service); // with the secret in its environment
        AttemptOrder order = Orders.withEnvironment(
                Orders.shell("env | sort; pwd"),
                Map.of("MODEL", "a b", "QM_TENANT", "someone-else", "CUDA_VISIBLE_DEVICES", "7"));

        service.order(order);
        awaitEnd(service, order);

        Path work =
                state().resolve("tenants/acme/work").resolve(order.attemptId().toString());
        List<String> lines = service.log(order.attemptId()).lines().toList();
        assertThat(lines.stream().filter(line -> !line.startsWith("_=") && !line.startsWith("OLDPWD=")))
                .containsExactlyInAnyOrder(
                        "CUDA_DEVICE_ORDER=PCI_BUS_ID",
                        "CUDA_VISIBLE_DEVICES=0,1",
                        "HOME=" + work,
                        "LANG=C.UTF-8",
                        "MODEL=a b",
                        "PATH=" + Commands.PATH,
                        "PWD=" + work,
                        "QM_ATTEMPT=1",
                        "QM_ATTEMPT_ID=" + order.attemptId(),
                        "QM_CHECKPOINT_DIR=" + checkpoints(),
                        "QM_TENANT=acme",
                        "QM_WORKLOAD=" + order.workloadId(),
                        "TMPDIR=" + work,
                        work.toString());
    }

    @Test
    void outputIsKeptUpToItsLimitAndItsEndReported() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo last");

        service.order(order);
        awaitEnd(service, order);

        Path attempt = state().resolve("attempts").resolve(order.attemptId().toString());
        assertThat(service.log(order.attemptId()))
                .endsWith("line 19999\nlast\n")
                .hasSize(16 * 1024);
        assertThat(Output.totalBytes(attempt)).isEqualTo(208_895);
        try (Stream<Path> files = Files.list(attempt)) {
            assertThat(files.filter(file -> file.getFileName().toString().startsWith("output-"))
                            .mapToLong(file -> file.toFile().length())
                            .sum())
                    .isLessThanOrEqualTo(QUICK.outputLimitBytes());
        }
    }

    @Test
    void aCommandThatDoesNotExistFailsWithAReason() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder shell = Orders.shell("");
        AttemptOrder order = new AttemptOrder(
                shell.attemptId(),
                shell.workloadId(),
                shell.tenant(),
                1,
                List.of("/no/such/program"),
                Map.of(),
                List.of(),
                null,
                "model-a",
                List.of(),
                null,
                1_000,
                shell.desired());

        service.order(order);

        Ended end = awaitEnd(service, order);
        assertThat(end.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(end.exitCode()).isEqualTo(127);
        assertThat(service.log(order.attemptId())).contains("/no/such/program");
    }

    @Test
    void anOrderToStopWhatWasNeverStartedIsReportedWithoutStartingIt() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path starts = folder.resolve("starts");
        AttemptOrder order = Orders.stopped(Orders.shell("echo started >> " + starts), StopReason.CANCELLED, 1_000);

        service.order(order);

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat(starts).doesNotExist();
    }

    @Test
    void aRefusedTokenIsReplaced() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        await().atMost(PATIENCE).until(() -> !service.requests().isEmpty());

        service.expireTokens();
        AttemptOrder order = Orders.shell("exit 0");
        service.order(order);

        awaitEnd(service, order);
        assertThat(service.tokensRefused()).isPositive();
    }

    @Test
    void tellsWhatTheNodeHas() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        await().atMost(PATIENCE).until(() -> !service.requests().isEmpty());

        SyncRequest request = service.requests().getFirst();
        assertThat(request.bootId()).isNotBlank();
        assertThat(request.waitMillis()).isZero();
        assertThat(request.inventory().devices())
                .containsExactly(
                        new Inventory.Device(0, "SIM-n1-0", "H100", 81_920, true, false),
                        new Inventory.Device(1, "SIM-n1-1", "H100", 81_920, true, false));
        assertThat(request.inventory().isolation()).isEqualTo(Isolation.NONE);
        assertThat(request.inventory().trustsTenants()).isTrue();
        assertThat(request.inventory().simulated()).isTrue();
    }

    @Test
    void twoAgentsCannotShareAStateFolder() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);

        assertThatThrownBy(() -> agent(service))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("another agent is already using");
    }

    @Test
    void anAgentThatTakesItsWorkAlongEndsItBeforeItIsClosed() throws Exception {
        FakeService service = service(LONG_LEASE);
        Agent agent = Agent.start(config(service, true));
        open.add(agent);
        Path pids = folder.resolve("pids");
        AttemptOrder order = Orders.shell("echo $$ > %s; while :; do sleep 0.05; done".formatted(pids));
        service.order(order);
        awaitRunning(service, order);

        agent.close();

        assertThat(runs(pid(pids))).isFalse();
        assertThat(service.end(order.attemptId())).isPresent();
    }

    private FakeService service(long leaseMillis) throws IOException {
        FakeService service = new FakeService(leaseMillis);
        open.add(service);
        return service;
    }

    private Agent agent(FakeService service) throws IOException {
        Agent agent = Agent.start(config(service, false));
        open.add(agent);
        return agent;
    }

    private AgentConfig config(FakeService service, boolean stopsWorkOnClose) {
        return new AgentConfig(
                service.address(),
                "n1",
                new Credentials(service.tokenEndpoint(), "node-n1", FakeService.SECRET),
                state(),
                new Devices.Simulated(2, "H100", 81_920),
                Isolation.NONE,
                true,
                stopsWorkOnClose,
                QUICK,
                line -> {});
    }

    /** An agent in a process of its own, which can be killed. */
    private Process fork(FakeService service) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                        java(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        AgentCommand.class.getName(),
                        "--server=" + service.address(),
                        "--node=n1",
                        "--token-url=" + service.tokenEndpoint(),
                        "--client-id=node-n1",
                        "--state-dir=" + state(),
                        "--isolation=none",
                        "--trust-tenants",
                        "--simulated-gpus=2")
                .redirectErrorStream(true)
                .redirectOutput(new File(folder.toFile(), "agent.log"));
        builder.environment().put("QM_AGENT_SECRET", FakeService.SECRET);
        Process process = builder.start();
        forked.add(process);
        return process;
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private Path state() {
        return folder.resolve("state");
    }

    private Path checkpoints() {
        return state().resolve("tenants/acme/checkpoints/model-a");
    }

    private List<UUID> attemptFolders() throws IOException {
        Path attempts = state().resolve("attempts");
        if (!Files.exists(attempts)) {
            return List.of();
        }
        try (Stream<Path> folders = Files.list(attempts)) {
            return folders.map(path -> UUID.fromString(path.getFileName().toString()))
                    .toList();
        }
    }

    private static long instances(FakeService service) {
        return service.requests().stream()
                .map(SyncRequest::instanceId)
                .distinct()
                .count();
    }

    private static long pid(Path file) throws IOException {
        await().atMost(PATIENCE).until(() -> Files.exists(file) && Files.size(file) > 1);
        return Long.parseLong(Files.readAllLines(file).getFirst());
    }

    /** Not so for a zombie: it waits to be collected by its parent, and does nothing more. */
    private static boolean runs(long pid) throws IOException {
        Path stat = Path.of("/proc", Long.toString(pid), "stat");
        try {
            return !Files.readString(stat).contains(") Z ");
        } catch (NoSuchFileException e) {
            return !Files.exists(Path.of("/proc/self")) && ProcessHandle.of(pid).isPresent();
        }
    }

    private static void awaitRunning(FakeService service, AttemptOrder order) {
        await().atMost(PATIENCE).pollInterval(10, MILLISECONDS).until(() -> service.state(order.attemptId())
                .filter(Running.class::isInstance)
                .isPresent());
    }

    private static Ended awaitEnd(FakeService service, AttemptOrder order) {
        await().atMost(PATIENCE).pollInterval(10, MILLISECONDS).until(() -> service.end(order.attemptId())
                .isPresent());
        return service.end(order.attemptId()).orElseThrow();
    }
}
