package io.quartermaster.client.operator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.connection.OutagePatience;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.ReadableDuration;
import io.quartermaster.client.output.TextStyle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code qm nodes drain}: closes nodes to new work, and waits until they are empty. */
@Command(
        name = "drain",
        description = {
            "Closes nodes to new work, and waits until no work holds anything on them.",
            "It stops no work: work without a maximum run time can keep a node for any time. Interrupted, the nodes stay "
                    + "closed."
        },
        footer = {"%nExample:%n", "  qm nodes drain node-7 --timeout 2h"},
        exitCodeList = {
            "0:the nodes are empty and take no new work",
            "1:work is still there after --timeout, or the command failed",
            "2:an option is wrong, or no server is chosen",
            "3:you are not signed in",
            "4:there is no such node, or you may not see it",
            "5:the service refused the request",
            "6:the service or Keycloak does not answer, or failed"
        })
final class DrainCommand extends OperatorCall {

    private static final Duration INTERVAL = Duration.ofSeconds(2);

    @Parameters(paramLabel = "NODE", arity = "1..*", description = "Names of nodes")
    private List<String> nodes = new ArrayList<>();

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            description = "How long to wait at most, such as 2h. Default: no limit")
    private @Nullable String timeout;

    DrainCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        @Nullable Duration limit = limit();
        ObjectNode patch = DocumentWriter.JSON.createObjectNode().put("schedulable", false);
        Set<String> pools = new TreeSet<>();
        for (String node : nodes) {
            pools.add(text(patch(ServiceConnection.operatorPath("nodes", node), patch, false), "pool"));
            remark(node + " takes no new work.");
        }
        long begun = System.nanoTime();
        OutagePatience patience = new OutagePatience(err(), OutagePatience.DEFAULT);
        Map<String, Integer> reported = new LinkedHashMap<>();
        while (true) {
            Map<String, JsonNode> now = patience.get(() -> fleet(pools));
            boolean empty = true;
            for (String node : nodes) {
                int holders = holders(now.getOrDefault(node, MissingNode.getInstance()));
                empty &= holders == 0;
                if (!Integer.valueOf(holders).equals(reported.put(node, holders))) {
                    remark(holders == 0 ? node + " is empty." : node + " has work of " + count(holders) + ".");
                }
            }
            if (empty) {
                printItems(List.copyOf(now.values()), "node", () -> {});
                return ExitStatus.OK;
            }
            if (limit != null && System.nanoTime() - begun > limit.toNanos()) {
                throw new CommandFailure(
                        ExitStatus.FAILED,
                        "after " + timeout + " work is still on "
                                + String.join(
                                        ", ",
                                        nodes.stream()
                                                .filter(node -> reported.getOrDefault(node, 0) > 0)
                                                .map(TextStyle::printable)
                                                .toList())
                                + ". The nodes take no new work");
            }
            pause();
        }
    }

    private @Nullable Duration limit() {
        try {
            return timeout == null ? null : ReadableDuration.parse(timeout);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage("--timeout: " + e.getMessage());
        }
    }

    /** The named nodes with what holds their GPUs. */
    private Map<String, JsonNode> fleet(Set<String> pools) {
        Map<String, JsonNode> found = new LinkedHashMap<>();
        for (String pool : pools) {
            for (JsonNode node : list(Map.of("pool", pool), "fleet")) {
                if (nodes.contains(text(node, "node"))) {
                    found.put(text(node, "node"), node);
                }
            }
        }
        return found;
    }

    /** The number of workloads with workers on a node. */
    private static int holders(JsonNode node) {
        Set<String> workloads = new HashSet<>();
        node.path("withoutGpu").forEach(holder -> workloads.add(text(holder, "workload")));
        node.path("gpus")
                .forEach(gpu -> gpu.path("holders").forEach(holder -> workloads.add(text(holder, "workload"))));
        return workloads.size();
    }

    private static String count(int jobs) {
        return jobs == 1 ? "1 job" : jobs + " jobs";
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
