package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.LocalTimes;
import io.quartermaster.client.output.ReadableDuration;
import io.quartermaster.client.output.TextStyle;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code qm try}: forecasts what would happen to a workload, without submitting it. */
@Command(
        name = "try",
        description = {
            "Forecasts when a job would start if you submitted it now, and what it would stop. It submits nothing.",
            "The forecast begins with the present work; no other work arrives in it."
        },
        footer = {"%nExamples:%n", "  qm try -q nlp-8gpu --max-runtime 4h", "  qm try -q nlp-1gpu --count 20"})
final class TryCommand extends PersonCommand {

    /** A start within this time of the simulated present is immediate. */
    private static final Duration NOW = Duration.ofSeconds(1);

    @Mixin
    private WorkOptions work = new WorkOptions();

    @Option(names = "--count", paramLabel = "N", description = "How many such jobs. Default: 1")
    private @Nullable Integer count;

    @Option(
            names = "--horizon",
            paramLabel = "TIME",
            description = "How far to look ahead. Default: a day, or as configured")
    private @Nullable String horizon;

    TryCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        if (work.queue() == null) {
            throw CommandFailure.usage("no queue is given: add -q QUEUE; qm queues lists yours");
        }
        ObjectNode question = DocumentWriter.JSON.createObjectNode();
        ObjectNode workload = question.putArray("workloads").addObject();
        work.writeTo(workload);
        if (count != null) {
            workload.put("count", count);
        }
        if (horizon != null) {
            question.put("horizon", WorkOptions.duration("--horizon", horizon));
        }
        ServiceConnection service = service();
        JsonNode answer = service.post(service.path("simulations"), Map.of(), question);
        List<String> names = new ArrayList<>();
        answer.path("workloads").forEach(one -> names.add(one.path("name").asText()));
        print(answer, names, () -> lines(answer, times()).forEach(out()::println));
        return ExitStatus.OK;
    }

    static List<String> lines(JsonNode answer, LocalTimes times) {
        List<String> lines = new ArrayList<>();
        for (JsonNode workload : answer.path("workloads")) {
            String name = answer.path("workloads").size() == 1
                    ? "The job"
                    : workload.path("name").asText();
            if (workload.hasNonNull("startsAt")) {
                lines.add(name + " would start " + start(workload, answer, times) + " in pool "
                        + workload.path("pool").asText() + ".");
            } else {
                lines.add("No start of " + (name.equals("The job") ? "the job" : name) + " was found "
                        + horizon(answer) + " (until "
                        + times.at(Instant.parse(answer.path("until").asText())) + ").");
            }
            for (JsonNode reason : workload.path("reasons")) {
                lines.add("  " + times.inSentence(reason.path("sentence").asText()) + " "
                        + times.inSentence(reason.path("remedy").asText()));
            }
            JobTable.instant(workload, "stopsAt")
                    .ifPresent(at -> lines.add("  It would be stopped at " + times.at(at) + " ("
                            + workload.path("stopCause").asText("") + ")."));
        }
        if (answer.path("workloads").valueStream().anyMatch(one -> !one.hasNonNull("startsAt"))) {
            lines.add("  In a forecast, running work ends at its maximum run time, and without one not at all. The job"
                    + " can start earlier if such work ends before.");
            if (!answer.path("complete").asBoolean(true)) {
                lines.add("  The service ended the forecast early, at its time limit.");
            }
        }
        int differences = answer.path("differences").size()
                + answer.path("differencesLeftOut").asInt();
        if (differences > 0) {
            lines.add("It would change the fate of " + differences + (differences == 1 ? " job" : " jobs")
                    + " of your tenant; -o json lists them.");
        }
        answer.path("warnings").forEach(warning -> lines.add("Warning: " + warning.asText()));
        return lines.stream().map(TextStyle::printable).toList();
    }

    /** The time that the forecast reaches, such as {@code within the next 24h}. */
    private static String horizon(JsonNode answer) {
        Duration length = Duration.between(
                Instant.parse(answer.path("asOf").asText()),
                Instant.parse(answer.path("until").asText()));
        boolean wholeHours = length.toHours() > 0 && length.equals(Duration.ofHours(length.toHours()));
        return "within the next " + (wholeHours ? length.toHours() + "h" : ReadableDuration.format(length));
    }

    /** When a simulated workload starts: {@code now}, a time, or that none was found. */
    static String start(JsonNode workload, JsonNode answer, LocalTimes times) {
        if (!workload.hasNonNull("startsAt")) {
            return "none found " + horizon(answer);
        }
        Instant at = Instant.parse(workload.path("startsAt").asText());
        Instant present = Instant.parse(answer.path("asOf").asText());
        return at.isAfter(present.plus(NOW)) ? "at " + times.at(at) + " (" + times.relative(at) + ")" : "now";
    }
}
