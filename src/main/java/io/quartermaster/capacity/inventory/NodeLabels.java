package io.quartermaster.capacity.inventory;

import io.quartermaster.platform.http.PrintableText;
import io.quartermaster.platform.http.ProblemException;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The form of the labels of nodes, and of the node labels that profiles require. */
public final class NodeLabels {

    /** The most labels of one node or profile. */
    public static final int MAX_LABELS = 64;

    private static final int MAX_LENGTH = 63;
    private static final Pattern KEY = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?");
    private static final String ACCEPTED = "at most " + MAX_LABELS + " labels; a key has 1 to " + MAX_LENGTH
            + " letters, digits, dots, dashes, underscores and slashes, and begins and ends with a letter or "
            + "digit; a value has at most "
            + MAX_LENGTH + " printable characters";

    private NodeLabels() {}

    /** Reports the first label that is ill-formed. */
    public static void check(ProblemException.Invalid problems, String field, @Nullable Map<String, String> labels) {
        if (labels == null) {
            return;
        }
        problems.check(labels.size() <= MAX_LABELS, field, "has " + labels.size() + " labels", ACCEPTED);
        labels.entrySet().stream()
                .filter(label -> !isValid(label.getKey(), label.getValue()))
                .findFirst()
                .ifPresent(
                        label -> problems.add(field, "the label \"" + label.getKey() + "\" is not accepted", ACCEPTED));
    }

    private static boolean isValid(String key, @Nullable String value) {
        return KEY.matcher(key).matches()
                && value != null
                && value.length() <= MAX_LENGTH
                && PrintableText.isPrintable(value);
    }
}
