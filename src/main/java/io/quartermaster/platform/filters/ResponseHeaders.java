package io.quartermaster.platform.filters;

import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Duration;

/** Sets what every answer says to browsers and caches: take the content as what it is called, keep no copy, and come by TLS again. */
@Singleton
public class ResponseHeaders {

    private static final Duration TLS_REMEMBERED = Duration.ofDays(365);

    void register(@Observes Filters filters) {
        filters.register(ResponseHeaders::set, FilterPriorities.HEADERS);
    }

    private static void set(RoutingContext request) {
        addTo(request);
        request.next();
    }

    /** For answers to requests that no filter sees. */
    static void addTo(RoutingContext request) {
        MultiMap headers = request.response().headers();
        headers.set("X-Content-Type-Options", "nosniff");
        headers.set(HttpHeaders.CACHE_CONTROL, "no-store");
        // Also behind a trusted proxy that says it was called by TLS; browsers ignore the header where it was not.
        if (request.request().isSSL()) {
            headers.set("Strict-Transport-Security", "max-age=" + TLS_REMEMBERED.toSeconds());
        }
    }
}
