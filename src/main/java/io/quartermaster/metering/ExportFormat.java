package io.quartermaster.metering;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
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
        void write(ExportMapping mapping, ExportRecord exported, StringBuilder line) {
            String separator = "";
            for (ExportMapping.Column column : mapping.columns()) {
                line.append(separator);
                exported.text(column.field()).ifPresent(text -> cell(text, line));
                separator = ",";
            }
            line.append("\r\n");
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
        void write(ExportMapping mapping, ExportRecord exported, StringBuilder line) {
            char separator = '{';
            for (ExportMapping.Column column : mapping.columns()) {
                line.append(separator).append('"').append(column.name()).append("\":");
                value(column.field(), exported.text(column.field()), line);
                separator = ',';
            }
            line.append("}\n");
        }

        private static void value(ExportRecord.Field field, Optional<String> text, StringBuilder line) {
            if (text.isEmpty()) {
                line.append("null");
                return;
            }
            switch (field.valueType()) {
                case TEXT -> {
                    line.append('"');
                    JsonStringEncoder.getInstance().quoteAsString(text.get(), line);
                    line.append('"');
                }
                case WHOLE_NUMBER, BOOLEAN -> line.append(text.get());
            }
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

    /** Appends the record's line. */
    abstract void write(ExportMapping mapping, ExportRecord exported, StringBuilder line);

    /**
     * Appends one value of a CSV line. Tenants choose names, and spreadsheets run a value that begins like a formula.
     * Such a value gets an apostrophe in front, which marks it as text (OWASP, "CSV Injection").
     */
    static void cell(String text, StringBuilder line) {
        boolean formula = !text.isEmpty() && "=+-@\t\r\n".indexOf(text.charAt(0)) >= 0;
        if (!formula && !needsQuotes(text)) {
            line.append(text);
            return;
        }
        line.append('"');
        if (formula) {
            line.append('\'');
        }
        line.append(text.replace("\"", "\"\"")).append('"');
    }

    private static boolean needsQuotes(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == ',' || c == '"' || c == '\r' || c == '\n') {
                return true;
            }
        }
        return false;
    }
}
