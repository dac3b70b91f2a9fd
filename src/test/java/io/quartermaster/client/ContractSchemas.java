package io.quartermaster.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The schemas of bodies in the committed contract. */
public final class ContractSchemas {

    private static final JsonNode SCHEMAS = read();

    private ContractSchemas() {}

    private static JsonNode read() {
        LoaderOptions options = new LoaderOptions();
        options.setCodePointLimit(Integer.MAX_VALUE);
        try {
            Object document =
                    new Yaml(new SafeConstructor(options)).load(Files.readString(Path.of("openapi/openapi.yaml")));
            return new ObjectMapper().valueToTree(document).path("components").path("schemas");
        } catch (IOException e) {
            throw new IllegalStateException("cannot read the contract", e);
        }
    }

    public static JsonNode of(String name) {
        JsonNode schema = SCHEMAS.path(name);
        if (schema.isMissingNode()) {
            throw new IllegalArgumentException("the contract has no schema " + name);
        }
        return schema;
    }

    /** The names of the fields of a schema, in its order. */
    public static List<String> fields(String name) {
        return of(name).path("properties")
                .propertyStream()
                .map(Map.Entry::getKey)
                .toList();
    }

    /** The names of all fields in schemas and those below them whose schema fits a condition. */
    public static Set<String> fieldsWith(List<String> names, Predicate<JsonNode> condition) {
        Map<String, JsonNode> fields = new LinkedHashMap<>();
        names.forEach(name -> collect(of(name), fields));
        Set<String> found = new TreeSet<>();
        fields.forEach((name, schema) -> {
            if (condition.test(schema)) {
                found.add(name);
            }
        });
        return found;
    }

    private static void collect(JsonNode schema, Map<String, JsonNode> fields) {
        schema.path("properties").properties().forEach(field -> {
            if (fields.put(field.getKey(), field.getValue()) == null) {
                collect(target(field.getValue()), fields);
                collect(target(field.getValue().path("items")), fields);
            }
        });
    }

    /** The schema to which a reference leads, or the schema itself. */
    static JsonNode target(JsonNode schema) {
        String reference = schema.path("$ref")
                .asText(schema.path("allOf").path(0).path("$ref").asText(""));
        return reference.isEmpty() ? schema : of(reference.substring(reference.lastIndexOf('/') + 1));
    }
}
