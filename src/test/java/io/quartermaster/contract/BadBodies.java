package io.quartermaster.contract;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Corrupts a valid body in every way that its schema suggests, one at a time. At every depth, fields become unknown, of
 * another type, too long, out of range or missing.
 */
final class BadBodies {

    /**
     * @param what the error, in words
     * @param field the field that the answer must name
     * @param bounded whether the accepted values are a list or a range, so that the answer must state them
     */
    record Bad(String what, String text, String field, boolean bounded) {}

    /** Only the database finds some of these errors, and it cannot name the field. */
    static final String NUL = "a text with a NUL";

    private static final int TOO_LONG = 100_000;
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private final Contract contract;
    private final List<Bad> found = new ArrayList<>();
    private final ObjectNode good;

    private BadBodies(Contract contract, ObjectNode good) {
        this.contract = contract;
        this.good = good;
    }

    static List<Bad> of(Contract contract, Contract.Call call, JsonNode good) {
        BadBodies bodies = new BadBodies(contract, (ObjectNode) good);
        bodies.noBodies(call);
        bodies.found.add(new Bad("two documents", good + " {}", "body", false));
        bodies.found.add(
                new Bad("a document a thousand deep", "{\"a\":".repeat(1_000) + "1" + "}".repeat(1_000), "", false));
        bodies.inObject("", call.bodySchema());
        return bodies.found;
    }

    /** Bodies that are not a document of the expected kind at all. */
    static List<Bad> noneOf(Contract contract, Contract.Call call, JsonNode good) {
        BadBodies bodies = new BadBodies(contract, (ObjectNode) good);
        bodies.noBodies(call);
        return bodies.found;
    }

    private void noBodies(Contract.Call call) {
        if (call.needsBody()) {
            found.add(new Bad("nothing", "", "", false));
            found.add(new Bad("null", "null", "", false));
        }
        found.add(new Bad("no JSON", "name: x", "body", false));
        found.add(new Bad("half a document", "{\"a\":", "body", false));
        found.add(new Bad("a list", "[]", "body", false));
        found.add(new Bad("a text", "\"x\"", "body", false));
    }

    /** @param at a JSON pointer to an object of the valid body */
    private void inObject(String at, JsonNode declared) {
        JsonNode schema = contract.resolved(declared);
        spoil(at + "/surprise", "a field there is not", NODES.numberNode(1), true);
        for (JsonNode required : schema.path("required")) {
            spoil(at + "/" + required.asText(), "a field that is needed missing", null, false);
        }
        for (Map.Entry<String, JsonNode> property : schema.path("properties").properties()) {
            inField(at + "/" + property.getKey(), contract.resolved(property.getValue()));
        }
    }

    private void inField(String at, JsonNode schema) {
        switch (schema.path("type").asText()) {
            case "string" -> inText(at, schema);
            case "integer" -> {
                wrongTypes(
                        at, NODES.textNode("many"), NODES.textNode("3"), NODES.booleanNode(true), NODES.objectNode());
                spoil(at, "a fraction", NODES.numberNode(1.5), false);
                spoil(at, "far below all ranges", NODES.numberNode(-9_000_000_000_000_000L), false);
                spoil(at, "far above all ranges", NODES.numberNode(1e30), false);
            }
            case "boolean" ->
                wrongTypes(at, NODES.textNode("maybe"), NODES.textNode("true"), NODES.numberNode(1), NODES.arrayNode());
            case "array" -> {
                wrongTypes(
                        at,
                        NODES.textNode("one"),
                        NODES.numberNode(1),
                        NODES.objectNode().put("a", 1));
                JsonNode items = contract.resolved(schema.path("items"));
                spoil(at, "a list of lists", NODES.arrayNode().add(NODES.arrayNode()), false);
                if (isObject(items) && good.at(at).size() > 0) {
                    inObject(at + "/0", items);
                }
            }
            default -> {
                wrongTypes(
                        at,
                        NODES.textNode("one"),
                        NODES.numberNode(1),
                        NODES.arrayNode().add(1));
                if (isObject(schema) && good.at(at).isObject()) {
                    inObject(at, schema);
                }
            }
        }
    }

    private void inText(String at, JsonNode schema) {
        wrongTypes(
                at,
                NODES.objectNode().put("a", 1),
                NODES.arrayNode().add("x"),
                NODES.numberNode(3),
                NODES.booleanNode(true));
        spoil(at, "too long a text", NODES.textNode("x".repeat(TOO_LONG)), false);
        spoil(at, NUL, NODES.textNode("a\u0000b"), false);
        if (schema.has("enum")) {
            spoil(at, "a word there is not", NODES.textNode("no-such-word"), true);
        }
        if (schema.path("format").asText().equals("duration")) {
            for (String text : List.of("an hour", "-PT1H", "PT1E9S", "P1000000D")) {
                spoil(at, "no duration: " + text, NODES.textNode(text), true);
            }
        }
        if (schema.path("format").asText().equals("date-time")) {
            for (String text : List.of("yesterday", "2026-13-01T00:00:00Z", "2026-01-01")) {
                spoil(at, "no time: " + text, NODES.textNode(text), true);
            }
        }
        if (schema.path("format").asText().equals("gpus")) {
            for (String text : List.of("-1", "NaN", "Infinity", "1e400", "0.0001", "1000001", "", " 1", "0x1")) {
                spoil(at, "no amount of GPUs: " + text, NODES.textNode(text), true);
            }
        }
    }

    private void wrongTypes(String at, JsonNode... values) {
        for (JsonNode value : values) {
            spoil(at, "another type: " + value, value, false);
        }
    }

    /** @param value the new value; null: the field is removed */
    private void spoil(String at, String what, @Nullable JsonNode value, boolean bounded) {
        int cut = at.lastIndexOf('/');
        ObjectNode bad = good.deepCopy();
        ObjectNode parent = (ObjectNode) bad.at(at.substring(0, cut));
        String name = at.substring(cut + 1);
        if (value == null) {
            parent.remove(name);
        } else {
            parent.set(name, value);
        }
        String field = at.substring(1).replaceAll("/(\\d+)", "[$1]").replace('/', '.');
        found.add(new Bad(what, bad.toString(), field, bounded));
    }

    private static boolean isObject(JsonNode schema) {
        return StreamSupport.stream(schema.path("properties").spliterator(), false)
                .findAny()
                .isPresent();
    }
}
