package io.quartermaster.client.documents;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import java.util.Set;
import java.util.TreeSet;

/**
 * An object as a document states it.
 *
 * @param kind the name of its kind, such as {@code policy}
 * @param spec the fields of the API's body, without the name
 * @param origin the file of the document
 */
public record StatedObject(String kind, String name, ObjectNode spec, String origin) {

    private static final Set<String> FIELDS = Set.of("kind", "name", "spec");

    /** Reads a document; fails with a message that names the file. */
    static StatedObject of(ObjectNode document, String origin) {
        Set<String> unknown = new TreeSet<>();
        document.fieldNames().forEachRemaining(unknown::add);
        unknown.removeAll(FIELDS);
        if (!unknown.isEmpty()) {
            throw CommandFailure.usage(
                    origin + ": a document has the fields kind, name and spec, not " + String.join(", ", unknown));
        }
        String kind = text(document, "kind", origin);
        String name = text(document, "name", origin);
        JsonNode spec = document.path("spec");
        if (spec.isMissingNode() || spec.isNull()) {
            return new StatedObject(kind, name, DocumentWriter.JSON.createObjectNode(), origin);
        }
        if (!(spec instanceof ObjectNode fields)) {
            throw CommandFailure.usage(origin + ": the spec of " + kind + " " + name + " is not a mapping");
        }
        if (fields.has("name")) {
            throw CommandFailure.usage(
                    origin + ": the name of " + kind + " " + name + " belongs beside its spec, not into it");
        }
        return new StatedObject(kind, name, fields, origin);
    }

    private static String text(ObjectNode document, String field, String origin) {
        String value = document.path(field).asText("");
        if (value.isEmpty()) {
            throw CommandFailure.usage(origin + ": a document needs a " + field);
        }
        return value;
    }

    /** A text of the spec; empty if it has none. */
    public String text(String field) {
        return spec.path(field).asText("");
    }

    /** The body that creates the object, with its name under this field. */
    public ObjectNode bodyWith(String nameField) {
        ObjectNode body = DocumentWriter.JSON.createObjectNode();
        body.put(nameField, name);
        body.setAll(spec);
        return body;
    }
}
