package io.quartermaster.client.operator;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.connection.OutagePatience;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/** Follows an operation until it has ended, and reports each step that changes its state. */
final class OperationWatch {

    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofMinutes(15);

    private final ServiceConnection service;
    private final PrintWriter err;
    private final Consumer<String> report;
    private final Map<String, String> reported = new HashMap<>();

    OperationWatch(ServiceConnection service, PrintWriter err, Consumer<String> report) {
        this.service = service;
        this.err = err;
        this.report = report;
    }

    /** The operation when it has succeeded. Fails if it fails, or has not ended after a quarter of an hour. */
    JsonNode untilEnd(String id) {
        OutagePatience patience = new OutagePatience(err, OutagePatience.DEFAULT);
        long begun = System.nanoTime();
        while (true) {
            JsonNode operation =
                    service.getPatiently(ServiceConnection.operatorPath("operations", id), Map.of(), patience);
            operation.path("steps").forEach(this::reportStep);
            switch (operation.path("state").asText()) {
                case "succeeded" -> {
                    return operation;
                }
                case "failed" ->
                    throw new CommandFailure(ExitStatus.FAILED, "operation " + id + " failed: " + error(operation));
                default -> {
                    if (System.nanoTime() - begun > LONGEST.toNanos()) {
                        throw new CommandFailure(
                                ExitStatus.FAILED,
                                "operation " + id + " has not ended after 15 minutes and continues; follow it with qm "
                                        + "operations " + id);
                    }
                    pause();
                }
            }
        }
    }

    /** The cause of the last failure, with its step; empty if there is none. */
    static String error(JsonNode operation) {
        JsonNode error = operation.path("error");
        return error.isObject()
                ? error.path("step").asText() + ": " + error.path("message").asText()
                : "";
    }

    private void reportStep(JsonNode step) {
        String name = step.path("name").asText();
        String state = step.path("state").asText();
        String known = reported.put(name, state);
        if (!state.equals("pending") && !state.equals(known)) {
            report.accept(name + ": " + state);
        }
    }

    private static void pause() {
        try {
            Thread.sleep(INTERVAL);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure(ExitStatus.FAILED, "interrupted");
        }
    }
}
