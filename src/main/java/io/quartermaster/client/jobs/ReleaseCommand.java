package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import picocli.CommandLine.Command;

/** {@code qm release}: lets held workloads start. */
@Command(name = "release", description = "Lets held jobs start.", footer = "%nExample:%n  qm release train-42")
final class ReleaseCommand extends StateChangeCommand {

    ReleaseCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    String action() {
        return "release";
    }

    @Override
    String report(JsonNode workload) {
        return nameOf(workload) + " may start; it is " + workload.path("state").asText() + ".";
    }
}
