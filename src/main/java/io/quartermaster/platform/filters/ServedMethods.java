package io.quartermaster.platform.filters;

import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.Path;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Which methods a path has, over all resource classes. The framework searches only the class with the longest matching
 * path, and answers 404 even where another class has the path.
 */
@Singleton
public class ServedMethods {

    private static final Pattern PLACEHOLDER = Pattern.compile("\\{[^}]+}");
    private static final String ANYTHING = "[^/]+";

    private record Route(Pattern path, String method) {}

    private final List<Route> routes = new ArrayList<>();

    @Inject
    ServedMethods(BeanManager beans) {
        for (Bean<?> bean : beans.getBeans(Object.class, Any.Literal.INSTANCE)) {
            Path base = bean.getBeanClass().getAnnotation(Path.class);
            if (base != null) {
                for (Method method : bean.getBeanClass().getDeclaredMethods()) {
                    add(method);
                }
            }
        }
    }

    /** @param routes each a method and a path, with a space between them */
    ServedMethods(List<String> routes) {
        for (String route : routes) {
            int space = route.indexOf(' ');
            add(route.substring(0, space), steps(route.substring(space + 1)));
        }
    }

    private void add(Method method) {
        for (Annotation annotation : method.getAnnotations()) {
            HttpMethod named = annotation.annotationType().getAnnotation(HttpMethod.class);
            if (named != null) {
                add(named.value(), template(method));
            }
        }
    }

    /** The path of a route as its classes state it, such as {@code /v1/tenants/{tenant}/queues}. */
    public static String template(Method route) {
        Path base = route.getDeclaringClass().getAnnotation(Path.class);
        Path below = route.getAnnotation(Path.class);
        return (base == null ? "" : steps(base.value())) + (below == null ? "" : steps(below.value()));
    }

    private void add(String method, String path) {
        routes.add(new Route(pattern(path), method));
    }

    private static Pattern pattern(String path) {
        StringBuilder pattern = new StringBuilder();
        int end = 0;
        var places = PLACEHOLDER.matcher(path);
        while (places.find()) {
            pattern.append(Pattern.quote(path.substring(end, places.start()))).append(ANYTHING);
            end = places.end();
        }
        return Pattern.compile(
                pattern.append(Pattern.quote(path.substring(end))).toString());
    }

    /** The path with a slash before each step and none at the end. */
    private static String steps(String path) {
        String begun = path.startsWith("/") ? path : "/" + path;
        return begun.endsWith("/") ? begun.substring(0, begun.length() - 1) : begun;
    }

    /** The methods of a path; empty for an unknown path. */
    SortedSet<String> methodsOf(String path) {
        String wanted = steps(path);
        SortedSet<String> methods = new TreeSet<>();
        for (Route route : routes) {
            if (route.path().matcher(wanted).matches()) {
                methods.add(route.method());
            }
        }
        if (methods.contains(HttpMethod.GET)) {
            methods.add(HttpMethod.HEAD);
        }
        if (!methods.isEmpty()) {
            methods.add(HttpMethod.OPTIONS);
        }
        return methods;
    }
}
