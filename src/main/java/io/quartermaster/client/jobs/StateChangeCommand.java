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
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A command that changes the state of some workloads, one after the other. */
abstract class StateChangeCommand extends PersonCommand {

    /** The states of work without processes. */
    private static final Set<String> IDLE_STATES = Set.of("held", "waiting");

    private static final Duration INTERVAL = Duration.ofMillis(100);
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    @Parameters(paramLabel = "JOB", arity = "1..*", description = "Ids, beginnings of ids, or names")
    private List<String> jobs = new ArrayList<>();

    @Option(names = "--dry-run", description = "Check everything and change nothing")
    private boolean dryRun;

    StateChangeCommand(ClientEnvironment environment) {
        super(environment);
    }

    /** The last step of the path, such as {@code cancel}. */
    abstract String action();

    /** The sentence that reports the change of a workload. */
    abstract String report(JsonNode workload);

    /** Further parameters of the request. */
    Map<String, String> query() {
        return Map.of();
    }

    /** All jobs are found before the first one is changed. A refusal of one does not keep the others from changing. */
    @Override
    protected final ExitStatus run() {
        Map<String, String> query = new LinkedHashMap<>(query());
        if (dryRun) {
            query.put("dryRun", "true");
        }
        ServiceConnection service = service();
        WorkloadFinder finder = new WorkloadFinder(service);
        Map<String, String> words = new LinkedHashMap<>();
        jobs.forEach(word -> words.putIfAbsent(finder.findToChange(word), word));
        List<String> ids = List.copyOf(words.keySet());
        List<JsonNode> changed = new ArrayList<>();
        ExitStatus worst = ExitStatus.OK;
        for (String id : ids) {
            try {
                JsonNode answer = service.post(service.path("workloads", id, action()), query, null);
                changed.add(dryRun ? resource(answer) : awaitChange(service, id, answer));
            } catch (CommandFailure e) {
                if (ids.size() == 1) {
                    throw e;
                }
                err().println("qm: " + TextStyle.printable(words.getOrDefault(id, id)) + ": "
                        + TextStyle.printable(e.text()));
                worst = worse(worst, e.status());
            }
        }
        ObjectNode document = DocumentWriter.JSON.createObjectNode();
        document.putArray("items").addAll(changed);
        print(
                ids.size() == 1 && !changed.isEmpty() ? changed.getFirst() : document,
                changed.stream().map(workload -> workload.path("id").asText()).toList(),
                () -> changed.forEach(workload ->
                        out().println(dryRun ? "The service would do this. Nothing was changed." : report(workload))));
        return worst;
    }

    /** The status with the higher code: a service that does not answer counts more than a refusal. */
    private static ExitStatus worse(ExitStatus one, ExitStatus other) {
        return one.code() >= other.code() ? one : other;
    }

    private static JsonNode resource(JsonNode dryRunAnswer) {
        return dryRunAnswer.path("resource").isObject() ? dryRunAnswer.path("resource") : dryRunAnswer;
    }

    /**
     * The service carries out a wish about work that does not run with its next plan. So the answer and a list
     * afterwards show the new state, unless no plan is made within {@link #PATIENCE}.
     */
    private static JsonNode awaitChange(ServiceConnection service, String id, JsonNode answer) {
        long begun = System.nanoTime();
        JsonNode workload = answer;
        while (workload.hasNonNull("wish")
                && IDLE_STATES.contains(workload.path("state").asText())
                && System.nanoTime() - begun < PATIENCE.toNanos()) {
            try {
                Thread.sleep(INTERVAL);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return workload;
            }
            try {
                workload = service.get(service.path("workloads", id)).path("workload");
            } catch (CommandFailure e) {
                // The service took the request; only what became of it is not known yet.
                return workload;
            }
        }
        return workload;
    }

    static String nameOf(JsonNode workload) {
        return TextStyle.printable(workload.path("name").asText());
    }
}
