package io.quartermaster.platform.filters;

import io.quarkus.vertx.http.runtime.filters.Filters;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemWriter;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Refuses methods that the API does not know with 501, before any other work for the request. A caller can send any
 * word as a method, so nothing may be stored under its name.
 */
@Singleton
public class MethodValidator {

    private static final SortedSet<String> KNOWN = Stream.of(
                    HttpMethod.GET,
                    HttpMethod.HEAD,
                    HttpMethod.POST,
                    HttpMethod.PUT,
                    HttpMethod.PATCH,
                    HttpMethod.DELETE,
                    HttpMethod.OPTIONS)
            .map(HttpMethod::name)
            .collect(Collectors.toCollection(TreeSet::new));

    private static final Problem REFUSAL = Problem.of(
            501,
            "method-not-implemented",
            "The service does not know the method of the request. Use one of " + String.join(", ", KNOWN) + ".",
            List.of());

    private final ProblemWriter problems;

    MethodValidator(ProblemWriter problems) {
        this.problems = problems;
    }

    static boolean isKnown(HttpMethod method) {
        return KNOWN.contains(method.name());
    }

    void register(@Observes Filters filters) {
        filters.register(this::check, FilterPriorities.METHODS);
    }

    private void check(RoutingContext request) {
        if (isKnown(request.request().method())) {
            request.next();
        } else {
            problems.end(request, REFUSAL);
        }
    }
}
