package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code qm cancel}: ends workloads. */
@Command(
        name = "cancel",
        description = {
            "Ends jobs. One that waits ends immediately.",
            "One that runs is asked to stop, and keeps its GPUs for the grace of its policy at most."
        },
        footer = {"%nExamples:%n", "  qm cancel train-42", "  qm cancel train-42 --grace 0s"})
final class CancelCommand extends StateChangeCommand {

    @Option(
            names = "--grace",
            paramLabel = "TIME",
            description = "The longest time to stop, if shorter than that of its policy; 0s kills it")
    private @Nullable String grace;

    CancelCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    String action() {
        return "cancel";
    }

    @Override
    Map<String, String> query() {
        return grace == null ? Map.of() : Map.of("grace", WorkOptions.duration("--grace", grace));
    }

    @Override
    String report(JsonNode workload) {
        return WorkloadFinder.hasEnded(workload)
                ? nameOf(workload) + " is cancelled."
                : nameOf(workload) + " is asked to stop.";
    }
}
