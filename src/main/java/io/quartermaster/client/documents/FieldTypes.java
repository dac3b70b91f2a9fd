package io.quartermaster.client.documents;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ReadableDuration;
import java.util.Set;

/**
 * The types of fields in files, by their names. Every other field is a text.
 *
 * @param numbers fields with a whole number
 * @param flags fields that are true or false
 * @param durations fields with a duration, which people write as {@code 2h}
 * @param freeMaps fields with keys of a person's choice, whose values are texts
 */
public record FieldTypes(Set<String> numbers, Set<String> flags, Set<String> durations, Set<String> freeMaps) {

    public FieldTypes {
        numbers = Set.copyOf(numbers);
        flags = Set.copyOf(flags);
        durations = Set.copyOf(durations);
        freeMaps = Set.copyOf(freeMaps);
    }

    /** The value of a field. A text that does not fit the type stays a text, which the service refuses. */
    JsonNode read(String where, String field, String text) {
        JsonNodeFactory nodes = JsonNodeFactory.instance;
        if (numbers.contains(field) && text.matches("-?[0-9]{1,18}")) {
            return nodes.numberNode(Long.parseLong(text));
        }
        if (flags.contains(field) && (text.equals("true") || text.equals("false"))) {
            return nodes.booleanNode(text.equals("true"));
        }
        if (durations.contains(field)) {
            try {
                return nodes.textNode(ReadableDuration.parse(text).toString());
            } catch (IllegalArgumentException e) {
                throw CommandFailure.usage(where + ": " + e.getMessage());
            }
        }
        return nodes.textNode(text);
    }
}
