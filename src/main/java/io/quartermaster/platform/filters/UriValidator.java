package io.quartermaster.platform.filters;

import io.quarkus.vertx.http.runtime.filters.Filters;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemWriter;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Refuses an invalid URI, such as one with malformed percent escapes, with a problem document, before any code parses
 * it. The framework has the same check, but answers without a body; {@code cli.ServiceRun} turns that one off.
 */
@Singleton
public class UriValidator {

    private static final Pattern NO_ESCAPE = Pattern.compile("%(?![0-9A-Fa-f]{2})");

    private final ProblemWriter problems;

    UriValidator(ProblemWriter problems) {
        this.problems = problems;
    }

    void register(@Observes Filters filters) {
        filters.register(this::check, FilterPriorities.ADDRESSES);
    }

    private void check(RoutingContext request) {
        Optional<Problem.Field> wrong = findMalformed(request.request().uri());
        if (wrong.isEmpty()) {
            request.next();
            return;
        }
        Problem.Field field = wrong.get();
        problems.end(request, Problem.of(400, "invalid-input", field.field() + ": " + field.message(), List.of(field)));
    }

    /** The error of the path, or of the first query parameter that cannot be decoded, under its undecoded name. */
    static Optional<Problem.Field> findMalformed(String uri) {
        try {
            URI read = new URI(uri);
            return read.getRawPath() == null ? Optional.of(malformed("path")) : Optional.empty();
        } catch (URISyntaxException e) {
            return Optional.of(malformed(place(uri, e.getIndex())));
        }
    }

    private static Problem.Field malformed(String place) {
        return new Problem.Field(
                place,
                "its percent escapes cannot be decoded",
                "percent escapes of two hexadecimal digits, such as %25, for characters that a URI cannot hold");
    }

    private static String place(String uri, int index) {
        int query = uri.indexOf('?');
        if (query < 0
                || index < query
                || NO_ESCAPE.matcher(uri.substring(0, query)).find()) {
            return "path";
        }
        int begin = Math.max(query, uri.lastIndexOf('&', index)) + 1;
        String pair = uri.substring(begin, end(uri, '&', begin));
        return pair.substring(0, end(pair, '=', 0));
    }

    private static int end(String text, char sign, int from) {
        int at = text.indexOf(sign, from);
        return at < 0 ? text.length() : at;
    }
}
