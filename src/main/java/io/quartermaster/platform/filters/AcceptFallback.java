package io.quartermaster.platform.filters;

import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.HttpHeaders;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;

/**
 * Lets a route answer in its own media type instead of refusing a request that accepts only others (406). RFC 9110,
 * section 12.5.1, permits this. Generated clients prefer JSON: from a route that streams events they accept only
 * {@code application/problem+json}.
 */
public final class AcceptFallback {

    private static final String LEAST_PREFERRED = "*/*;q=0.001";

    /** Runs before the route is matched, since matching compares media types. */
    @ServerRequestFilter(preMatching = true)
    public void accept(ContainerRequestContext request) {
        String accepted = request.getHeaderString(HttpHeaders.ACCEPT);
        if (accepted != null) {
            request.getHeaders()
                    .putSingle(
                            HttpHeaders.ACCEPT,
                            accepted.isBlank() ? LEAST_PREFERRED : accepted + ", " + LEAST_PREFERRED);
        }
    }
}
