package io.quartermaster.platform.filters;

import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.HttpHeaders;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;

/**
 * Lets a route answer in its own media type where the request accepts only others, as RFC 9110, section 12.5.1 permits, instead of refusing it (406).
 * Generated clients prefer JSON, so of a route that streams events they accept {@code application/problem+json} alone.
 */
public final class AcceptFallback {

    private static final String LEAST_PREFERRED = "*/*;q=0.001";

    /** Before a route is looked for, since the search compares media types. */
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
