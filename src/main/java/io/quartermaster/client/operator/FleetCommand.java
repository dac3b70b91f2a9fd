package io.quartermaster.client.operator;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextTable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code qm fleet}: what runs where. */
@Command(
        name = "fleet",
        description = {
            "Shows what runs on which GPU, as a grid: a line for each node, a sign for each GPU.",
            "A letter stands for the tenant that holds a GPU, a small one if part of the GPU is free."
        },
        footer = {"%nExamples:%n", "  qm fleet --pool h100", "  qm fleet --jobs --of acme"})
final class FleetCommand extends OperatorCall {

    @Option(names = "--pool", paramLabel = "POOL", description = "Only nodes of a pool")
    private @Nullable String pool;

    @Option(names = "--cluster", paramLabel = "CLUSTER", description = "Only nodes of a cluster")
    private @Nullable String cluster;

    @Option(names = "--of", paramLabel = "TENANT", description = "Only nodes on which a tenant holds something")
    private @Nullable String holder;

    @Option(names = "--jobs", description = "List the workers and what they hold, in place of the grid")
    private boolean jobs;

    FleetCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        Map<String, @Nullable String> given = new LinkedHashMap<>();
        given.put("pool", pool);
        given.put("cluster", cluster);
        given.put("tenant", holder);
        List<JsonNode> nodes = list(filters(given), "fleet");
        printItems(nodes, "node", () -> {
            if (nodes.isEmpty()) {
                remark("There are no such nodes.");
            } else if (jobs) {
                printJobs(nodes);
            } else {
                new FleetGrid(nodes, style()).lines().forEach(out()::println);
            }
        });
        return ExitStatus.OK;
    }

    private void printJobs(List<JsonNode> nodes) {
        TextTable table =
                new TextTable(style(), "NODE", "GPU", "HOLDS", "TENANT", "GROUP", "JOB", "WORKER", "STATE", "SINCE");
        for (JsonNode node : nodes) {
            for (JsonNode gpu : node.path("gpus")) {
                gpu.path("holders").forEach(worker -> addWorker(table, node, text(gpu, "index"), worker));
            }
            node.path("withoutGpu").forEach(worker -> addWorker(table, node, "", worker));
        }
        if (table.isEmpty()) {
            remark("Nothing runs there.");
        } else {
            printTable(table);
        }
    }

    private void addWorker(TextTable table, JsonNode node, String gpu, JsonNode worker) {
        table.add(
                text(node, "node"),
                gpu,
                worker.hasNonNull("mig") ? text(worker, "mig") : text(worker, "gpus"),
                text(worker, "tenant"),
                text(worker, "group"),
                text(worker, "name"),
                text(worker, "worker"),
                text(worker, "state"),
                moment(worker, "boundAt"));
    }
}
