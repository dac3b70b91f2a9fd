package io.quartermaster.embedded;

import io.quartermaster.launch.Component;
import io.quartermaster.launch.StartFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The agent program for this machine, as a process of its own. It and its work continue when the service is killed, and
 * the next start of the service adopts them. When the service ends regularly, the agent ends together with its work.
 */
public final class EmbeddedAgent implements EmbeddedProgram {

    private static final String NAME = Component.AGENT.program();

    /** Longer than the grace of the work. */
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(45);

    private final ManagedProcess managedProcess;

    private EmbeddedAgent(ManagedProcess managedProcess) {
        this.managedProcess = managedProcess;
    }

    /**
     * The settings of the agent.
     *
     * @param launch the command that starts the agent, up to its options
     * @param secretFile the credential of its node
     * @param confinement further options, which confine the work
     */
    public record Settings(
            List<String> launch,
            String server,
            String node,
            String tokenUrl,
            String clientId,
            Path secretFile,
            int simulatedGpus,
            List<String> confinement) {
        public Settings {
            launch = List.copyOf(launch);
            confinement = List.copyOf(confinement);
        }
    }

    static EmbeddedAgent start(DataFolder folder, Settings settings) {
        Path root = folder.resolve(NAME);
        try {
            Files.createDirectories(root);
        } catch (IOException e) {
            throw new StartFailure("Cannot create " + root + ": " + e.getMessage(), e);
        }
        List<String> command = new ArrayList<>(settings.launch());
        command.addAll(List.of(
                "--server",
                settings.server(),
                "--node",
                settings.node(),
                "--token-url",
                settings.tokenUrl(),
                "--client-id",
                settings.clientId(),
                "--client-secret-file",
                settings.secretFile().toString(),
                "--state-dir",
                root.resolve("state").toString(),
                "--simulated-gpus",
                Integer.toString(settings.simulatedGpus()),
                // All tenants of a demonstration share this one machine.
                "--isolation",
                "none",
                "--trust-tenants",
                "--stop-work-on-exit"));
        command.addAll(settings.confinement());
        ManagedProcess.Spec spec = new ManagedProcess.Spec(
                Component.AGENT.title(), command, Map.of(), root, folder.log(NAME), folder.pidFile(NAME), "1");
        Optional<ManagedProcess> running = ManagedProcess.adopt(spec);
        if (running.isPresent()) {
            return new EmbeddedAgent(running.get());
        }
        endLeftover(folder);
        return new EmbeddedAgent(ManagedProcess.start(spec));
    }

    static void endLeftover(DataFolder folder) {
        ManagedProcess.endRecorded(Component.AGENT.title(), folder.pidFile(NAME), StopSignal.TERMINATE, STOP_TIMEOUT);
    }

    @Override
    public ManagedProcess process() {
        return managedProcess;
    }

    @Override
    public void close() {
        managedProcess.stop(StopSignal.TERMINATE, STOP_TIMEOUT);
    }
}
