package io.quartermaster.platform.http;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One page of a list; the last page has no {@code nextPageToken}. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Page<T>(List<T> items, @Nullable String nextPageToken) {

    public Page {
        items = List.copyOf(items);
    }

    /** Makes a page of the rows that a query for {@code size + 1} rows found. */
    public static <T> Page<T> of(List<T> found, int size, String scope, Function<T, String> key) {
        if (found.size() <= size) {
            return new Page<>(found, null);
        }
        List<T> items = found.subList(0, size);
        return new Page<>(items, PageRequest.token(scope, key.apply(items.getLast())));
    }
}
