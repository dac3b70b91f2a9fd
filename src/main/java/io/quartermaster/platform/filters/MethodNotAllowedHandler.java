package io.quartermaster.platform.filters;

import io.quarkus.security.AuthenticationFailedException;
import io.quarkus.security.UnauthorizedException;
import io.quarkus.security.identity.CurrentIdentityAssociation;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.http.ProblemMappers;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.NotAllowedException;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.util.List;
import java.util.SortedSet;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jspecify.annotations.Nullable;

/**
 * Answers requests that match no route: 405 with {@code Allow} for a method that the path does not have, 404 for an
 * unknown path. It also answers {@code OPTIONS}, which no route declares, with {@code Allow}. No token was checked yet,
 * since no route was found: without a valid one the answer is 401, as everywhere. The contract publishes the methods of
 * each path, so the answer depends neither on the caller nor on the resource.
 */
public final class MethodNotAllowedHandler {

    private final ServedMethods served;
    private final CurrentIdentityAssociation identities;

    MethodNotAllowedHandler(ServedMethods served, CurrentIdentityAssociation identities) {
        this.served = served;
        this.identities = identities;
    }

    /**
     * Runs before the route is matched: the framework would answer by itself, from one class only, and without a token.
     * Null lets the request pass.
     */
    @ServerRequestFilter(preMatching = true)
    public @Nullable Uni<Response> options(ContainerRequestContext request) {
        String path = request.getUriInfo().getPath();
        if (!request.getMethod().equals(HttpMethod.OPTIONS)) {
            return null;
        }
        SortedSet<String> methods = served.methodsOf(path);
        if (methods.isEmpty()) {
            return path.startsWith("/v1/") ? Uni.createFrom().failure(ProblemException.noSuchPath()) : null;
        }
        return requireIdentity(
                Response.noContent().header(HttpHeaders.ALLOW, allowed(methods)).build());
    }

    @ServerExceptionMapper({NotFoundException.class, NotAllowedException.class})
    public Uni<Response> answer(WebApplicationException e, ContainerRequestContext request) {
        SortedSet<String> methods = served.methodsOf(request.getUriInfo().getPath());
        if (methods.isEmpty()) {
            return Uni.createFrom()
                    .item(ProblemMappers.response(ProblemException.noSuchPath().problem()));
        }
        return methods.contains(request.getMethod())
                ? Uni.createFrom().item(ProblemMappers.of(e))
                : requireIdentity(notAllowed(request.getMethod(), allowed(methods)));
    }

    private static String allowed(SortedSet<String> methods) {
        return String.join(", ", methods);
    }

    /** The answer to callers with a valid token. */
    private Uni<Response> requireIdentity(Response answer) {
        return identities
                .getDeferredIdentity()
                .map(identity -> identity.isAnonymous() ? ProblemMappers.unauthorized() : answer)
                .onFailure(MethodNotAllowedHandler::isInvalidToken)
                .recoverWithItem(ProblemMappers::unauthorized);
    }

    private static boolean isInvalidToken(Throwable failure) {
        return failure instanceof UnauthorizedException || failure instanceof AuthenticationFailedException;
    }

    private static Response notAllowed(String method, String allowed) {
        Problem problem =
                Problem.of(405, "method-not-allowed", "this path has no " + method + ", only " + allowed, List.of());
        return Response.fromResponse(ProblemMappers.response(problem))
                .header(HttpHeaders.ALLOW, allowed)
                .build();
    }
}
