package io.quartermaster.agent.supervisor;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a supervisor needs to know of its attempt, and the agent after a restart; written before anything is started.
 *
 * @param launcher programs that start the work in a session of its own, as the right user; the last is the {@link WorkStarter}
 * @param environment all of it; nothing is added
 * @param workFolder where the work starts: its home and place for scratch files, deleted with the attempt
 * @param checkpointFolder shared by the attempts of a workload, never deleted here
 * @param devices their indices, in the order in which the work counts them
 * @param pausing how it can be paused; empty where it cannot
 * @param tickMillis how often the supervisor looks at the lease and for a request to stop
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
        Optional<Pausing> pausing,
        long tickMillis) {
    private static final int FORMAT_VERSION = 1;

    public void write(Path file) throws IOException {
        Fields fields = new Fields()
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
        pausing.ifPresent(how -> fields.with("pausing", how));
        maxRuntimeMillis.ifPresent(millis -> fields.with("maxRuntimeMillis", millis));
        fields.writeDurably(file);
    }

    public static Optional<WorkRecord> read(Path file) throws IOException {
        Optional<Fields> read = Fields.read(file);
        if (read.isEmpty()) {
            return Optional.empty();
        }
        Fields fields = read.get();
        if (fields.number("formatVersion") != FORMAT_VERSION) {
            throw new IOException("%s has format %s, this agent reads %d"
                    .formatted(file, fields.text("formatVersion"), FORMAT_VERSION));
        }
        return Optional.of(new WorkRecord(
                fields.text("attemptId"),
                fields.list("launcher"),
                fields.list("command"),
                fields.list("abortCallback"),
                fields.map("environment"),
                Path.of(fields.text("workFolder")),
                Path.of(fields.text("checkpointFolder")),
                fields.optionalNumber("maxRuntimeMillis"),
                fields.number("graceMillis"),
                fields.number("outputLimitBytes"),
                fields.integers("devices"),
                fields.optional("pausing").map(Pausing::parse),
                fields.number("tickMillis")));
    }
}
