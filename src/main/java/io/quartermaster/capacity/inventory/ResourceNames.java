package io.quartermaster.capacity.inventory;

import io.quartermaster.platform.http.ProblemException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The form of the names that operators and tenant admins choose: names appear in paths, so they are plain and short.
 */
public final class ResourceNames {

    public static final int MAX_LENGTH = 63;
    public static final String ACCEPTED =
            "1 to " + MAX_LENGTH + " lower-case letters, digits and dashes, the first is not a dash";
    static final String ACCEPTED_NODE =
            "1 to " + MAX_LENGTH + " lower-case letters, digits, dashes and dots, the first is a letter or digit";

    private static final Pattern FORM = Pattern.compile("[a-z0-9][a-z0-9-]{0,62}");
    private static final Pattern NODE_FORM = Pattern.compile("[a-z0-9][a-z0-9.-]{0,62}");

    private ResourceNames() {}

    static boolean isName(@Nullable String name) {
        return name != null && FORM.matcher(name).matches();
    }

    /** Reports a name that is missing or ill-formed; returns it unchanged. */
    public static String check(ProblemException.Invalid problems, String field, @Nullable String name) {
        return check(problems, field, name, FORM, ACCEPTED);
    }

    static String checkNode(ProblemException.Invalid problems, String field, @Nullable String name) {
        return check(problems, field, name, NODE_FORM, ACCEPTED_NODE);
    }

    private static String check(
            ProblemException.Invalid problems, String field, @Nullable String name, Pattern form, String accepted) {
        if (name == null) {
            problems.add(field, "is missing", accepted);
            return "";
        }
        problems.check(form.matcher(name).matches(), field, "\"" + name + "\" is not a valid name", accepted);
        return name;
    }
}
