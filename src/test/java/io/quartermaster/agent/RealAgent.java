package io.quartermaster.agent;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.awaitility.Awaitility.await;

import io.quartermaster.agent.AgentConfig.Credentials;
import io.quartermaster.agent.AgentConfig.Devices;
import io.quartermaster.agent.AgentConfig.Pace;
import io.quartermaster.agent.AgentConfig.PauseSettings;
import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.AttemptState.Running;
import io.quartermaster.agent.protocol.Inventory.Isolation;
import io.quartermaster.agent.protocol.SyncRequest;
import io.quartermaster.agent.supervisor.ProcessGroup;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** A real agent with real processes and a fake service. After each test, none of its processes is left. */
abstract class RealAgent {
    static final Duration PATIENCE = Duration.ofSeconds(60);
    static final long LONG_LEASE = 60_000;
    static final Pace QUICK = new Pace(20, 2_000, 100, 50, 200, 60_000, 64 * 1024);

    @TempDir(cleanup = CleanupMode.NEVER)
    @SuppressWarnings("NullAway.Init")
    Path folder;

    final List<AutoCloseable> open = new ArrayList<>();
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

    FakeService service(long leaseMillis) throws IOException {
        FakeService service = new FakeService(leaseMillis);
        open.add(service);
        return service;
    }

    Agent agent(FakeService service) throws IOException {
        Agent agent = Agent.start(config(service, Isolation.NONE, false));
        open.add(agent);
        return agent;
    }

    AgentConfig config(FakeService service, Isolation isolation, boolean stopsWorkOnClose) {
        return config(service, isolation, isolation == Isolation.NONE, stopsWorkOnClose);
    }

    AgentConfig config(FakeService service, Isolation isolation, boolean trustsTenants, boolean stopsWorkOnClose) {
        return config(service, isolation, trustsTenants, stopsWorkOnClose, PauseSettings.DEFAULT);
    }

    AgentConfig config(
            FakeService service,
            Isolation isolation,
            boolean trustsTenants,
            boolean stopsWorkOnClose,
            PauseSettings paused) {
        return new AgentConfig(
                service.address(),
                "n1",
                new Credentials(service.tokenEndpoint(), "node-n1", FakeService.SECRET),
                state(),
                new Devices.Simulated(2, "H100", 81_920, false),
                isolation,
                trustsTenants,
                stopsWorkOnClose,
                paused,
                AgentConfig.WorkSettings.DEFAULT,
                QUICK,
                line -> {});
    }

    AgentConfig config(FakeService service, AgentConfig.WorkSettings work) {
        return new AgentConfig(
                service.address(),
                "n1",
                new Credentials(service.tokenEndpoint(), "node-n1", FakeService.SECRET),
                state(),
                new Devices.Simulated(2, "H100", 81_920, false),
                Isolation.NONE,
                true,
                false,
                PauseSettings.DEFAULT,
                work,
                QUICK,
                line -> {});
    }

    /** Starts an agent in its own process, which can be killed. */
    Process fork(FakeService service) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                        java(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
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

    static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    Path state() {
        return folder.resolve("state");
    }

    Path checkpoints() {
        return state().resolve("tenants/acme/checkpoints/model-a");
    }

    List<UUID> attemptFolders() throws IOException {
        Path attempts = state().resolve("attempts");
        if (!Files.exists(attempts)) {
            return List.of();
        }
        try (Stream<Path> folders = Files.list(attempts)) {
            return folders.map(path -> UUID.fromString(path.getFileName().toString()))
                    .toList();
        }
    }

    static long instances(FakeService service) {
        return service.requests().stream()
                .map(SyncRequest::instanceId)
                .distinct()
                .count();
    }

    static long pid(Path file) throws IOException {
        await().atMost(PATIENCE).until(() -> Files.exists(file) && Files.size(file) > 1);
        return Long.parseLong(Files.readAllLines(file).getFirst());
    }

    /** Whether the process runs; false for a zombie, which only waits for its parent. */
    static boolean runs(long pid) throws IOException {
        Path stat = Path.of("/proc", Long.toString(pid), "stat");
        try {
            return !Files.readString(stat).contains(") Z ");
        } catch (NoSuchFileException e) {
            return !Files.exists(Path.of("/proc/self")) && ProcessHandle.of(pid).isPresent();
        }
    }

    static void awaitRunning(FakeService service, AttemptOrder order) {
        await().atMost(PATIENCE).pollInterval(10, MILLISECONDS).until(() -> service.state(order.attemptId())
                .filter(Running.class::isInstance)
                .isPresent());
    }

    static Ended awaitEnd(FakeService service, AttemptOrder order) {
        return await().atMost(PATIENCE)
                .pollInterval(10, MILLISECONDS)
                .until(() -> service.end(order.attemptId()), Optional::isPresent)
                .orElseThrow();
    }
}
