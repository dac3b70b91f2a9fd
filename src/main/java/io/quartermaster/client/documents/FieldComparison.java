package io.quartermaster.client.documents;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.output.DocumentWriter;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Set;

/**
 * Compares the fields that a document names with those of an object. Other fields of the object do not count, so it
 * keeps the defaults of the service. A value that cannot be compared counts as different; the service then decides.
 *
 * @param amounts fields whose text is a number, so that {@code 8} equals {@code 8.0}
 * @param durations fields whose text is a duration
 * @param instants fields whose text is a moment
 */
public record FieldComparison(Set<String> amounts, Set<String> durations, Set<String> instants) {

    public FieldComparison {
        amounts = Set.copyOf(amounts);
        durations = Set.copyOf(durations);
        instants = Set.copyOf(instants);
    }

    /** The fields whose value differs, as a merge patch. */
    public ObjectNode difference(ObjectNode stated, JsonNode present) {
        ObjectNode difference = DocumentWriter.JSON.createObjectNode();
        stated.properties().forEach(field -> {
            if (!isSame(field.getKey(), field.getValue(), present.path(field.getKey()))) {
                difference.set(field.getKey(), field.getValue());
            }
        });
        return difference;
    }

    private boolean isSame(String field, JsonNode stated, JsonNode present) {
        if (stated.isNull() || present.isMissingNode() || present.isNull()) {
            return stated.isNull() && (present.isMissingNode() || present.isNull());
        }
        if (stated instanceof ObjectNode fields) {
            return present.isObject() && difference(fields, present).isEmpty();
        }
        if (stated.isArray()) {
            boolean same = present.isArray() && stated.size() == present.size();
            for (int i = 0; same && i < stated.size(); i++) {
                same = isSame("", stated.path(i), present.path(i));
            }
            return same;
        }
        if (stated.isTextual() && present.isTextual()) {
            return stated.equals(present) || isSameText(field, stated.asText(), present.asText());
        }
        return stated.equals(present) || isSameNumber(stated, present);
    }

    private static boolean isSameNumber(JsonNode stated, JsonNode present) {
        return stated.isNumber() && present.isNumber() && stated.decimalValue().compareTo(present.decimalValue()) == 0;
    }

    private boolean isSameText(String field, String stated, String present) {
        try {
            if (amounts.contains(field)) {
                return new BigDecimal(stated).compareTo(new BigDecimal(present)) == 0;
            }
            if (durations.contains(field)) {
                return Duration.parse(stated).equals(Duration.parse(present));
            }
            return instants.contains(field) && instant(stated).equals(instant(present));
        } catch (DateTimeException | NumberFormatException e) {
            return false;
        }
    }

    private static Instant instant(String text) {
        return OffsetDateTime.parse(text).toInstant();
    }
}
