package io.quartermaster.client.output;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.Yaml;

/** Writes answers of the API as JSON or YAML, with their fields in the order of the answer. */
public final class DocumentWriter {

    /** The mapper of all documents of this program. */
    public static final ObjectMapper JSON = new ObjectMapper();

    private DocumentWriter() {}

    /** JSON with two spaces of indentation, without a line feed at the end. */
    public static String json(JsonNode document) {
        DefaultPrettyPrinter printer = new DefaultPrettyPrinter();
        printer.indentArraysWith(DefaultIndenter.SYSTEM_LINEFEED_INSTANCE);
        try {
            return JSON.writer(printer).writeValueAsString(document);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write a JSON document", e);
        }
    }

    /** YAML in block style, without a line feed at the end. A text that YAML would read as another type is quoted. */
    public static String yaml(JsonNode document) {
        DumperOptions options = new DumperOptions();
        options.setDefaultFlowStyle(DumperOptions.FlowStyle.BLOCK);
        options.setIndicatorIndent(2);
        options.setIndentWithIndicator(true);
        options.setWidth(Integer.MAX_VALUE);
        options.setSplitLines(false);
        return new Yaml(options).dump(value(document)).stripTrailing();
    }

    private static @Nullable Object value(JsonNode node) {
        return switch (node.getNodeType()) {
            case OBJECT -> {
                Map<String, @Nullable Object> map = new LinkedHashMap<>();
                node.properties().forEach(field -> map.put(field.getKey(), value(field.getValue())));
                yield map;
            }
            case ARRAY -> {
                List<@Nullable Object> list = new ArrayList<>();
                node.forEach(item -> list.add(value(item)));
                yield list;
            }
            case NUMBER -> number(node);
            case BOOLEAN -> node.booleanValue();
            case NULL, MISSING -> null;
            case STRING, BINARY, POJO -> node.asText();
        };
    }

    private static Object number(JsonNode node) {
        if (!node.isIntegralNumber()) {
            return node.decimalValue();
        }
        BigInteger whole = node.bigIntegerValue();
        return whole.bitLength() < Long.SIZE ? (Object) whole.longValueExact() : whole;
    }
}
