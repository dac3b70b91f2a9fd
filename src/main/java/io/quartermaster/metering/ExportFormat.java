package io.quartermaster.metering;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;
import java.util.stream.Collectors;

/** The formats of exported records, each with its line end. */
enum ExportFormat {
    /** RFC 4180, in UTF-8, with a header line. */
    CSV("text/csv; charset=utf-8; header=present") {
        @Override
        String header(ExportMapping mapping) {
            return mapping.columns().stream().map(ExportMapping.Column::name).collect(Collectors.joining(",")) + "\r\n";
        }

        @Override
        String line(ExportMapping mapping, ExportRecord exported) {
            return mapping.columns().stream()
                            .map(column -> cell(exported.text(column.field()).orElse("")))
                            .collect(Collectors.joining(","))
                    + "\r\n";
        }
    },

    /**
     * One JSON object per line. Amounts are text, so that no reader parses them as binary floats; counts and booleans
     * are JSON values.
     */
    JSONL("application/jsonl; charset=utf-8") {
        @Override
        String header(ExportMapping mapping) {
            return "";
        }

        @Override
        String line(ExportMapping mapping, ExportRecord exported) {
            ObjectNode object = JsonNodeFactory.instance.objectNode();
            for (ExportMapping.Column column : mapping.columns()) {
                Optional<String> text = exported.text(column.field());
                if (text.isPresent()) {
                    object.set(column.name(), value(column.field(), text.get()));
                } else {
                    object.putNull(column.name());
                }
            }
            return object + "\n";
        }

        private static JsonNode value(ExportRecord.Field field, String text) {
            return switch (field.form()) {
                case TEXT -> JsonNodeFactory.instance.textNode(text);
                case WHOLE_NUMBER -> JsonNodeFactory.instance.numberNode(Long.parseLong(text));
                case TRUTH -> JsonNodeFactory.instance.booleanNode(Boolean.parseBoolean(text));
            };
        }
    };

    private final String mediaType;

    ExportFormat(String mediaType) {
        this.mediaType = mediaType;
    }

    String mediaType() {
        return mediaType;
    }

    abstract String header(ExportMapping mapping);

    abstract String line(ExportMapping mapping, ExportRecord exported);

    /**
     * One value of a CSV line. Tenants choose names, and spreadsheets run a value that begins like a formula. Such a
     * value gets an apostrophe in front, which marks it as text (OWASP, "CSV Injection").
     */
    static String cell(String text) {
        boolean formula = !text.isEmpty() && "=+-@\t\r\n".indexOf(text.charAt(0)) >= 0;
        String safe = formula ? "'" + text : text;
        boolean quoted = formula || safe.chars().anyMatch(c -> c == ',' || c == '"' || c == '\r' || c == '\n');
        return quoted ? '"' + safe.replace("\"", "\"\"") + '"' : safe;
    }
}
