package io.quartermaster.platform.filters;

import io.quartermaster.platform.http.ProblemException;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.core.UriInfo;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;

/**
 * Refuses query parameters that a route does not read: a misspelt filter would list everything, a misspelt
 * {@code dryRun} would write. The parameters of the route's method define what it reads. Texts with a NUL, which
 * PostgreSQL cannot store, are refused here too; no path parameter can hold one.
 *
 * <p>Runs after the gate, so that callers learn nothing about routes that they may not call. Requests of agents pass:
 * agents of another version may send more parameters.
 */
public final class QueryNames {

    private static final String AGENTS = "/v1/nodes/";

    private final Map<Method, SortedMap<String, Boolean>> known = new ConcurrentHashMap<>();

    @ServerRequestFilter(priority = Priorities.USER)
    public void check(ResourceInfo resource, UriInfo uri) {
        if (uri.getPath().indexOf(0) >= 0) {
            throw ProblemException.notFound();
        }
        if (!uri.getPath().startsWith(AGENTS)) {
            SortedMap<String, Boolean> read = known.computeIfAbsent(resource.getResourceMethod(), QueryNames::readBy);
            Optional<ProblemException> refusal = refusal(uri.getQueryParameters(), read);
            if (refusal.isPresent()) {
                throw refusal.get();
            }
        }
    }

    /** A problem that lists everything wrong with the given parameters, or empty. */
    static Optional<ProblemException> refusal(MultivaluedMap<String, String> given, SortedMap<String, Boolean> read) {
        ProblemException.Invalid problems = new ProblemException.Invalid();
        for (Map.Entry<String, List<String>> each : new TreeMap<>(given).entrySet()) {
            String name = each.getKey();
            Boolean several = read.get(name);
            if (several == null) {
                problems.add(
                        name,
                        "there is no such query parameter",
                        read.isEmpty() ? "none" : String.join(", ", read.keySet()));
            } else if (!several && each.getValue().size() > 1) {
                problems.add(name, "it is given " + each.getValue().size() + " times", "one value");
            } else if (each.getValue().stream().anyMatch(value -> value.indexOf(0) >= 0)) {
                problems.add(name, "it holds the character NUL", "a text without NUL");
            }
        }
        return problems.isEmpty() ? Optional.empty() : Optional.of(problems.toException());
    }

    /**
     * The query parameters that a route's method takes, directly or in its beans, and whether each may have several
     * values.
     */
    static SortedMap<String, Boolean> readBy(Method route) {
        SortedMap<String, Boolean> names = new TreeMap<>();
        for (Parameter parameter : route.getParameters()) {
            name(parameter).ifPresent(name -> names.put(name, isList(parameter.getType())));
            if (parameter.isAnnotationPresent(BeanParam.class)) {
                for (Class<?> bean = parameter.getType(); bean != null; bean = bean.getSuperclass()) {
                    for (Field field : bean.getDeclaredFields()) {
                        name(field).ifPresent(name -> names.put(name, isList(field.getType())));
                    }
                }
            }
        }
        return Collections.unmodifiableSortedMap(names);
    }

    private static boolean isList(Class<?> type) {
        return Collection.class.isAssignableFrom(type);
    }

    private static Optional<String> name(AnnotatedElement element) {
        return Optional.ofNullable(element.getAnnotation(QueryParam.class)).map(QueryParam::value);
    }
}
