package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import picocli.CommandLine.Command;

/** {@code qm hold}: keeps workloads from starting. */
@Command(
        name = "hold",
        description = "Keeps jobs from starting until qm release. A job that runs continues.",
        footer = "%nExample:%n  qm hold train-42")
final class HoldCommand extends StateChangeCommand {

    HoldCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    String action() {
        return "hold";
    }

    @Override
    String report(JsonNode workload) {
        return workload.path("state").asText().equals("held")
                ? nameOf(workload) + " is held. Let it start with: " + called() + " release"
                : nameOf(workload) + " is " + workload.path("state").asText() + "; it is held when it waits again.";
    }
}
