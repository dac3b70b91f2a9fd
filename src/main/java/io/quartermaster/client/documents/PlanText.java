package io.quartermaster.client.documents;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.documents.PlannedChange.Action;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.TextStyle;
import java.util.ArrayList;
import java.util.List;

/** A plan as lines for people, and as a document for programs. */
final class PlanText {

    private static final String INDENT = "    ";

    private final TextStyle style;

    PlanText(TextStyle style) {
        this.style = style;
    }

    /** The changes with their effects, then a summary. */
    List<String> lines(List<PlannedChange> plan) {
        List<String> lines = new ArrayList<>();
        for (PlannedChange change : plan) {
            if (change.action() != Action.NONE) {
                String title = TextStyle.printable(change.title());
                lines.add(change.action() == Action.CREATE ? style.added("+ " + title) : style.changed("~ " + title));
                details(change).forEach(detail -> lines.add(INDENT + TextStyle.printable(detail)));
            }
        }
        lines.add("Plan: " + count(plan, Action.CREATE) + " to create, " + count(plan, Action.CHANGE) + " to change, "
                + count(plan, Action.NONE) + " unchanged.");
        return lines;
    }

    static long count(List<PlannedChange> plan, Action action) {
        return plan.stream().filter(change -> change.action() == action).count();
    }

    private static List<String> details(PlannedChange change) {
        List<String> details = new ArrayList<>();
        if (change.action() == Action.CHANGE) {
            fields(change)
                    .forEach(field -> details.add(field.path("field").asText() + ": " + value(field, "before") + " -> "
                            + value(field, "after")));
        }
        switch (change.check()) {
            case ServiceCheck.Accepted accepted -> {
                JsonNode effects = accepted.effects();
                names(effects, "queuesMade", "makes queue ", details);
                names(effects, "queuesRetired", "retires queue ", details);
                effects.path("reserved").forEach(sum -> reserved(sum, details));
                accepted.stops().forEach(stop -> details.add("! " + stop));
                accepted.warnings().forEach(warning -> details.add("warning: " + warning));
            }
            case ServiceCheck.Refused refused -> {
                details.add("! refused: " + refused.failure().text());
                refused.failure().details().forEach(detail -> details.add("  " + detail));
            }
            case ServiceCheck.Deferred deferred -> details.add("checked when the changes before it are made");
            case ServiceCheck.Unneeded unneeded -> {}
        }
        return details;
    }

    private static void names(JsonNode effects, String field, String text, List<String> details) {
        effects.path(field).forEach(name -> details.add(text + name.asText()));
    }

    private static void reserved(JsonNode sum, List<String> details) {
        String before = sum.path("before").asText();
        String after = sum.path("after").asText();
        if (!before.equals(after)) {
            String group = sum.path("group").asText("/");
            String below = group.equals("/") ? "by the tenant's groups" : "below " + group;
            details.add("reserved " + below + " in " + sum.path("pool").asText() + ": " + before + " -> " + after
                    + " of " + sum.path("of").asText());
        }
    }

    /** The changed fields as the service states them, or else those that differ from the document. */
    private static ArrayNode fields(PlannedChange change) {
        if (change.check() instanceof ServiceCheck.Accepted accepted
                && accepted.effects().path("changed") instanceof ArrayNode stated) {
            return stated;
        }
        ArrayNode fields = DocumentWriter.JSON.createArrayNode();
        PresentObject present = change.present();
        if (present != null) {
            differing("", change.difference(), change.kind().comparable(present), fields);
        }
        return fields;
    }

    private static void differing(String path, ObjectNode difference, JsonNode present, ArrayNode fields) {
        difference.properties().forEach(field -> {
            String name = path.isEmpty() ? field.getKey() : path + "." + field.getKey();
            JsonNode before = present.path(field.getKey());
            if (field.getValue() instanceof ObjectNode below) {
                differing(name, below, before, fields);
            } else {
                ObjectNode entry = fields.addObject().put("field", name);
                if (!before.isMissingNode()) {
                    entry.set("before", before);
                }
                if (!field.getValue().isNull()) {
                    entry.set("after", field.getValue());
                }
            }
        });
    }

    private static String value(JsonNode field, String side) {
        JsonNode value = field.path(side);
        if (value.isMissingNode() || value.isNull()) {
            return "none";
        }
        if (value.isArray()) {
            return value.valueStream()
                    .map(item -> item.isValueNode() ? item.asText() : item.toString())
                    .toList()
                    .toString();
        }
        return value.isValueNode() ? value.asText() : value.toString();
    }

    /** An entry of the document: the object, what is done with it, its changed fields, and the service's answer. */
    static ObjectNode document(PlannedChange change, String outcome) {
        ObjectNode entry = DocumentWriter.JSON
                .createObjectNode()
                .put("kind", change.kind().word())
                .put("name", change.object().name())
                .put(
                        "action",
                        switch (change.action()) {
                            case CREATE -> "create";
                            case CHANGE -> "change";
                            case NONE -> "none";
                        })
                .put("outcome", outcome);
        if (change.action() == Action.CHANGE) {
            entry.set("changed", fields(change));
        }
        switch (change.check()) {
            case ServiceCheck.Accepted accepted -> {
                if (accepted.effects().isObject()) {
                    entry.set("effects", accepted.effects());
                }
                ArrayNode warnings = entry.putArray("warnings");
                accepted.warnings().forEach(warnings::add);
                ArrayNode stops = entry.putArray("stops");
                accepted.stops().forEach(stops::add);
            }
            case ServiceCheck.Refused refused ->
                entry.put("problem", refused.code())
                        .put("detail", refused.failure().text());
            case ServiceCheck.Deferred deferred -> entry.put("deferred", true);
            case ServiceCheck.Unneeded unneeded -> {}
        }
        return entry;
    }
}
