package io.quartermaster.client.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.documents.FieldComparison;
import io.quartermaster.client.documents.FieldTypes;
import io.quartermaster.client.output.DocumentWriter;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The fields of rules that a document states, and their types. A test compares them with the contract. */
final class RuleFields {

    static final Set<String> AMOUNTS =
            Set.of("gpus", "maxGpus", "gpuLimit", "reserved", "limit", "lendable", "userLimit");
    static final Set<String> DURATIONS = Set.of("grace", "maxRuntime");
    static final Set<String> INSTANTS = Set.of("from", "until", "drainBy");
    static final Set<String> FREE_MAPS = Set.of("nodeLabels");
    static final Set<String> FLAGS = Set.of("overQuota", "nonPreemptible", "moveBack", "fence");
    static final Set<String> NUMBERS = Set.of(
            "gpuMemoryMiB",
            "gpuDevices",
            "workers",
            "minWorkers",
            "cpuMilli",
            "memoryMiB",
            "weight",
            "rank",
            "maxRunning",
            "maxPriority",
            "maxWaiting");

    static final FieldTypes TYPES = new FieldTypes(NUMBERS, FLAGS, DURATIONS, FREE_MAPS);
    static final FieldComparison COMPARISON = new FieldComparison(AMOUNTS, DURATIONS, INSTANTS);

    /** The fields of a specification, by kind, in the order of the contract. */
    static final Map<String, List<String>> OF_KIND = Map.of(
            "group",
            List.of(),
            "profile",
            List.of(
                    "gpus",
                    "maxGpus",
                    "gpuLimit",
                    "gpuMemoryMiB",
                    "mig",
                    "gpuDevices",
                    "workers",
                    "minWorkers",
                    "cpuMilli",
                    "memoryMiB",
                    "nodeLabels",
                    "topology",
                    "pools",
                    "moveBack",
                    "maxRuntime"),
            "policy",
            List.of(
                    "group",
                    "quotas",
                    "profiles",
                    "overQuota",
                    "onPreemption",
                    "grace",
                    "userLimit",
                    "maxRunning",
                    "maxPriority",
                    "nonPreemptible"),
            "queue",
            List.of("policy", "profile", "overQuota", "maxWaiting", "state", "order"),
            "access-rule",
            List.of("subjectKind", "subject"));

    private RuleFields() {}

    /** The document that states a present object. */
    static ObjectNode document(String kind, String name, JsonNode present) {
        ObjectNode document =
                DocumentWriter.JSON.createObjectNode().put("kind", kind).put("name", name);
        ObjectNode spec = DocumentWriter.JSON.createObjectNode();
        for (String field : OF_KIND.getOrDefault(kind, List.of())) {
            JsonNode value = present.path(field);
            boolean empty = value.isMissingNode()
                    || value.isNull()
                    || (value.isObject() && value.isEmpty())
                    || (value.isTextual() && value.asText().isEmpty());
            if (!empty) {
                spec.set(field, value);
            }
        }
        if (!spec.isEmpty()) {
            document.set("spec", spec);
        }
        return document;
    }
}
