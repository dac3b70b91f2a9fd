package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextStyle;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code qm logs}: prints the output of a workload. */
@Command(
        name = "logs",
        description = "Prints the end of a job's output, standard and error output together.",
        footer = {"%nExamples:%n", "  qm logs -f train-42", "  qm logs train-42 --attempt 1 --tail 500"})
final class LogsCommand extends PersonCommand {

    private static final int MOST_BYTES = 65_536;

    @Parameters(paramLabel = "JOB", description = "Id, beginning of the id, or name")
    private String job = "";

    @Option(
            names = {"-f", "--follow"},
            description = "Continue until the job ends")
    private boolean follow;

    @Option(names = "--attempt", paramLabel = "N", description = "Number of the attempt. Default: the newest")
    private @Nullable Integer attempt;

    @Option(
            names = "--tail",
            paramLabel = "BYTES",
            description = "The most bytes to print, from the end. Default: all that is stored, 16 KiB of each node")
    private @Nullable Integer tail;

    LogsCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        ServiceConnection service = service();
        if (follow && (!isTable() || tail != null)) {
            throw new CommandFailure(
                    ExitStatus.USAGE, "--follow prints text, all that is stored: leave out -o and --tail");
        }
        String id = new WorkloadFinder(service).find(job);
        if (follow) {
            new JobWatch(service, out(), err(), style(), times(), environment().terminal()).followOutput(id, attempt);
            return ExitStatus.OK;
        }
        Map<String, String> query = new LinkedHashMap<>();
        query.put("bytes", Integer.toString(tail == null ? MOST_BYTES : tail));
        if (attempt != null) {
            query.put("attempt", attempt.toString());
        }
        JsonNode text = service.get(service.path("workloads", id, "logs"), query);
        ObjectNode document =
                DocumentWriter.JSON.createObjectNode().put("workload", id).put("text", text.asText(""));
        print(document, List.of(id), () -> out().print(
                        environment().terminal() ? TextStyle.harmlessLines(text.asText("")) : text.asText("")));
        return ExitStatus.OK;
    }
}
