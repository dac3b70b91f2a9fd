package io.quartermaster.agent.supervisor;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The data about an attempt that its supervisor needs, and the agent after a restart; written before any process
 * starts.
 *
 * @param launcher programs that start the work in its own session, as the right user; the last is the
 * {@link WorkStarter}
 * @param environment the complete environment; no variable is added
 * @param workFolder the folder in which the work starts: its home and place for scratch files, deleted with the attempt
 * @param checkpointFolder shared by the attempts of a workload, never deleted here
 * @param devices their indices, in the order in which the work counts them
 * @param pausing how it can be paused; empty if it cannot
 * @param tickMillis how often the supervisor checks the lease and looks for a request to stop
 */
public record WorkRecord(
        String attemptId,
        List<String> launcher,
        List<String> command,
        List<String> abortCallback,
        Map<String, String> environment,
        Path workFolder,
        Path checkpointFolder,
        Optional<Long> maxRuntimeMillis,
        long graceMillis,
        long outputLimitBytes,
        List<Integer> devices,
        Optional<GpuSuspender> pausing,
        long tickMillis) {
    private static final int FORMAT_VERSION = 1;

    public void write(Path file) throws IOException {
        StateFile stateFile = new StateFile()
                .with("formatVersion", FORMAT_VERSION)
                .with("attemptId", attemptId)
                .with("launcher", launcher)
                .with("command", command)
                .with("abortCallback", abortCallback)
                .with("environment", environment)
                .with("workFolder", workFolder)
                .with("checkpointFolder", checkpointFolder)
                .with("graceMillis", graceMillis)
                .with("outputLimitBytes", outputLimitBytes)
                .with("devices", devices.stream().map(String::valueOf).toList())
                .with("tickMillis", tickMillis);
        pausing.ifPresent(how -> stateFile.with("pausing", how));
        maxRuntimeMillis.ifPresent(millis -> stateFile.with("maxRuntimeMillis", millis));
        stateFile.writeDurably(file);
    }

    public static Optional<WorkRecord> read(Path file) throws IOException {
        Optional<StateFile> read = StateFile.read(file);
        if (read.isEmpty()) {
            return Optional.empty();
        }
        StateFile stateFile = read.get();
        if (stateFile.number("formatVersion") != FORMAT_VERSION) {
            throw new IOException("%s has format %s, this agent reads %d"
                    .formatted(file, stateFile.text("formatVersion"), FORMAT_VERSION));
        }
        return Optional.of(new WorkRecord(
                stateFile.text("attemptId"),
                stateFile.list("launcher"),
                stateFile.list("command"),
                stateFile.list("abortCallback"),
                stateFile.map("environment"),
                Path.of(stateFile.text("workFolder")),
                Path.of(stateFile.text("checkpointFolder")),
                stateFile.optionalNumber("maxRuntimeMillis"),
                stateFile.number("graceMillis"),
                stateFile.number("outputLimitBytes"),
                stateFile.integers("devices"),
                stateFile.optional("pausing").map(GpuSuspender::parse),
                stateFile.number("tickMillis")));
    }
}
