package io.quartermaster.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;

/**
 * The JSON Schema of documents, built from the bodies in the contract. It is of draft 7, which editors know best. No
 * field of a specification is required: a document of an object that exists may name some fields alone.
 */
final class DocumentSchema {

    private static final ObjectMapper JSON = new ObjectMapper();

    private DocumentSchema() {}

    static ObjectNode build() {
        ObjectNode schema = JSON.createObjectNode()
                .put("$schema", "http://json-schema.org/draft-07/schema#")
                .put("title", "Documents of qm apply and qm tenants apply");
        ArrayNode forms = schema.putArray("oneOf");
        forms.add(kind("group", "Path of the group, such as /research/nlp.", null, Set.of()));
        forms.add(kind("profile", "Name of the profile.", "ProfileRequest", Set.of("name")));
        forms.add(kind("policy", "Name of the policy.", "PolicyRequest", Set.of("name")));
        forms.add(kind("queue", "Name of the queue.", "QueueRequest", Set.of("name")));
        forms.add(kind("access-rule", "Name of the queue that admits the subject.", "AccessRuleRequest", Set.of()));
        forms.add(kind("tenant", "Id of the tenant.", "TenantRequest", Set.of("id")));
        forms.add(kind("allotment", "Tenant and pool, such as acme/h100.", "AllotmentRequest", Set.of()));
        ObjectNode list = JSON.createObjectNode().put("type", "object");
        list.putArray("required").add("items");
        list.put("additionalProperties", false);
        ObjectNode items = list.putObject("properties").putObject("items");
        items.put("description", "Documents, as qm get --documents prints them.")
                .put("type", "array");
        items.putObject("items").put("$ref", "#");
        forms.add(list);
        return schema;
    }

    private static ObjectNode kind(
            String kind, String name, @org.jspecify.annotations.Nullable String body, Set<String> without) {
        ObjectNode form = JSON.createObjectNode().put("type", "object");
        ArrayNode required = form.putArray("required").add("kind").add("name");
        form.put("additionalProperties", false);
        ObjectNode properties = form.putObject("properties");
        properties.putObject("kind").put("const", kind);
        properties
                .putObject("name")
                .put("description", name)
                .put("type", "string")
                .put("minLength", 1);
        if (body == null) {
            properties.putObject("spec").put("maxProperties", 0);
        } else {
            required.add("spec");
            JsonNode source = ContractSchemas.of(body);
            ObjectNode spec = object(source, without);
            spec.set("description", source.path("description"));
            properties.set("spec", spec);
        }
        return form;
    }

    private static ObjectNode object(JsonNode source, Set<String> without) {
        ObjectNode object = JSON.createObjectNode().put("type", "object").put("additionalProperties", false);
        ObjectNode properties = object.putObject("properties");
        source.path("properties").properties().forEach(field -> {
            if (!without.contains(field.getKey())) {
                properties.set(field.getKey(), field(field.getValue()));
            }
        });
        return object;
    }

    /** Every field may be null, which returns it to its default. People write amounts as numbers, too. */
    private static ObjectNode field(JsonNode source) {
        ObjectNode field = value(source);
        if (source.has("description")) {
            field.set("description", source.path("description"));
        }
        if (field.has("enum")) {
            ((ArrayNode) field.path("enum")).addNull();
            field.remove("type");
        } else {
            ArrayNode types = JSON.createArrayNode().add(field.path("type").asText());
            if (source.path("format").asText().equals("gpus")) {
                types.add("number");
            }
            field.set("type", types.add("null"));
        }
        return field;
    }

    private static ObjectNode value(JsonNode source) {
        JsonNode target = ContractSchemas.target(source);
        if (target.path("type").asText().equals("object") && target.has("properties")) {
            return object(target, Set.of());
        }
        ObjectNode value = JSON.createObjectNode();
        value.set("type", target.path("type"));
        if (target.has("enum")) {
            value.set("enum", target.path("enum").deepCopy());
        }
        if (target.path("format").asText().equals("gpus")) {
            value.set("pattern", target.path("pattern"));
        }
        if (target.has("items")) {
            value.set("items", value(target.path("items")));
        }
        if (target.path("additionalProperties").isObject()) {
            ObjectNode values = value(target.path("additionalProperties"));
            values.putArray("type").add("string").add("number").add("boolean");
            value.set("additionalProperties", values);
        }
        return value;
    }
}
