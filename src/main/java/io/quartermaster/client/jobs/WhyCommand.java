package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.LocalTimes;
import io.quartermaster.client.output.TextStyle;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code qm why}: explains why a workload waits, runs or stops. */
@Command(
        name = "why",
        description = {
            "Explains in words why a job waits, runs or stops, what you can do, and when it is likely to start.",
            "Times are those of your time zone."
        },
        footer = "%nExample:%n  qm why train-42")
final class WhyCommand extends PersonCommand {

    @Parameters(paramLabel = "JOB", description = "Id, beginning of the id, or name")
    private String job = "";

    WhyCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        ServiceConnection service = service();
        String id = new WorkloadFinder(service).find(job);
        JsonNode explanation = service.get(service.path("workloads", id, "explain"));
        print(explanation, List.of(id), () -> lines(explanation, times()).forEach(out()::println));
        return ExitStatus.OK;
    }

    /** The explanation in lines: the sentence of the service, then what the sentence leaves out. */
    static List<String> lines(JsonNode explanation, LocalTimes times) {
        List<String> lines = new ArrayList<>();
        lines.add(times.inSentence(explanation.path("sentence").asText()));
        for (int i = 1; i < explanation.path("reasons").size(); i++) {
            JsonNode reason = explanation.path("reasons").path(i);
            lines.add("In pool " + reason.path("pool").asText() + ": "
                    + times.inSentence(reason.path("sentence").asText()) + " "
                    + times.inSentence(reason.path("remedy").asText()));
        }
        JsonNode position = explanation.path("position");
        if (!position.isMissingNode()) {
            lines.add("Position: " + (position.path("aheadInQueue").asLong() + 1) + " of "
                    + position.path("waitingInQueue").asLong() + " in its queue; "
                    + position.path("aheadInGroup").asLong() + " of its group before it.");
        }
        JsonNode outlook = explanation.path("outlook");
        JobTable.instant(outlook, "startsAt")
                .ifPresent(at -> lines.add("Likely start: " + times.at(at) + " (" + times.relative(at) + ")."));
        if (outlook.isObject() && !outlook.hasNonNull("startsAt")) {
            lines.add("There is no forecast of its start: too little of the running work has a maximum run time.");
        }
        for (JsonNode pool : outlook.path("pools")) {
            holders(pool).ifPresent(lines::add);
            JobTable.instant(pool, "roomAt")
                    .ifPresent(
                            at -> lines.add("Room in pool " + pool.path("pool").asText() + ": " + times.at(at)
                                    + " at the latest (" + times.relative(at) + ")."));
        }
        return lines.stream().map(TextStyle::printable).toList();
    }

    private static Optional<String> holders(JsonNode pool) {
        List<String> names = new ArrayList<>();
        pool.path("holders")
                .forEach(holder -> names.add(holder.path("name").asText() + " ("
                        + holder.path("submittedBy").asText() + ", "
                        + holder.path("queue").asText() + ")"));
        if (names.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of("In pool " + pool.path("pool").asText() + " these hold GPUs that it needs: "
                + String.join(", ", names)
                + (pool.path("heldByOthers").asBoolean() ? ", and work of other tenants" : "") + ".");
    }
}
