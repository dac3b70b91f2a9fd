package io.quartermaster.platform.filters;

import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Duration;

/**
 * Sets the headers that every answer has for browsers and caches: do not guess the content type, store no copy, use TLS
 * from now on.
 */
@Singleton
public class ResponseHeaders {

    private static final Duration HSTS_MAX_AGE = Duration.ofDays(365);

    void register(@Observes Filters filters) {
        filters.register(ResponseHeaders::set, FilterPriorities.HEADERS);
    }

    private static void set(RoutingContext request) {
        addTo(request);
        request.next();
    }

    /** Adds them to answers to requests that no filter sees. */
    static void addTo(RoutingContext request) {
        MultiMap headers = request.response().headers();
        headers.set("X-Content-Type-Options", "nosniff");
        headers.set(HttpHeaders.CACHE_CONTROL, "no-store");
        // Also behind a trusted proxy that reports TLS; browsers ignore the header on connections without TLS.
        if (request.request().isSSL()) {
            headers.set("Strict-Transport-Security", "max-age=" + HSTS_MAX_AGE.toSeconds());
        }
    }
}
