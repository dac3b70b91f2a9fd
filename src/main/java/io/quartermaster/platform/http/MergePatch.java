package io.quartermaster.platform.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/**
 * A change of some fields in the form of RFC 7396: absent fields stay, null returns a field to its default, objects are
 * merged, and all other values, lists too, are replaced.
 *
 * @param patch the fields that change
 */
public record MergePatch(ObjectNode patch) {

    public static final String MEDIA_TYPE = "application/merge-patch+json";

    /**
     * Reads a patch and checks each field against the type that it changes; a null is accepted everywhere.
     *
     * @param type the resource as a request states it, all of whose fields may be absent
     */
    public static MergePatch read(ObjectMapper json, @Nullable String body, Class<?> type)
            throws JsonProcessingException {
        JsonNode node = body == null || body.isBlank() ? null : json.readTree(body);
        if (!(node instanceof ObjectNode patch)) {
            throw ProblemException.invalid(
                    "body",
                    node == null ? "is missing" : "is not a JSON object",
                    "a JSON object with the fields that change; null returns a field to its default");
        }
        json.treeToValue(patch, type);
        return new MergePatch(patch);
    }

    /**
     * Refuses a null for a field that needs a value.
     *
     * @param accepted the values that the field accepts
     */
    public void requireValue(String field, String accepted) {
        if (patch.path(field).isNull()) {
            throw ProblemException.invalid(field, "is null, but the field needs a value", accepted);
        }
    }

    /** The resource with the patch applied. */
    public <T> T applyTo(T current, Class<T> type, ObjectMapper json) {
        try {
            return json.treeToValue(merge(json.valueToTree(current), patch, json), type);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(
                    "a patch whose fields were checked does not fit " + type.getSimpleName(), e);
        }
    }

    /** The algorithm of RFC 7396, section 2. */
    static JsonNode merge(@Nullable JsonNode target, JsonNode patch, ObjectMapper json) {
        if (!(patch instanceof ObjectNode changes)) {
            return patch;
        }
        ObjectNode merged = target instanceof ObjectNode object ? object.deepCopy() : json.createObjectNode();
        changes.properties().forEach(change -> {
            if (change.getValue().isNull()) {
                merged.remove(change.getKey());
            } else {
                merged.set(change.getKey(), merge(merged.get(change.getKey()), change.getValue(), json));
            }
        });
        return merged;
    }
}
