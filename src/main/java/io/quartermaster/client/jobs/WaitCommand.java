package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.connection.OutagePatience;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextStyle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code qm wait}: waits until workloads have started or ended. */
@Command(
        name = "wait",
        description = {"Waits until jobs have ended, or have started.", "The outcome of the jobs decides the exit code."
        },
        exitCodeList = {
            "0:all succeeded; with --for started: all have started",
            "1:one failed or was cancelled, or the time is over",
            "2:an option is wrong, or no server is chosen",
            "3:you are not signed in",
            "4:there is no such job, or you may not see it",
            "5:the service refused the request",
            "6:the service or Keycloak does not answer, or failed"
        },
        footer = {"%nExamples:%n", "  qm wait train-42", "  qm wait train-42 --for started --timeout 10m"})
final class WaitCommand extends PersonCommand {

    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** The event to wait for. */
    enum Event {
        STARTED,
        ENDED
    }

    @Parameters(paramLabel = "JOB", arity = "1..*", description = "Ids, beginnings of ids, or names")
    private List<String> jobs = new ArrayList<>();

    @Option(
            names = "--for",
            paramLabel = "EVENT",
            defaultValue = "ended",
            description = "started or ended. Default: ${DEFAULT-VALUE}")
    private Event event = Event.ENDED;

    @Option(names = "--timeout", paramLabel = "TIME", description = "The longest time to wait. Default: no limit")
    private @Nullable String timeout;

    WaitCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        @Nullable Duration limit = timeout == null ? null : Duration.parse(WorkOptions.duration("--timeout", timeout));
        ServiceConnection service = service();
        WorkloadFinder finder = new WorkloadFinder(service);
        List<String> ids = jobs.stream().map(finder::find).distinct().toList();
        OutagePatience patience = new OutagePatience(err(), OutagePatience.DEFAULT);
        long begun = System.nanoTime();
        List<JsonNode> reached = new ArrayList<>();
        for (String id : ids) {
            while (true) {
                Duration outage = limit == null ? OutagePatience.DEFAULT : limit.minusNanos(System.nanoTime() - begun);
                JsonNode workload;
                try {
                    workload = patience.get(() -> service.get(service.path("workloads", id)), outage)
                            .path("workload");
                } catch (CommandFailure e) {
                    if (limit != null && e.status() == ExitStatus.UNAVAILABLE) {
                        throw new CommandFailure(
                                ExitStatus.FAILED, "the end is not known after " + timeout + ": " + e.text());
                    }
                    throw e;
                }
                if (hasReached(workload)) {
                    reached.add(workload);
                    break;
                }
                if (limit != null && System.nanoTime() - begun > limit.toNanos()) {
                    throw new CommandFailure(
                            ExitStatus.FAILED,
                            workload.path("name").asText() + " is still "
                                    + workload.path("state").asText() + " after " + timeout);
                }
                pause();
            }
        }
        ObjectNode document = DocumentWriter.JSON.createObjectNode();
        document.putArray("items").addAll(reached);
        print(
                document,
                ids,
                () -> reached.forEach(workload -> out().println(
                                TextStyle.printable(workload.path("name").asText()) + " "
                                        + style().state(TextStyle.printable(
                                                workload.path("state").asText())))));
        return reached.stream().allMatch(this::isAsWanted) ? ExitStatus.OK : ExitStatus.FAILED;
    }

    private boolean hasReached(JsonNode workload) {
        return WorkloadFinder.hasEnded(workload)
                || (event == Event.STARTED && workload.path("state").asText().equals("running"));
    }

    private boolean isAsWanted(JsonNode workload) {
        String state = workload.path("state").asText();
        return state.equals("succeeded")
                || (event == Event.STARTED && (state.equals("running") || workload.hasNonNull("startedAt")));
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
