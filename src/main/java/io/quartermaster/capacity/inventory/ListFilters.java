package io.quartermaster.capacity.inventory;

import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.http.ProblemException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Filters of lists, and lists of names in refusals. */
public final class ListFilters {

    private static final int MAX_LISTED = 20;

    private ListFilters() {}

    /** The constant that a query parameter names; null when it is absent, refused when it is unknown. */
    public static <E extends Enum<E>> @Nullable E parse(Class<E> type, String parameter, @Nullable String word) {
        if (word == null) {
            return null;
        }
        return EnumNames.parse(type, word)
                .orElseThrow(() -> ProblemException.invalid(
                        parameter, "\"" + word + "\" is not accepted", EnumNames.accepted(type)));
    }

    /** The first names of a list and the number of the others, for a sentence. */
    public static String abbreviate(List<String> names) {
        String first = String.join(", ", names.subList(0, Math.min(MAX_LISTED, names.size())));
        return names.size() <= MAX_LISTED ? first : first + " and " + (names.size() - MAX_LISTED) + " more";
    }
}
