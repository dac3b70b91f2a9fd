package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.commands.TokenClaims;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code qm queues}: lists the queues to which the person submits. */
@Command(
        name = "queues",
        description = {
            "Lists the queues to which you may submit, with the shape of a job, what their group has left, and your "
                    + "waiting jobs."
        },
        footer = {"%nExamples:%n", "  qm queues", "  qm queues --start"})
final class QueuesCommand extends PersonCommand {

    private static final int MOST_WAITING = 2_000;

    @Option(
            names = {"-a", "--all"},
            description = "All queues of the tenant")
    private boolean all;

    @Option(
            names = "--start",
            description = "Also forecast, for each queue alone, when a job would start that is submitted now")
    private boolean start;

    QueuesCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        ServiceConnection service = service();
        JsonNode claims = TokenClaims.of(service.token().current());
        Map<String, String> filter = all ? Map.of() : Map.of("mine", "true");
        List<JsonNode> queues = service.items(service.path("queues"), filter, Integer.MAX_VALUE);
        printItems(queues, "name", () -> {
            if (queues.isEmpty()) {
                remark("No queue admits you; --all lists those of the tenant.");
            } else {
                printTable(table(service, queues, TokenClaims.username(claims)));
            }
        });
        return ExitStatus.OK;
    }

    /** Whether one of the groups is that of the queue, or inside it. A caller without groups sees every queue. */
    static boolean isOf(Optional<List<String>> groups, String queueGroup) {
        return groups.isEmpty()
                || groups.get().isEmpty()
                || groups.get().stream()
                        .anyMatch(group -> group.equals(queueGroup) || group.startsWith(queueGroup + "/"));
    }

    private TextTable table(ServiceConnection service, List<JsonNode> queues, String username) {
        GroupShare share = GroupShare.of(service);
        Map<String, JsonNode> profiles = service.items(service.path("profiles"), Map.of(), Integer.MAX_VALUE).stream()
                .collect(Collectors.toMap(profile -> profile.path("name").asText(), profile -> profile));
        List<String> header = new ArrayList<>(
                List.of("QUEUE", "GROUP", "STATE", "A JOB GETS", "GROUP USES", "LEFT", "WAITING", "YOURS"));
        if (start) {
            header.add("A JOB STARTS");
        }
        TextTable table = new TextTable(style(), header.toArray(String[]::new));
        for (JsonNode queue : queues) {
            String name = queue.path("name").asText();
            List<GroupShare.Line> lines = share.linesOf(queue.path("policy").asText());
            long waiting = share.waitingIn(name);
            List<String> row = new ArrayList<>(List.of(
                    name,
                    queue.path("group").asText(),
                    queue.path("state").asText(),
                    shape(profiles.get(queue.path("profile").asText())),
                    inPools(lines, GroupShare.Line::use),
                    inPools(lines, GroupShare.Line::room),
                    Long.toString(waiting),
                    waiting == 0 ? "" : yours(service, name, username)));
            if (start) {
                row.add(forecast(service, name));
            }
            table.add(row.toArray(String[]::new));
        }
        return table;
    }

    private static String inPools(List<GroupShare.Line> lines, Function<GroupShare.Line, String> text) {
        return lines.stream()
                .map(line -> lines.size() == 1 ? text.apply(line) : line.pool() + ": " + text.apply(line))
                .collect(Collectors.joining("; "));
    }

    /** The shape of a job of a profile, such as {@code 2 x 4 GPUs}. */
    static String shape(@Nullable JsonNode profile) {
        if (profile == null) {
            return "";
        }
        int workers = profile.path("workers").asInt(1);
        String each;
        if (profile.hasNonNull("mig")) {
            each = profile.path("mig").asText();
        } else if (profile.hasNonNull("gpuMemoryMiB")) {
            each = profile.path("gpuMemoryMiB").asText() + " MiB of a GPU";
        } else {
            String gpus = profile.path("gpus").asText("0");
            String most = profile.path("maxGpus").asText("");
            each = gpus.equals("0")
                    ? "no GPU"
                    : gpus
                            + (most.isEmpty() ? "" : " to " + most)
                            + (gpus.equals("1") && most.isEmpty() ? " GPU" : " GPUs");
        }
        return workers == 1 ? each : workers + " x " + each;
    }

    /** The person's first position among the waiting workloads, and how many of them are the person's. */
    private static String yours(ServiceConnection service, String queue, String username) {
        long first = 0;
        int count = 0;
        for (JsonNode waiting : service.items(service.path("queues", queue, "waiting"), Map.of(), MOST_WAITING)) {
            if (waiting.path("submittedBy").asText().equals(username)) {
                count++;
                first = first == 0 ? waiting.path("position").asLong() : first;
            }
        }
        return count == 0 ? "" : count + ", first at " + first;
    }

    private String forecast(ServiceConnection service, String queue) {
        ObjectNode question = DocumentWriter.JSON.createObjectNode();
        question.putArray("workloads").addObject().put("queue", queue);
        JsonNode answer = service.post(service.path("simulations"), Map.of(), question);
        return TryCommand.start(answer.path("workloads").path(0), answer, times());
    }
}
