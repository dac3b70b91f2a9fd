package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.output.LocalTimes;
import io.quartermaster.client.output.ReadableDuration;
import io.quartermaster.client.output.TextStyle;
import io.quartermaster.client.output.TextTable;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Workloads as a table, each with the beginning of its id that is unique among them. */
final class JobTable {

    /** The part of an id that states its time; ids of one moment need more. */
    private static final int SHORTEST_ID = 13;

    private static final Set<String> RUN_STATES = Set.of("running", "stopping");

    private JobTable() {}

    static TextTable of(List<JsonNode> workloads, TextStyle style, LocalTimes times) {
        TextTable table =
                new TextTable(style, "ID", "NAME", "QUEUE", "BY", "STATE", "GPUS", "SUBMITTED", "RAN", "REASON");
        Map<String, String> shortIds =
                shortIds(workloads.stream().map(w -> w.path("id").asText()).toList());
        for (JsonNode workload : workloads) {
            String id = workload.path("id").asText();
            table.add(
                    shortIds.getOrDefault(id, id),
                    workload.path("name").asText(),
                    workload.path("queue").asText(),
                    workload.path("submittedBy").asText(),
                    workload.path("state").asText(),
                    workload.path("heldGpus").asText(workload.path("gpus").asText("")),
                    instant(workload, "submittedAt").map(times::relative).orElse(""),
                    ran(workload, times),
                    workload.path("reason").asText(workload.path("endReason").asText("")));
        }
        return table;
    }

    /** The beginnings of ids that are unique among these ids. */
    static Map<String, String> shortIds(List<String> ids) {
        Map<String, String> result = new HashMap<>();
        for (String id : ids) {
            int length = Math.min(SHORTEST_ID, id.length());
            while (length < id.length() && isAmbiguous(id.substring(0, length), id, ids)) {
                length++;
            }
            result.put(id, id.substring(0, length));
        }
        return result;
    }

    private static boolean isAmbiguous(String beginning, String id, List<String> ids) {
        return beginning.endsWith("-")
                || ids.stream().anyMatch(other -> !other.equals(id) && other.startsWith(beginning));
    }

    /** How long the present attempt has run, or the last one of work that has ended; empty between two attempts. */
    private static String ran(JsonNode workload, LocalTimes times) {
        if (!ranLast(workload)) {
            return "";
        }
        return instant(workload, "startedAt")
                .map(start -> instant(workload, "endedAt")
                        .map(end -> ReadableDuration.format(Duration.between(start, end)))
                        .orElseGet(() -> times.since(start)))
                .orElse("");
    }

    /** Whether the start of a job is that of an attempt that runs, or with whose end the job has ended. */
    static boolean ranLast(JsonNode workload) {
        return RUN_STATES.contains(workload.path("state").asText()) || workload.hasNonNull("endedAt");
    }

    static Optional<Instant> instant(JsonNode node, String field) {
        return node.hasNonNull(field)
                ? Optional.of(Instant.parse(node.path(field).asText()))
                : Optional.empty();
    }
}
