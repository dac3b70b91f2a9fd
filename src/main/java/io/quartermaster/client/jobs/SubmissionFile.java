package io.quartermaster.client.jobs;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.FileFailure;
import io.quartermaster.client.output.ReadableDuration;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.Tag;
import org.yaml.snakeyaml.representer.Representer;
import org.yaml.snakeyaml.resolver.Resolver;

/**
 * Submissions in a file of YAML or JSON: one per document, with the fields of the API's body. Numbers and words need no
 * quotation marks, and {@code maxRuntime} may be {@code 2h}. The service checks the names of the fields.
 */
final class SubmissionFile {

    private static final Set<String> NUMBERS = Set.of("priority");
    private static final Set<String> FLAGS = Set.of("preemptible", "dedicatedOnly", "hold");
    private static final Set<String> DURATIONS = Set.of("maxRuntime");

    private static final int DEEPEST = 50;
    private static final int MOST_VALUES = 100_000;

    /** Numbers and flags stay as they are written. */
    private static final ObjectMapper STRICT_JSON = new ObjectMapper()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

    private SubmissionFile() {}

    /** Reads a file, or standard input for {@code -}. */
    static List<ObjectNode> read(String file, InputStream input) {
        try {
            return parse(
                    file,
                    file.equals("-")
                            ? new String(input.readAllBytes(), StandardCharsets.UTF_8)
                            : Files.readString(Path.of(file)));
        } catch (IOException e) {
            throw CommandFailure.usage(FileFailure.text(file, e));
        }
    }

    static List<ObjectNode> parse(String file, String text) {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        options.setNestingDepthLimit(DEEPEST);
        Optional<List<ObjectNode>> json = json(file, text);
        if (json.isPresent()) {
            return json.get();
        }
        Yaml yaml = new Yaml(
                new SafeConstructor(options),
                new Representer(new DumperOptions()),
                new DumperOptions(),
                options,
                new PlainTexts());
        List<ObjectNode> bodies = new ArrayList<>();
        try {
            for (Object document : yaml.loadAll(text)) {
                if (!(document instanceof Map<?, ?> fields)) {
                    throw CommandFailure.usage(
                            file + ": a submission is a mapping with fields such as queue, name and " + "command");
                }
                bodies.add(body(file, fields, new Budget(file)));
            }
        } catch (YAMLException e) {
            throw CommandFailure.usage(file + " is neither YAML nor JSON: " + reason(e));
        }
        if (bodies.isEmpty()) {
            throw CommandFailure.usage(file + " has no submission");
        }
        return bodies;
    }

    /** The place of a mistake in the text, and what is wrong there. */
    private static String reason(YAMLException e) {
        if (e instanceof MarkedYAMLException marked && marked.getProblemMark() != null) {
            Mark mark = marked.getProblemMark();
            return "line " + (mark.getLine() + 1) + ", column " + (mark.getColumn() + 1) + ": "
                    + String.valueOf(marked.getProblem()).lines().findFirst().orElse("");
        }
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
    }

    /**
     * The one submission in a text that is JSON. YAML reads most of JSON, but not each of its texts. Empty if the text
     * is none, or has a field twice, which the reader of YAML reports.
     */
    private static Optional<List<ObjectNode>> json(String file, String text) {
        if (!text.stripLeading().startsWith("{")) {
            return Optional.empty();
        }
        try {
            Map<?, ?> fields = STRICT_JSON.readValue(text, Map.class);
            return Optional.of(List.of(body(file, fields, new Budget(file))));
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    /** Ends the reading of a document that is too deep or too large; aliases can make either without end. */
    private static final class Budget {
        private final String file;
        private int values;

        Budget(String file) {
            this.file = file;
        }

        void take(int depth) {
            values++;
            if (depth > DEEPEST || values > MOST_VALUES) {
                throw CommandFailure.usage(file + ": a submission has at most " + MOST_VALUES
                        + " values, nested at most " + DEEPEST + " deep");
            }
        }
    }

    private static ObjectNode body(String file, Map<?, ?> fields, Budget budget) {
        ObjectNode body = DocumentWriter.JSON.createObjectNode();
        fields.forEach((key, value) -> {
            String field = String.valueOf(key);
            body.set(field, value(file + ": " + field, field, value, budget, 1));
        });
        return body;
    }

    private static JsonNode value(String where, String field, @Nullable Object value, Budget budget, int depth) {
        budget.take(depth);
        return switch (value) {
            case null -> DocumentWriter.JSON.nullNode();
            case Map<?, ?> map -> {
                ObjectNode object = DocumentWriter.JSON.createObjectNode();
                map.forEach((key, item) -> object.set(String.valueOf(key), value(where, "", item, budget, depth + 1)));
                yield object;
            }
            case List<?> list -> {
                ArrayNode array = DocumentWriter.JSON.createArrayNode();
                list.forEach(item -> array.add(value(where, "", item, budget, depth + 1)));
                yield array;
            }
            default -> scalar(where, field, value.toString());
        };
    }

    private static JsonNode scalar(String where, String field, String text) {
        var nodes = DocumentWriter.JSON.getNodeFactory();
        if (NUMBERS.contains(field) && text.matches("-?[0-9]{1,9}")) {
            return nodes.numberNode(Integer.parseInt(text));
        }
        if (FLAGS.contains(field) && (text.equals("true") || text.equals("false"))) {
            return nodes.booleanNode(text.equals("true"));
        }
        if (DURATIONS.contains(field)) {
            try {
                return nodes.textNode(ReadableDuration.parse(text).toString());
            } catch (IllegalArgumentException e) {
                throw CommandFailure.usage(where + ": " + e.getMessage());
            }
        }
        return nodes.textNode(text);
    }

    /** Reads every scalar as its text, so that {@code gpus: 1} and {@code FLAG: yes} stay what the file says. */
    private static final class PlainTexts extends Resolver {
        @Override
        protected void addImplicitResolvers() {
            addImplicitResolver(Tag.NULL, NULL, "~nN\0");
            addImplicitResolver(Tag.NULL, EMPTY, null);
            addImplicitResolver(Tag.MERGE, MERGE, "<");
        }
    }
}
