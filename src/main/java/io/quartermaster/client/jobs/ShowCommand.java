package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.LocalTimes;
import io.quartermaster.client.output.ReadableDuration;
import io.quartermaster.client.output.TextStyle;
import io.quartermaster.client.output.TextTable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code qm show}: shows one workload. */
@Command(
        name = "show",
        description = "Shows a job with its command and its attempts.",
        footer = {"%nExample:%n", "  qm show train-42", "  qm show train-42 -o yaml"})
final class ShowCommand extends PersonCommand {

    @Parameters(paramLabel = "JOB", description = "Id, beginning of the id, or name")
    private String job = "";

    ShowCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        ServiceConnection service = service();
        String id = new WorkloadFinder(service).find(job);
        JsonNode details = service.get(service.path("workloads", id));
        print(details, List.of(id), () -> printDetails(details));
        return ExitStatus.OK;
    }

    private void printDetails(JsonNode details) {
        JsonNode workload = details.path("workload");
        LocalTimes times = times();
        line("Name", workload.path("name").asText());
        line("Id", workload.path("id").asText());
        String reason =
                workload.path("reason").asText(workload.path("endReason").asText(""));
        styledLine(
                "State",
                style().state(TextStyle.printable(workload.path("state").asText()))
                        + (reason.isEmpty() ? "" : TextStyle.printable(" (" + times.inSentence(reason) + ")")));
        line(
                "Queue",
                workload.path("queue").asText() + ", group "
                        + workload.path("group").asText() + ", profile "
                        + workload.path("profile").asText());
        line(
                "Type",
                workload.path("type").asText() + ", priority "
                        + workload.path("priority").asInt() + ", "
                        + (workload.path("preemptible").asBoolean() ? "preemptible" : "not preemptible")
                        + (workload.path("dedicatedOnly").asBoolean() ? ", only within reserved" : ""));
        line(
                "GPUs",
                workload.path("gpus").asText("")
                        + (workload.hasNonNull("heldGpus")
                                ? ", holds " + workload.path("heldGpus").asText()
                                : ""));
        if (workload.hasNonNull("maxRuntime")) {
            line(
                    "Max run",
                    ReadableDuration.format(
                            Duration.parse(workload.path("maxRuntime").asText())));
        }
        line("By", workload.path("submittedBy").asText());
        for (String field : List.of("submittedAt", "startedAt", "endedAt")) {
            JobTable.instant(workload, field)
                    .ifPresent(at -> line(label(field, workload), times.at(at) + " (" + times.relative(at) + ")"));
        }
        line("Command", command(details.path("command")));
        details.path("environment")
                .properties()
                .forEach(variable -> line(
                        "Env", variable.getKey() + "=" + variable.getValue().asText()));
        workload.path("labels")
                .properties()
                .forEach(label ->
                        line("Label", label.getKey() + "=" + label.getValue().asText()));
        if (!details.path("attempts").isEmpty()) {
            out().println();
            printTable(attempts(details, times));
        }
    }

    /** A job between two attempts has a start, but not a present one. */
    private static String label(String field, JsonNode workload) {
        return switch (field) {
            case "submittedAt" -> "Submitted";
            case "startedAt" -> JobTable.ranLast(workload) ? "Started" : "Last start";
            default -> "Ended";
        };
    }

    private TextTable attempts(JsonNode details, LocalTimes times) {
        TextTable table =
                new TextTable(style(), "ATTEMPT", "STATE", "POOL", "GPUS", "STARTED", "ENDED", "EXIT", "STOPPED FOR");
        for (JsonNode attempt : details.path("attempts")) {
            table.add(
                    attempt.path("number").asText(),
                    attempt.path("outcome").asText(attempt.path("state").asText()),
                    attempt.path("pool").asText(),
                    attempt.path("gpus").asText(),
                    JobTable.instant(attempt, "startedAt").map(times::at).orElse(""),
                    JobTable.instant(attempt, "endedAt").map(times::at).orElse(""),
                    attempt.path("exitCode").asText(""),
                    attempt.path("stopReason").asText(""));
        }
        return table;
    }

    private void line(String what, String text) {
        styledLine(what, TextStyle.printable(text));
    }

    /** As {@link #line}, for a text that has colours and is printable already. */
    private void styledLine(String what, String text) {
        out().println(String.format("%-10s ", what) + (text.isEmpty() ? "-" : text));
    }

    /** The command as a shell would read it. */
    static String command(JsonNode words) {
        List<String> quoted = new ArrayList<>();
        words.forEach(word -> quoted.add(quoted(TextStyle.printable(word.asText()))));
        return String.join(" ", quoted);
    }

    private static String quoted(String word) {
        return word.matches("[A-Za-z0-9_./:=@%+,-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
