package io.quartermaster.access;

import io.quarkus.oidc.OIDCException;
import io.quarkus.security.UnauthorizedException;
import io.quarkus.security.identity.CurrentIdentityAssociation;
import io.quarkus.security.identity.SecurityIdentity;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.ProblemException;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.UriInfo;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jboss.resteasy.reactive.server.ServerResponseFilter;
import org.jspecify.annotations.Nullable;

/**
 * The gate in front of every route: 401 without a good token, 404 for what the caller may not know of, 403 for what it may not do, else
 * the request goes on as its {@link Caller}.
 */
public final class AccessFilter {

    private static final String REQUEST_ID = "X-Request-Id";
    private static final Set<String> READS = Set.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.OPTIONS);
    private static final Pattern REQUEST_ID_FORM = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    private final CurrentIdentityAssociation identities;
    private final Issuers issuers;
    private final Callers callers;

    AccessFilter(CurrentIdentityAssociation identities, Issuers issuers, Callers callers) {
        this.identities = identities;
        this.issuers = issuers;
        this.callers = callers;
    }

    @ServerRequestFilter(priority = Priorities.AUTHORIZATION)
    public Uni<Void> gate(ContainerRequestContext request, ResourceInfo resource, UriInfo uri) {
        String requestId = requestId(request.getHeaderString(REQUEST_ID));
        request.setProperty(REQUEST_ID, requestId);
        return identities
                .getDeferredIdentity()
                .onFailure(AccessFilter::isIdentityAway)
                .transform(AccessFilter::away)
                .map(identity -> caller(identity, requestId))
                .call(caller -> route(caller, request, resource, uri).invoke(route -> Gate.enforce(caller, route)))
                .invoke(callers::set)
                .replaceWithVoid();
    }

    @ServerResponseFilter
    public void name(ContainerRequestContext request, ContainerResponseContext response) {
        Object requestId = request.getProperty(REQUEST_ID);
        if (requestId != null) {
            response.getHeaders().putSingle(REQUEST_ID, requestId);
        }
    }

    private static Caller caller(@Nullable SecurityIdentity identity, String requestId) {
        if (identity == null || identity.isAnonymous()) {
            throw new UnauthorizedException();
        }
        return VerifiedToken.caller(identity, requestId);
    }

    private Uni<Route> route(Caller caller, ContainerRequestContext request, ResourceInfo resource, UriInfo uri) {
        Needs needs = resource.getResourceMethod().getAnnotation(Needs.class);
        Optional<Permission> permission = Optional.ofNullable(needs).map(Needs::value);
        Route.Access access = READS.contains(request.getMethod()) ? Route.Access.READS : Route.Access.WRITES;
        return area(caller, uri).map(area -> new Route(area, permission, access));
    }

    private Uni<Route.Area> area(Caller caller, UriInfo uri) {
        String path = uri.getPath();
        if (path.startsWith("/v1/operator/") || path.equals("/v1/operator")) {
            return Uni.createFrom().item(new Route.Area.OfOperator());
        }
        String tenant = uri.getPathParameters().getFirst("tenant");
        if (tenant != null) {
            return standing(caller, tenant).map(standing -> new Route.Area.OfTenant(tenant, standing));
        }
        String node = uri.getPathParameters().getFirst("node");
        return Uni.createFrom().item(node != null ? new Route.Area.OfNode(node) : new Route.Area.Common());
    }

    /** Another tenant is not even looked up for a tenant's caller, so that no answer can take longer for one that exists. */
    private Uni<Optional<Issuers.Standing>> standing(Caller caller, String tenant) {
        boolean mayExist =
                switch (caller.realm()) {
                    case Realm.Tenant own -> own.id().value().equals(tenant);
                    case Realm.Operator operator -> TenantId.isValid(tenant);
                };
        return mayExist
                ? issuers.standing(new TenantId(tenant))
                : Uni.createFrom().item(Optional.empty());
    }

    private static boolean isIdentityAway(Throwable failure) {
        return failure instanceof OIDCException;
    }

    private static ProblemException away(Throwable failure) {
        return ProblemException.of(
                503, "identity-unavailable", "tokens cannot be checked just now: Keycloak does not answer; try again");
    }

    private static String requestId(@Nullable String given) {
        return given != null && REQUEST_ID_FORM.matcher(given).matches()
                ? given
                : Ids.next().toString();
    }
}
