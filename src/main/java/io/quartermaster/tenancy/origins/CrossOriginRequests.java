package io.quartermaster.tenancy.origins;

import io.quarkus.vertx.http.runtime.filters.Filters;
import io.quartermaster.platform.filters.FilterPriorities;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Sets the headers by which browsers let pages of other origins call the API (CORS). Pages of the origins that a tenant
 * allows may call the tenant's paths. A preflight of an allowed origin is answered without a token, since browsers send
 * none with it. Every other request proceeds as if it named no origin. So the answer is the same for an unknown tenant
 * and for one that does not allow the origin. Cookies are never read, so credentials are never allowed.
 */
@Singleton
public class CrossOriginRequests {

    private static final String TENANTS = "/v1/tenants/";
    private static final Duration PREFLIGHT_MAX_AGE = Duration.ofMinutes(10);

    private final OriginDirectory origins;

    CrossOriginRequests(OriginDirectory origins) {
        this.origins = origins;
    }

    void register(@Observes Filters filters) {
        filters.register(this::check, FilterPriorities.ORIGINS);
    }

    private void check(RoutingContext context) {
        HttpServerRequest request = context.request();
        String tenant = tenant(context.normalizedPath());
        if (tenant == null) {
            context.next();
            return;
        }
        MultiMap headers = context.response().headers();
        headers.add(HttpHeaders.VARY, HttpHeaders.ORIGIN);
        String origin = request.getHeader(HttpHeaders.ORIGIN);
        if (origin == null || !origins.allows(tenant, origin)) {
            context.next();
            return;
        }
        headers.set(HttpHeaders.ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        if (isPreflight(request)) {
            headers.set(HttpHeaders.ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST, PUT, PATCH, DELETE");
            headers.set(
                    HttpHeaders.ACCESS_CONTROL_ALLOW_HEADERS,
                    "Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, X-Request-Id");
            headers.set(HttpHeaders.ACCESS_CONTROL_MAX_AGE, Long.toString(PREFLIGHT_MAX_AGE.toSeconds()));
            context.response().setStatusCode(204).end();
        } else {
            headers.set(
                    HttpHeaders.ACCESS_CONTROL_EXPOSE_HEADERS,
                    "ETag, Location, Retry-After, WWW-Authenticate, X-Request-Id");
            context.next();
        }
    }

    private static boolean isPreflight(HttpServerRequest request) {
        return request.method().equals(HttpMethod.OPTIONS)
                && request.headers().contains(HttpHeaders.ACCESS_CONTROL_REQUEST_METHOD);
    }

    /** The tenant of the path, as sent. */
    private static @Nullable String tenant(String path) {
        if (!path.startsWith(TENANTS)) {
            return null;
        }
        int end = path.indexOf('/', TENANTS.length());
        return path.substring(TENANTS.length(), end < 0 ? path.length() : end);
    }
}
