package io.quartermaster.platform;

import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;

/**
 * Closes connections whose request's body takes too long to arrive. Without it a caller that sends a byte now and then keeps a connection, and what was
 * read so far, for as long as it likes.
 */
@Singleton
public class RequestBodies {

    private final Vertx vertx;
    private final long timeoutMillis;

    RequestBodies(Vertx vertx, HttpConfig config) {
        this.vertx = vertx;
        this.timeoutMillis = config.bodyTimeout().toMillis();
    }

    void register(@Observes Filters filters) {
        filters.register(this::limit, FilterPriorities.BODIES);
    }

    private void limit(RoutingContext context) {
        HttpServerRequest request = context.request();
        if (hasBody(request)) {
            long timer = vertx.setTimer(timeoutMillis, passed -> {
                if (!request.isEnded()) {
                    request.connection().close();
                }
            });
            context.addEndHandler(end -> vertx.cancelTimer(timer));
        }
        context.next();
    }

    private static boolean hasBody(HttpServerRequest request) {
        String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
        return request.headers().contains(HttpHeaders.TRANSFER_ENCODING) || length != null && !length.equals("0");
    }
}
