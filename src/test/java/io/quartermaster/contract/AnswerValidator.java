package io.quartermaster.contract;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.networknt.schema.ExecutionContext;
import com.networknt.schema.Format;
import com.networknt.schema.JsonMetaSchema;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.NonValidationKeyword;
import com.networknt.schema.PathType;
import com.networknt.schema.SchemaValidatorsConfig;
import com.networknt.schema.oas.OpenApi30;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Compares answers of the service with the committed contract. An answer may have no field that the contract does not
 * name. Schemas are compiled once. Safe for use by several threads.
 *
 * <p>Tests also send requests that the contract does not have. Without an operation, the check is weaker: the answer
 * must be a problem with one of the statuses in {@link #WITHOUT_OPERATION}, or 501 for a method that the API never
 * uses. There is no other exemption.
 */
public final class AnswerValidator {

    /** A malformed address, a missing token, an unknown path, a method that the path lacks, too many requests. */
    private static final Set<Integer> WITHOUT_OPERATION = Set.of(400, 401, 404, 405, 429);

    private static final Set<String> METHODS = Set.of("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT");
    private static final int NOT_IMPLEMENTED = 501;

    private static final String EVENTS = "text/event-stream";
    private static final int SHOWN_CHARACTERS = 1000;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final SchemaValidatorsConfig CONFIG = SchemaValidatorsConfig.builder()
            .pathType(PathType.JSON_POINTER)
            .formatAssertionsEnabled(true)
            .locale(Locale.ROOT)
            .build();

    private final JsonSchemaFactory factory;
    private final JsonNode components;
    private final Contract contract;
    private final List<Route> routes;
    private final Map<JsonNode, JsonSchema> schemas = new ConcurrentHashMap<>();

    private static final class Committed {
        private static final AnswerValidator VALIDATOR = new AnswerValidator(Contract.committed());
    }

    /**
     * An answer and its request.
     *
     * @param address as it was sent, with or without host and query
     * @param contentType null if the answer has none
     */
    public record Answer(
            String method,
            String address,
            int status,
            @Nullable String contentType,
            String body) {

        String path() {
            String path = address.replaceFirst("^[a-z]+://[^/?#]*", "").replaceFirst("[?#].*$", "");
            return path.isEmpty() ? "/" : path;
        }

        boolean isOfApi() {
            return path().equals("/v1") || path().startsWith("/v1/");
        }

        @Nullable
        String mediaType() {
            return contentType == null
                    ? null
                    : contentType.replaceFirst(";.*$", "").strip().toLowerCase(Locale.ROOT);
        }
    }

    /** OpenAPI 3.0 has no such format; the contract's durations may have fractions of a second. */
    private static final class IsoDuration implements Format {

        @Override
        public String getName() {
            return "duration";
        }

        @Override
        public boolean matches(ExecutionContext context, String value) {
            try {
                Duration.parse(value);
                return true;
            } catch (DateTimeParseException e) {
                return false;
            }
        }
    }

    private record Route(String template, String[] steps, JsonNode operations) {

        boolean fits(String[] path) {
            boolean fits = path.length == steps.length;
            for (int i = 0; fits && i < steps.length; i++) {
                fits = isPlace(steps[i]) ? !path[i].isEmpty() : steps[i].equals(path[i]);
            }
            return fits;
        }

        long places() {
            return Arrays.stream(steps).filter(Route::isPlace).count();
        }

        private static boolean isPlace(String step) {
            return step.startsWith("{");
        }
    }

    AnswerValidator(Contract contract) {
        JsonMetaSchema dialect = JsonMetaSchema.builder(OpenApi30.getInstance())
                .keyword(new NonValidationKeyword("components"))
                .format(new IsoDuration())
                .build();
        this.factory = JsonSchemaFactory.builder()
                .defaultMetaSchemaIri(dialect.getIri())
                .metaSchema(dialect)
                .build();
        this.contract = contract;
        this.components = closed(contract.document().path("components"));
        this.routes = contract.document().path("paths").properties().stream()
                .map(path -> new Route(path.getKey(), path.getKey().split("/", -1), path.getValue()))
                .sorted(Comparator.comparingLong(Route::places).thenComparing(Route::template))
                .toList();
    }

    public static AnswerValidator committed() {
        return Committed.VALIDATOR;
    }

    /**
     * The parts of an answer that the contract does not have, in one text with the operation, the status and the paths;
     * empty if there are none.
     */
    public List<String> findings(Answer answer) {
        String[] path = answer.path().split("/", -1);
        Optional<Route> route = routes.stream().filter(one -> one.fits(path)).findFirst();
        String method = answer.method().toLowerCase(Locale.ROOT);
        JsonNode operation = route.map(Route::operations)
                .map(methods -> methods.path(method.equals("head") ? "get" : method))
                .orElse(JsonNodeFactory.instance.missingNode());
        String name = answer.method() + " " + route.map(Route::template).orElse(answer.path())
                + (operation.isMissingNode()
                        ? " (no operation)"
                        : " (" + operation.path("operationId").asText() + ")");
        List<String> findings = operation.isMissingNode()
                ? withoutOperation(answer)
                : againstResponse(answer, operation.path("responses").path(Integer.toString(answer.status())));
        return findings.isEmpty()
                ? List.of()
                : List.of(name + " answered " + answer.status() + ": " + String.join("; ", findings) + shown(answer));
    }

    /** The parts of an event's data that the schema of the operation's events does not accept. */
    public List<String> eventFindings(String path, String data) {
        JsonNode schema = contract.document()
                .path("paths")
                .path(path)
                .at("/get/responses/200/content")
                .path(EVENTS)
                .path("schema");
        return schema.isMissingNode() ? List.of(path + " has no events") : againstSchema(schema, data, true);
    }

    private List<String> withoutOperation(Answer answer) {
        if (answer.method().equals("OPTIONS")
                && answer.status() == 204
                && answer.body().isEmpty()) {
            return List.of();
        }
        boolean permitted = METHODS.contains(answer.method())
                ? WITHOUT_OPERATION.contains(answer.status())
                : answer.status() == NOT_IMPLEMENTED;
        return permitted
                ? againstResponse(answer, contract.document().at("/components/responses/NotFound"))
                : List.of("the contract has no such operation, and such a request is not answered by this status");
    }

    private List<String> againstResponse(Answer answer, JsonNode declared) {
        if (declared.isMissingNode()) {
            return List.of("the status is not documented");
        }
        if (answer.method().equals("HEAD")) {
            return List.of();
        }
        JsonNode content = contract.resolved(declared).path("content");
        if (content.isEmpty()) {
            return answer.body().isEmpty() ? List.of() : List.of("the answer has a body, and none is documented");
        }
        String type = answer.mediaType();
        if (type == null || !content.has(type)) {
            List<String> types = new ArrayList<>();
            content.fieldNames().forEachRemaining(types::add);
            return List.of("the media type is " + type + ", documented is " + types);
        }
        if (type.equals(EVENTS)) {
            return List.of();
        }
        List<String> findings =
                new ArrayList<>(againstSchema(content.path(type).path("schema"), answer.body(), type.endsWith("json")));
        if (type.equals("application/problem+json")
                && findings.isEmpty()
                && !answer.body().contains("\"status\":" + answer.status())) {
            findings.add("/status: the problem states another status");
        }
        return findings;
    }

    private List<String> againstSchema(JsonNode schema, String body, boolean json) {
        JsonNode value;
        try {
            value = json ? JSON.readTree(body) : TextNode.valueOf(body);
        } catch (JsonProcessingException e) {
            return List.of("the body is not JSON: " + e.getOriginalMessage());
        }
        List<String> findings = findings(schema, value);
        return findings.isEmpty() || !schema.has("oneOf") ? findings : againstNearest(schema.get("oneOf"), value);
    }

    /** The findings against the best matching alternative: those against all of them say little. */
    private List<String> againstNearest(JsonNode alternatives, JsonNode value) {
        List<String> nearest = StreamSupport.stream(alternatives.spliterator(), false)
                .map(alternative -> findings(alternative, value))
                .min(Comparator.comparingInt(List::size))
                .orElseThrow();
        return nearest.isEmpty() ? List.of("/: fits more than one of the documented schemas") : nearest;
    }

    private List<String> findings(JsonNode schema, JsonNode value) {
        return schemas.computeIfAbsent(schema, this::compiled).validate(value).stream()
                .map(message -> {
                    String pointer = message.getInstanceLocation().toString();
                    return (pointer.isEmpty() ? "/" : pointer) + ": "
                            + message.getMessage().replaceFirst("^" + Pattern.quote(pointer) + ": ", "");
                })
                .toList();
    }

    private JsonSchema compiled(JsonNode schema) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        root.putArray("allOf").add(closed(schema));
        root.set("components", components);
        return factory.getSchema(root, CONFIG);
    }

    /** A copy in which no object has fields that its schema does not name. */
    private static JsonNode closed(JsonNode schema) {
        JsonNode copy = schema.deepCopy();
        close(copy);
        return copy;
    }

    private static void close(JsonNode schema) {
        if (schema instanceof ObjectNode object
                && object.path("properties").isObject()
                && object.path("type").asText().equals("object")
                && !object.has("additionalProperties")) {
            object.put("additionalProperties", false);
        }
        schema.forEach(AnswerValidator::close);
    }

    private static String shown(Answer answer) {
        String body = answer.body();
        return "\n    " + answer.method() + " " + answer.address() + "\n    "
                + (body.length() > SHOWN_CHARACTERS ? body.substring(0, SHOWN_CHARACTERS) + " ..." : body);
    }
}
