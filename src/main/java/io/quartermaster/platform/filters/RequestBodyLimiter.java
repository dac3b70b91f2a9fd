package io.quartermaster.platform.filters;

import io.quarkus.vertx.http.runtime.VertxHttpConfig;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.quartermaster.platform.http.ProblemWriter;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;

/**
 * Limits the bodies of requests. A body whose declared length is too large is refused before it is read;
 * {@link BodyLimit} refuses one of undeclared length. The connection of a request whose body takes too long to arrive
 * is closed. Otherwise a caller that sends a byte now and then could hold a connection and the memory of its body
 * without end.
 */
@Singleton
public class RequestBodyLimiter {

    private static final int TOO_LARGE = 413;

    /**
     * How long the service continues to read a refused body, so that its sender can read the answer before the
     * connection closes.
     */
    private static final long DISCARD_MILLIS = 2_000;

    /** The framework's limit on bodies of unknown length; its own answer would have no problem document. */
    private static final String FRAMEWORKS_LIMIT = "io.quarkus.max-request-size";

    private final Vertx vertx;
    private final ProblemWriter problems;
    private final long timeoutMillis;
    private final long maxBytes;

    RequestBodyLimiter(Vertx vertx, ProblemWriter problems, HttpConfig config, VertxHttpConfig listener) {
        this.vertx = vertx;
        this.problems = problems;
        this.timeoutMillis = config.bodyTimeout().toMillis();
        this.maxBytes = BodyLimit.maxBytes(listener);
    }

    void register(@Observes Filters filters) {
        filters.register(this::limit, FilterPriorities.BODIES);
        filters.register(RequestBodyLimiter::leaveToBodyLimit, FilterPriorities.BODIES_OF_UNKNOWN_LENGTH);
    }

    private void limit(RoutingContext context) {
        HttpServerRequest request = context.request();
        if (!hasBody(request)) {
            context.next();
            return;
        }
        long timer = vertx.setTimer(timeoutMillis, passed -> {
            if (!request.isEnded()) {
                request.connection().close();
            }
        });
        context.addHeadersEndHandler(head -> {
            if (isRefused(context) && request.version() != HttpVersion.HTTP_2) {
                context.response().headers().set(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
            }
        });
        context.addEndHandler(end -> {
            vertx.cancelTimer(timer);
            if (isRefused(context) && !request.isEnded()) {
                discard(request);
            }
        });
        if (length(request) > maxBytes) {
            problems.end(context, BodyLimit.refusal(maxBytes));
        } else {
            context.next();
        }
    }

    private static boolean isRefused(RoutingContext context) {
        return context.response().getStatusCode() == TOO_LARGE;
    }

    private void discard(HttpServerRequest request) {
        request.handler(part -> {});
        request.resume();
        vertx.setTimer(DISCARD_MILLIS, passed -> {
            if (!request.isEnded() && request.version() == HttpVersion.HTTP_2) {
                request.response().reset();
            } else if (request.version() != HttpVersion.HTTP_2) {
                request.connection().close();
            }
        });
    }

    private static void leaveToBodyLimit(RoutingContext context) {
        if (context.get(FRAMEWORKS_LIMIT) != null) {
            context.put(FRAMEWORKS_LIMIT, Long.MAX_VALUE);
        }
        context.next();
    }

    private static boolean hasBody(HttpServerRequest request) {
        return request.headers().contains(HttpHeaders.TRANSFER_ENCODING) || length(request) > 0;
    }

    /** The declared length; 0 where none is declared, or where it is not a number. */
    private static long length(HttpServerRequest request) {
        try {
            String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
            return length == null ? 0 : Long.parseLong(length.strip());
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
