package io.quartermaster.platform.writes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** One field of a resource that a change gives another value. Fields that return to their default are included. */
@Schema(name = "FieldChange", description = "A field that the change gives another value.")
public record FieldChange(
        @Schema(
                description = "the path of the field; a quota appears under the name of its pool",
                examples = "quotas.h100.limit")
        String field,

        @Schema(implementation = Object.class, description = "the value before the change; absent if there was none")
        @Nullable
        Object before,

        @Schema(implementation = Object.class, description = "the value after the change; absent if there is none")
        @Nullable
        Object after) {

    /** Fields that identify a resource, or follow from other fields. */
    private static final Set<String> COMPARED_APART =
            Set.of("id", "version", "effects", "warnings", "changed", "queues", "drift", "tenant");

    private static final String POOL = "pool";

    /** The fields of two views of one resource that differ, by name. */
    public static List<FieldChange> between(Object before, Object after, ObjectMapper json) {
        List<FieldChange> changes = new ArrayList<>();
        ObjectNode old = json.valueToTree(before);
        ObjectNode now = json.valueToTree(after);
        old.remove(COMPARED_APART);
        now.remove(COMPARED_APART);
        compare("", old, now, changes);
        return changes;
    }

    private static void compare(
            String path, @Nullable JsonNode before, @Nullable JsonNode after, List<FieldChange> changes) {
        JsonNode old = byPool(before);
        JsonNode now = byPool(after);
        if (old instanceof ObjectNode && now instanceof ObjectNode) {
            Set<String> names = new TreeSet<>();
            old.fieldNames().forEachRemaining(names::add);
            now.fieldNames().forEachRemaining(names::add);
            for (String name : names) {
                compare(path.isEmpty() ? name : path + "." + name, old.get(name), now.get(name), changes);
            }
        } else if (old == null ? now != null : !old.equals(now)) {
            changes.add(new FieldChange(path, old, now));
        }
    }

    /** A list whose items each name a pool, as an object keyed by pool. */
    private static @Nullable JsonNode byPool(@Nullable JsonNode node) {
        if (!(node instanceof ArrayNode parts) || parts.isEmpty()) {
            return node;
        }
        ObjectNode byPool = parts.objectNode();
        for (JsonNode part : parts) {
            if (!(part instanceof ObjectNode object) || !object.hasNonNull(POOL)) {
                return node;
            }
            byPool.set(object.get(POOL).asText(), object.deepCopy().without(POOL));
        }
        return byPool;
    }
}
