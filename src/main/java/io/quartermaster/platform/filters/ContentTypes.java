package io.quartermaster.platform.filters;

import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jspecify.annotations.Nullable;

/**
 * Refuses bodies of another media type, or in another character set, than the route reads (415). The default is JSON in
 * UTF-8. Without this filter, the framework would try any reader that accepts the body.
 *
 * <p>Runs after the gate, so that callers learn nothing about routes that they may not call.
 */
public final class ContentTypes {

    private static final String CHARSET = "charset";

    private final Map<Method, List<MediaType>> read = new ConcurrentHashMap<>();

    @ServerRequestFilter(priority = Priorities.ENTITY_CODER)
    public void check(ContainerRequestContext request, ResourceInfo resource) {
        if (!hasBody(request)) {
            return;
        }
        List<MediaType> accepted = read.computeIfAbsent(resource.getResourceMethod(), ContentTypes::readBy);
        MediaType given = mediaType(request.getHeaderString(HttpHeaders.CONTENT_TYPE));
        if (given == null || accepted.stream().noneMatch(one -> isSame(one, given))) {
            throw refusal("The service does not read a body of this media type here.", accepted);
        }
        String charset = given.getParameters().get(CHARSET);
        if (charset != null && !charset.equalsIgnoreCase(StandardCharsets.UTF_8.name())) {
            throw refusal("The service reads bodies in UTF-8 only, not in " + charset + ".", accepted);
        }
    }

    private static boolean hasBody(ContainerRequestContext request) {
        String length = request.getHeaderString(HttpHeaders.CONTENT_LENGTH);
        return request.getHeaderString("Transfer-Encoding") != null
                || length != null && !length.strip().equals("0");
    }

    private static @Nullable MediaType mediaType(@Nullable String header) {
        try {
            return header == null ? null : MediaType.valueOf(header);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static boolean isSame(MediaType accepted, MediaType given) {
        return accepted.getType().equalsIgnoreCase(given.getType())
                && accepted.getSubtype().equalsIgnoreCase(given.getSubtype());
    }

    private static List<MediaType> readBy(Method route) {
        Consumes consumes = route.getAnnotation(Consumes.class);
        if (consumes == null) {
            consumes = route.getDeclaringClass().getAnnotation(Consumes.class);
        }
        return consumes == null
                ? List.of(MediaType.APPLICATION_JSON_TYPE)
                : Stream.of(consumes.value()).map(MediaType::valueOf).toList();
    }

    private static ProblemException refusal(String message, List<MediaType> accepted) {
        String types =
                String.join(", ", accepted.stream().map(MediaType::toString).toList());
        return new ProblemException(Problem.of(
                415,
                "unsupported-media-type",
                message + " Send " + types + ".",
                List.of(new Problem.Field(HttpHeaders.CONTENT_TYPE, message, types))));
    }
}
