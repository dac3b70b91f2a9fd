package io.quartermaster.client.operator;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.output.ExitStatus;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A command that lists nodes. */
abstract class NodeListing extends OperatorCall {

    @Option(names = "--pool", paramLabel = "POOL", description = "Only nodes of a pool")
    private @Nullable String pool;

    @Option(names = "--cluster", paramLabel = "CLUSTER", description = "Only nodes of a cluster")
    private @Nullable String cluster;

    @Option(names = "--closed", description = "Only nodes that take no new work")
    private boolean closed;

    NodeListing(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected final ExitStatus run() {
        Map<String, @Nullable String> given = new LinkedHashMap<>();
        given.put("pool", pool);
        given.put("cluster", cluster);
        given.put("schedulable", closed ? "false" : null);
        printList(
                list(filters(given), "nodes"),
                "name",
                List.of("NODE", "POOL", "CLUSTER", "CONTACT", "NEW WORK", "GPUS", "AGENT", "LAST HEARD"),
                node -> List.of(
                        text(node, "name"),
                        text(node, "pool"),
                        text(node, "cluster"),
                        text(node, "contact"),
                        node.path("schedulable").asBoolean() ? "yes" : "no",
                        gpus(node.path("gpus")),
                        node.path("agent").path("version").asText(""),
                        moment(node.path("agent"), "lastHeard")));
        return ExitStatus.OK;
    }

    /** The number of GPUs, and how many of them are not healthy. */
    private static String gpus(JsonNode gpus) {
        long ill = gpus.valueStream()
                .filter(gpu -> !gpu.path("healthy").asBoolean())
                .count();
        return gpus.size() + (ill == 0 ? "" : ", " + ill + " not healthy");
    }
}
