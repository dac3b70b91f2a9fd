package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.commands.TokenClaims;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.ExitStatus;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code qm list}: lists workloads. */
@Command(
        name = "list",
        description = {
            "Lists the tenant's jobs that have not ended, the newest first.",
            "A job is named by its id, by the beginning of its id, or by its name."
        },
        footer = {"%nExamples:%n", "  qm list --mine", "  qm list --all -q nlp-1gpu -o name"})
final class ListCommand extends PersonCommand {

    static final String OPEN = "held,waiting,paused,starting,running,stopping";

    @Option(
            names = {"-a", "--all"},
            description = "Also those that have ended")
    private boolean all;

    @Option(names = "--mine", description = "Only your own")
    private boolean mine;

    @Option(
            names = {"-q", "--queue"},
            paramLabel = "QUEUE",
            description = "Only those of a queue")
    private @Nullable String queue;

    @Option(
            names = {"-g", "--group"},
            paramLabel = "GROUP",
            description = "Only those of a group, such as /research, and its subgroups")
    private @Nullable String group;

    @Option(
            names = {"-s", "--state"},
            paramLabel = "STATE",
            description =
                    "Only those in one of these states, separated by commas: " + OPEN + ",succeeded,failed,cancelled")
    private @Nullable String state;

    @Option(names = "--name", paramLabel = "NAME", description = "Only those whose name begins with NAME")
    private @Nullable String name;

    @Option(
            names = {"-n", "--limit"},
            paramLabel = "N",
            defaultValue = "50",
            description = "The most jobs to list. Default: ${DEFAULT-VALUE}")
    private int limit = 50;

    ListCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        ServiceConnection service = service();
        Map<String, String> query = new LinkedHashMap<>();
        put(query, "queue", queue);
        put(query, "group", group);
        put(query, "name", name);
        put(query, "state", state != null ? state : all ? null : OPEN);
        if (mine) {
            query.put(
                    "submittedBy",
                    TokenClaims.username(TokenClaims.of(service.token().current())));
        }
        int most = Math.max(1, limit);
        List<JsonNode> found = service.items(service.path("workloads"), query, most + 1);
        List<JsonNode> shown = found.size() > most ? found.subList(0, most) : found;
        printItems(shown, "id", () -> {
            if (shown.isEmpty()) {
                remark(all || state != null ? "No jobs." : "No jobs that have not ended; --all lists the others.");
            } else {
                printTable(JobTable.of(shown, style(), times()));
            }
        });
        if (found.size() > most) {
            remark("There are more; -n lists more than " + most + ".");
        }
        return ExitStatus.OK;
    }

    private static void put(Map<String, String> query, String name, @Nullable String value) {
        if (value != null) {
            query.put(name, value);
        }
    }
}
