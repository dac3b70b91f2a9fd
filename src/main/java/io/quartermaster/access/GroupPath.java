package io.quartermaster.access;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.ArrayList;
import java.util.List;
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

    /** Whether a step is {@code .} or {@code ..}: an address of Keycloak cannot name such a group. */
    public boolean hasDotSteps() {
        return (value + "/").contains("/./") || (value + "/").contains("/../");
    }

    /** The groups above this one, from the top, and itself. */
    public List<GroupPath> fromTheTop() {
        List<GroupPath> all = new ArrayList<>();
        for (int end = value.indexOf('/', 1); end > 0; end = value.indexOf('/', end + 1)) {
            all.add(new GroupPath(value.substring(0, end)));
        }
        all.add(this);
        return all;
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
