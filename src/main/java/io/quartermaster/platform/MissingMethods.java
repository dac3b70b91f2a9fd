package io.quartermaster.platform;

import io.quarkus.security.AuthenticationFailedException;
import io.quarkus.security.UnauthorizedException;
import io.quarkus.security.identity.CurrentIdentityAssociation;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.NotAllowedException;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.util.List;
import java.util.SortedSet;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;

/**
 * Tells a method that a path does not have (405, with {@code Allow}) from a path that is not there (404). No route was found, so nobody
 * was asked for a token yet: without a good one the answer is 401, as everywhere. Which methods a path has is in the contract, so the
 * answer is the same whoever asks and whatever is behind the path.
 */
public final class MissingMethods {

    private final ServedMethods served;
    private final CurrentIdentityAssociation identities;

    MissingMethods(ServedMethods served, CurrentIdentityAssociation identities) {
        this.served = served;
        this.identities = identities;
    }

    @ServerExceptionMapper({NotFoundException.class, NotAllowedException.class})
    public Uni<Response> answer(WebApplicationException e, ContainerRequestContext request) {
        SortedSet<String> methods = served.at(request.getUriInfo().getPath());
        if (methods.isEmpty() || methods.contains(request.getMethod())) {
            return Uni.createFrom().item(ProblemMappers.of(e));
        }
        return identities
                .getDeferredIdentity()
                .map(identity -> identity.isAnonymous()
                        ? ProblemMappers.unauthorized()
                        : notAllowed(request.getMethod(), String.join(", ", methods)))
                .onFailure(MissingMethods::isNoGoodToken)
                .recoverWithItem(ProblemMappers::unauthorized);
    }

    private static boolean isNoGoodToken(Throwable failure) {
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
