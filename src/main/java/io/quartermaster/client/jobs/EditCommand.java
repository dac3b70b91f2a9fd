package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.connection.ServiceReply;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextStyle;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code qm edit}: changes a waiting workload. */
@Command(
        name = "edit",
        description = "Changes a job that waits: its queue, its priority, its maximum run time, its labels.",
        footer = {
            "%nExamples:%n",
            "  qm edit train-42 --priority 60",
            "  qm edit train-42 -q nlp-2gpu --max-runtime none"
        })
final class EditCommand extends PersonCommand {

    @Parameters(paramLabel = "JOB", description = "Id, beginning of the id, or name")
    private String job = "";

    @Option(
            names = {"-q", "--queue"},
            paramLabel = "QUEUE",
            description = "Move it to this queue")
    private @Nullable String queue;

    @Option(names = "--priority", paramLabel = "N", description = "Higher goes first within your group")
    private @Nullable Integer priority;

    @Option(names = "--max-runtime", paramLabel = "TIME", description = "Stop it after this time, such as 2h, or none")
    private @Nullable String maxRuntime;

    @Option(
            names = {"-l", "--label"},
            paramLabel = "KEY=VALUE",
            description = "Label to add or to replace")
    private List<String> labels = new ArrayList<>();

    @Option(names = "--remove-label", paramLabel = "KEY", description = "Label to remove")
    private List<String> removedLabels = new ArrayList<>();

    @Option(names = "--dry-run", description = "Check everything and change nothing")
    private boolean dryRun;

    EditCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        ObjectNode patch = patch();
        ServiceConnection service = service();
        String id = new WorkloadFinder(service).findToChange(job);
        String path = service.path("workloads", id);
        ServiceReply present = ServiceConnection.require(service.send("GET", path, Map.of(), null, Map.of()));
        Map<String, String> headers = new LinkedHashMap<>();
        present.etag().ifPresent(version -> headers.put("If-Match", version));
        headers.put("Content-Type", "application/merge-patch+json");
        Map<String, String> query = dryRun ? Map.of("dryRun", "true") : Map.of();
        JsonNode changed = ServiceConnection.require(service.send("PATCH", path, query, patch, headers))
                .body();
        String name =
                TextStyle.printable(present.body().path("workload").path("name").asText());
        print(changed, List.of(id), () -> out().println(
                        dryRun ? "The service would do this. Nothing was changed." : name + " is changed."));
        return ExitStatus.OK;
    }

    private ObjectNode patch() {
        ObjectNode patch = DocumentWriter.JSON.createObjectNode();
        if (queue != null) {
            patch.put("queue", queue);
        }
        if (priority != null) {
            patch.put("priority", priority);
        }
        if (maxRuntime != null) {
            WorkOptions.putMaxRuntime(patch, maxRuntime);
        }
        if (!labels.isEmpty() || !removedLabels.isEmpty()) {
            ObjectNode changes = patch.putObject("labels");
            removedLabels.forEach(changes::putNull);
            JobOptions.pairs("--label", labels, Map.of()).forEach(changes::put);
        }
        if (patch.isEmpty()) {
            throw CommandFailure.usage("nothing to change is given; see qm edit --help");
        }
        return patch;
    }
}
