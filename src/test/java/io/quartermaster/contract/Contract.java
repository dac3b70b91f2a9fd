package io.quartermaster.contract;

import static io.restassured.RestAssured.given;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import com.networknt.schema.ValidationMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** The contract that the running service serves, or the committed one. */
record Contract(JsonNode document, List<Call> calls) {

    static final Path COMMITTED = Path.of("openapi", "openapi.yaml");

    /** The dialect that OpenAPI 3.0 extends. */
    private static final JsonSchemaFactory SCHEMAS = JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V4);

    private static final Set<String> METHODS = Set.of("get", "put", "post", "delete", "patch", "head");

    /**
     * One operation.
     *
     * @param permission the permission that it needs; empty if the contract states none
     * @param roles the roles that grant the permission
     */
    record Call(
            String method,
            String path,
            String id,
            String summary,
            List<String> tags,
            String permission,
            Set<String> roles,
            Set<String> statuses,
            List<Parameter> parameters,
            boolean takesBody,
            boolean needsBody,
            JsonNode bodySchema,
            boolean streams,
            boolean needsToken) {

        boolean writes() {
            return !method.equals("GET");
        }

        boolean ofTenant() {
            return path.equals("/v1/tenants/{tenant}") || path.startsWith("/v1/tenants/{tenant}/");
        }

        boolean ofOperator() {
            return path.startsWith("/v1/operator/");
        }

        /** Whether the operation describes the caller itself; every caller may use it. */
        boolean ofCaller() {
            return path.equals("/v1/me");
        }

        boolean ofNode() {
            return path.startsWith("/v1/nodes/{node}/");
        }

        List<String> pathParameters() {
            return parameters.stream()
                    .filter(parameter -> parameter.in().equals("path"))
                    .map(Parameter::name)
                    .toList();
        }

        Stream<Parameter> query() {
            return parameters.stream().filter(parameter -> parameter.in().equals("query"));
        }

        boolean takes(String queryParameter) {
            return query().anyMatch(parameter -> parameter.name().equals(queryParameter));
        }

        Optional<Parameter> header(String name) {
            return parameters.stream()
                    .filter(parameter ->
                            parameter.in().equals("header") && parameter.name().equals(name))
                    .findFirst();
        }

        boolean isPaged() {
            return takes("pageToken");
        }

        /** Whether the operation has a dry run; reads and agents' reports have none. */
        boolean hasDryRun() {
            return takes("dryRun");
        }

        @Override
        public String toString() {
            return id + " (" + method + " " + path + ")";
        }
    }

    /** @param type the name of the type in JSON schema */
    record Parameter(String name, String in, String type, boolean required) {}

    Contract {
        calls = List.copyOf(calls);
    }

    static Contract served() {
        String text = given().queryParam("format", "json")
                .get("/openapi")
                .then()
                .extract()
                .asString();
        try {
            JsonNode document = new ObjectMapper().readTree(text);
            return new Contract(document, calls(document));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the contract is no JSON", e);
        }
    }

    /** The committed contract, for tests that need no service. */
    static Contract committed() {
        JsonNode tree;
        try {
            tree = new YAMLMapper().readTree(committedText());
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the contract is no YAML", e);
        }
        return new Contract(tree, calls(tree));
    }

    static String committedText() {
        try {
            return Files.readString(COMMITTED);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Follows a reference, if the schema is one. */
    JsonNode resolved(JsonNode schema) {
        if (schema.has("$ref")) {
            return resolved(document.at(schema.get("$ref").textValue().substring(1)));
        }
        JsonNode all = schema.path("allOf");
        return all.size() == 1 ? resolved(all.get(0)) : schema;
    }

    /** The parts of a value that a schema of this contract does not accept. */
    List<String> findings(JsonNode schema, JsonNode value) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.putArray("allOf").add(schema);
        root.set("components", document.path("components"));
        return SCHEMAS.getSchema(root).validate(value).stream()
                .map(ValidationMessage::getMessage)
                .toList();
    }

    Set<String> enumWords() {
        Set<String> words = new TreeSet<>();
        document.findValues("enum").forEach(values -> values.forEach(value -> words.add(value.asText())));
        return words;
    }

    private static List<Call> calls(JsonNode document) {
        List<Call> calls = new ArrayList<>();
        for (Map.Entry<String, JsonNode> path : document.path("paths").properties()) {
            for (Map.Entry<String, JsonNode> operation : path.getValue().properties()) {
                if (METHODS.contains(operation.getKey())) {
                    calls.add(call(path.getKey(), path.getValue(), operation.getKey(), operation.getValue()));
                }
            }
        }
        return calls;
    }

    private static Call call(String path, JsonNode item, String method, JsonNode operation) {
        List<Parameter> parameters = new ArrayList<>(parameters(item));
        parameters.addAll(parameters(operation));
        return new Call(
                method.toUpperCase(Locale.ROOT),
                path,
                operation.path("operationId").asText(),
                operation.path("summary").asText(),
                texts(operation.path("tags")),
                operation.path("x-permission").asText(),
                Set.copyOf(texts(operation.path("x-roles"))),
                names(operation.path("responses")),
                List.copyOf(parameters),
                operation.has("requestBody"),
                operation.at("/requestBody/required").asBoolean(),
                operation.at("/requestBody/content/application~1json/schema"),
                operation.path("responses").path("200").path("content").has("text/event-stream"),
                // An operation that overrides the contract's security by nothing needs no token.
                !operation.has("security") || !operation.path("security").isEmpty());
    }

    private static List<Parameter> parameters(JsonNode of) {
        return stream(of.path("parameters"))
                .map(one -> new Parameter(
                        one.path("name").asText(),
                        one.path("in").asText(),
                        one.at("/schema/type").asText(),
                        one.path("required").asBoolean()))
                .toList();
    }

    private static List<String> texts(JsonNode array) {
        return stream(array).map(JsonNode::asText).toList();
    }

    private static Set<String> names(JsonNode object) {
        Set<String> names = new TreeSet<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    private static Stream<JsonNode> stream(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false);
    }
}
