package io.quartermaster.governance;

import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import java.util.List;
import java.util.function.Function;

/** Pages of a list that is in memory as a whole: a tenant's rules, whose number is bounded. */
public final class ListPager {

    private ListPager() {}

    /**
     * Returns the requested page.
     *
     * @param all sorted by name
     */
    public static <T> Page<T> of(List<T> all, Function<T, String> name, String scope, PageRequest page) {
        String after = page.after(scope).orElse("");
        int size = page.size();
        List<T> found = all.stream()
                .filter(one -> name.apply(one).compareTo(after) > 0)
                .limit(size + 1L)
                .toList();
        return Page.of(found, size, scope, name);
    }
}
