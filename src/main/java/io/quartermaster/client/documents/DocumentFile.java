package io.quartermaster.client.documents;

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
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
 * Documents in a file of YAML or JSON. Numbers and words need no quotation marks, and durations may be {@code 2h}. The
 * service checks the names of the fields.
 */
public final class DocumentFile {

    private static final int DEEPEST = 50;
    private static final int MOST_VALUES = 100_000;

    /** Numbers and flags stay as they are written. */
    private static final ObjectMapper STRICT_JSON = new ObjectMapper()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

    private final FieldTypes types;
    private final String noun;
    private final String form;

    /**
     * @param noun what a document is, with its article, such as {@code a submission}
     * @param form the form of a document, in a message for a person
     */
    public DocumentFile(FieldTypes types, String noun, String form) {
        this.types = types;
        this.noun = noun;
        this.form = form;
    }

    /** Reads a file, or standard input for {@code -}. */
    public List<ObjectNode> read(String file, InputStream input) {
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

    /** The documents of a text; none if it has none. */
    public List<ObjectNode> parse(String file, String text) {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        options.setNestingDepthLimit(DEEPEST);
        Optional<ObjectNode> json = json(file, text);
        if (json.isPresent()) {
            return List.of(json.get());
        }
        Yaml yaml = new Yaml(
                new SafeConstructor(options),
                new Representer(new DumperOptions()),
                new DumperOptions(),
                options,
                new PlainTexts());
        List<ObjectNode> documents = new ArrayList<>();
        try {
            for (Object document : yaml.loadAll(text)) {
                if (!(document instanceof Map<?, ?> fields)) {
                    throw CommandFailure.usage(file + ": " + noun + " is " + form);
                }
                documents.add(new Reading(file).document(fields));
            }
        } catch (YAMLException e) {
            throw CommandFailure.usage(file + " is neither YAML nor JSON: " + reason(e));
        }
        return documents;
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
     * The one document in a text that is JSON. YAML reads most of JSON, but not each of its texts. Empty if the text is
     * none, or has a field twice, which the reader of YAML reports.
     */
    private Optional<ObjectNode> json(String file, String text) {
        if (!text.stripLeading().startsWith("{")) {
            return Optional.empty();
        }
        try {
            Map<?, ?> fields = STRICT_JSON.readValue(text, Map.class);
            return Optional.of(new Reading(file).document(fields));
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
    }

    /** Reads one document, and ends if it is too deep or too large; aliases can make either without end. */
    private final class Reading {
        private final String file;
        private int values;

        Reading(String file) {
            this.file = file;
        }

        ObjectNode document(Map<?, ?> fields) {
            ObjectNode document = DocumentWriter.JSON.createObjectNode();
            fields.forEach((key, value) -> {
                String field = String.valueOf(key);
                document.set(field, value(field, field, value, 1));
            });
            return document;
        }

        private JsonNode value(String path, String field, @Nullable Object value, int depth) {
            values++;
            if (depth > DEEPEST || values > MOST_VALUES) {
                throw CommandFailure.usage(file + ": " + noun + " has at most " + MOST_VALUES
                        + " values, nested at most " + DEEPEST + " deep");
            }
            return switch (value) {
                case null -> DocumentWriter.JSON.nullNode();
                case Map<?, ?> map -> {
                    boolean free = types.freeMaps().contains(field);
                    ObjectNode object = DocumentWriter.JSON.createObjectNode();
                    map.forEach((key, item) -> object.set(
                            String.valueOf(key),
                            value(path + "." + key, free ? "" : String.valueOf(key), item, depth + 1)));
                    yield object;
                }
                case List<?> list -> {
                    ArrayNode array = DocumentWriter.JSON.createArrayNode();
                    list.forEach(item -> array.add(value(path + "[" + array.size() + "]", "", item, depth + 1)));
                    yield array;
                }
                default -> types.read(file + ": " + path, field, value.toString());
            };
        }
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
