package io.quartermaster.access;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import io.quartermaster.platform.http.PrintableText;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * A user group of a tenant, from the top: {@code /research/nlp}. A group contains itself and its subgroups.
 *
 * <p>The constructor accepts every path that was ever stored or that a token names. {@link #parseRequested} accepts the
 * paths that a request may name.
 */
@Schema(
        type = SchemaType.STRING,
        maxLength = GroupPath.MAX_LENGTH,
        pattern = "^(/[^/]+)+$",
        description =
                "path of a group, such as /research/nlp. Each step has at most 255 printable characters, does not "
                        + "begin or end with a blank, and is not . or ..")
public record GroupPath(String value) implements Comparable<GroupPath> {

    public static final int MAX_LENGTH = 512;
    /** The most characters of a step: the longest name of a group that Keycloak stores. */
    public static final int MAX_STEP_LENGTH = 255;
    /** The description of a valid path, for the field {@code accepted} of a problem. */
    public static final String ACCEPTED = "a path such as /research/nlp of at most " + MAX_LENGTH
            + " characters, whose steps have 1 to " + MAX_STEP_LENGTH
            + " printable characters, do not begin or end with a blank, and are not . or ..";

    private static final Pattern FORM = Pattern.compile("(/[^/]+)+", Pattern.DOTALL);

    public GroupPath {
        if (!isValid(value)) {
            throw new IllegalArgumentException("\"" + value + "\" is not the path of a group");
        }
    }

    public static boolean isValid(String value) {
        return value.length() <= MAX_LENGTH && FORM.matcher(value).matches();
    }

    /**
     * The path that a request names.
     *
     * @throws IllegalArgumentException if no group with this path can be created; the message states the reason
     */
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public static GroupPath parseRequested(String value) {
        refusal(value).ifPresent(why -> {
            throw new IllegalArgumentException(why);
        });
        return new GroupPath(value);
    }

    /** The reason why a request may not name a group of this path; empty if it may. */
    public static Optional<String> refusal(String value) {
        if (value.length() > MAX_LENGTH) {
            return Optional.of("is " + value.length() + " characters long");
        }
        if (!FORM.matcher(value).matches()) {
            return Optional.of("\"" + value + "\" is not the path of a group");
        }
        if (!PrintableText.isPrintable(value)) {
            return Optional.of("holds characters that cannot be seen");
        }
        for (String step : value.substring(1).split("/")) {
            int length = step.codePointCount(0, step.length());
            if (length > MAX_STEP_LENGTH) {
                return Optional.of("has a step of " + length + " characters");
            }
            if (step.equals(".") || step.equals("..")) {
                return Optional.of("has a step that is . or ..");
            }
            if (isBlank(step.codePointAt(0)) || isBlank(step.codePointBefore(step.length()))) {
                return Optional.of("has a step that begins or ends with a blank");
            }
        }
        return Optional.empty();
    }

    private static boolean isBlank(int character) {
        return Character.isWhitespace(character) || Character.isSpaceChar(character);
    }

    /** Compares whole steps: {@code /research} contains {@code /research/nlp}, not {@code /research-2}. */
    public boolean contains(GroupPath other) {
        return other.value.equals(value) || other.value.startsWith(value + "/");
    }

    /** Whether a step is {@code .} or {@code ..}: a URL of Keycloak cannot name such a group. */
    public boolean hasDotSteps() {
        return (value + "/").contains("/./") || (value + "/").contains("/../");
    }

    /** The groups above this one, from the top, and itself. */
    public List<GroupPath> ancestorsAndSelf() {
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
