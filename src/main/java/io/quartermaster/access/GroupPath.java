package io.quartermaster.access;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** A user group of a tenant, from the top: {@code /research/nlp}. A group contains itself and its subgroups. */
@Schema(
        type = SchemaType.STRING,
        maxLength = GroupPath.MAX_LENGTH,
        pattern = "^(/[^/]+)+$",
        description = "path of a group, such as /research/nlp")
public record GroupPath(String value) implements Comparable<GroupPath> {

    public static final int MAX_LENGTH = 512;
    /** What is told to those who wrote something else. */
    public static final String ACCEPTED = "a path such as /research/nlp";

    private static final Pattern FORM = Pattern.compile("(/[^/]+)+");

    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public GroupPath {
        if (!isValid(value)) {
            throw new IllegalArgumentException("\"" + value + "\" is not the path of a group");
        }
    }

    public static boolean isValid(String value) {
        return value.length() <= MAX_LENGTH && FORM.matcher(value).matches();
    }

    /** Compares whole steps: {@code /research} contains {@code /research/nlp}, not {@code /research-2}. */
    public boolean contains(GroupPath other) {
        return other.value.equals(value) || other.value.startsWith(value + "/");
    }

    @Override
    public int compareTo(GroupPath other) {
        return value.compareTo(other.value);
    }

    @JsonValue
    @Override
    public String toString() {
        return value;
    }
}
