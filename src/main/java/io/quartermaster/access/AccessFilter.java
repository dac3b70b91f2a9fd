package io.quartermaster.access;

import io.quarkus.oidc.OIDCException;
import io.quarkus.security.UnauthorizedException;
import io.quarkus.security.identity.CurrentIdentityAssociation;
import io.quarkus.security.identity.SecurityIdentity;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.filters.RequestRateLimiter;
import io.quartermaster.platform.filters.ServedMethods;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.UriInfo;
import java.lang.reflect.Method;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;
import org.jboss.resteasy.reactive.server.ServerResponseFilter;
import org.jspecify.annotations.Nullable;

/**
 * The gate in front of every route. It answers 401 without a valid token, except for routes {@link WithoutToken}, and
 * 429 for a realm or an agent that sends too many requests. It answers 404 for resources that the caller may not see,
 * and 403 for actions that it may not take. All other requests proceed with their {@link Caller}.
 */
public final class AccessFilter {

    private static final String REQUEST_ID = "X-Request-Id";
    private static final Set<String> READ_METHODS = Set.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.OPTIONS);
    private static final Pattern REQUEST_ID_FORM = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    private final CurrentIdentityAssociation identities;
    private final IssuerDirectory issuerDirectory;
    private final NodeSessionIssuer sessions;
    private final RememberedTokens rememberedTokens;
    private final CurrentCaller currentCaller;
    private final RequestRateLimiter rates;
    private final Map<Method, Optional<RouteArea>> areas = new ConcurrentHashMap<>();

    AccessFilter(
            CurrentIdentityAssociation identities,
            IssuerDirectory issuerDirectory,
            NodeSessionIssuer sessions,
            RememberedTokens rememberedTokens,
            CurrentCaller currentCaller,
            RequestRateLimiter rates) {
        this.rates = rates;
        this.identities = identities;
        this.issuerDirectory = issuerDirectory;
        this.sessions = sessions;
        this.rememberedTokens = rememberedTokens;
        this.currentCaller = currentCaller;
    }

    @ServerRequestFilter(priority = Priorities.AUTHORIZATION)
    public Uni<Void> authorize(
            ContainerRequestContext request, ResourceInfo resource, UriInfo uri, RoutingContext context) {
        String requestId = validRequestId(request.getHeaderString(REQUEST_ID));
        request.setProperty(REQUEST_ID, requestId);
        if (resource.getResourceMethod().isAnnotationPresent(WithoutToken.class)) {
            return Uni.createFrom().voidItem();
        }
        return authenticate(request, requestId)
                .invoke(authentication -> rates.countVerified(
                        context,
                        authentication.caller().realm().word(),
                        authentication.caller().node()))
                .call(authentication -> route(authentication.caller(), request, resource, uri)
                        .invoke(route -> Gate.enforce(authentication.caller(), route)))
                .invoke(authentication -> currentCaller.set(
                        authentication.caller(), authentication.credential(), authentication.expiry()))
                .replaceWithVoid();
    }

    private record Authentication(Caller caller, Credential credential, Instant expiry) {}

    /** The service checks a node's session by itself: Keycloak, which may be away, does not know it. */
    private Uni<Authentication> authenticate(ContainerRequestContext request, String requestId) {
        Optional<String> bearer = RealmResolver.bearerToken(request.getHeaderString(HttpHeaders.AUTHORIZATION));
        if (bearer.isEmpty()) {
            throw new UnauthorizedException();
        }
        String token = bearer.get();
        if (NodeSessionIssuer.isToken(token)) {
            return sessions.find(token, requestId)
                    .map(found -> found.orElseThrow(UnauthorizedException::new))
                    .map(found -> new Authentication(found.agent(), new Credential.NodeSession(token), found.expiry()));
        }
        return rememberedTokens
                .getOrVerify(token, () -> verifyToken(requestId))
                .map(verified -> new Authentication(
                        verified.caller().inRequest(requestId),
                        new Credential.KeycloakToken(verified.issuedAt()),
                        verified.expiry()));
    }

    /** Verifies the token of the current request. */
    private Uni<RememberedTokens.Verified> verifyToken(String requestId) {
        return identities
                .getDeferredIdentity()
                .onFailure(AccessFilter::isKeycloakUnavailable)
                .transform(AccessFilter::keycloakUnavailable)
                .map(identity -> contentOf(identity, requestId));
    }

    @ServerResponseFilter
    public void addRequestId(ContainerRequestContext request, ContainerResponseContext response) {
        Object requestId = request.getProperty(REQUEST_ID);
        if (requestId != null) {
            response.getHeaders().putSingle(REQUEST_ID, requestId);
        }
    }

    private static RememberedTokens.Verified contentOf(@Nullable SecurityIdentity identity, String requestId) {
        if (identity == null || identity.isAnonymous()) {
            throw new UnauthorizedException();
        }
        return new RememberedTokens.Verified(
                VerifiedToken.caller(identity, requestId),
                VerifiedToken.issuer(identity),
                VerifiedToken.issuedAt(identity),
                VerifiedToken.expiry(identity));
    }

    private Uni<Route> route(Caller caller, ContainerRequestContext request, ResourceInfo resource, UriInfo uri) {
        RequiresPermission requiresPermission = resource.getResourceMethod().getAnnotation(RequiresPermission.class);
        Optional<Permission> permission =
                Optional.ofNullable(requiresPermission).map(RequiresPermission::value);
        Route.Access access = READ_METHODS.contains(request.getMethod()) ? Route.Access.READS : Route.Access.WRITES;
        return area(caller, resource, uri).map(area -> new Route(area, permission, access));
    }

    private Uni<Route.Area> area(Caller caller, ResourceInfo resource, UriInfo uri) {
        Optional<RouteArea> area = areas.computeIfAbsent(
                resource.getResourceMethod(), route -> RouteArea.of(ServedMethods.template(route)));
        if (area.isEmpty()) {
            return Uni.createFrom().item(new Route.Area.Unreachable());
        }
        return switch (area.get()) {
            case OPERATOR -> Uni.createFrom().item(new Route.Area.OfOperator());
            case TENANT -> {
                String tenant = uri.getPathParameters().getFirst("tenant");
                yield tenantStatus(caller, tenant).map(status -> new Route.Area.OfTenant(tenant, status));
            }
            case CALLER -> Uni.createFrom().item(new Route.Area.OfCaller());
            case NODE ->
                Uni.createFrom()
                        .item(new Route.Area.OfNode(uri.getPathParameters().getFirst("node")));
        };
    }

    /**
     * For a tenant's caller, no other tenant is looked up, so that response times do not reveal which tenants exist.
     */
    private Uni<Optional<IssuerDirectory.TenantStatus>> tenantStatus(Caller caller, String tenant) {
        boolean mayExist =
                switch (caller.realm()) {
                    case Realm.Tenant own -> own.id().value().equals(tenant);
                    case Realm.Operator operator -> TenantId.isValid(tenant);
                };
        return mayExist
                ? issuerDirectory.tenantStatus(new TenantId(tenant))
                : Uni.createFrom().item(Optional.empty());
    }

    private static boolean isKeycloakUnavailable(Throwable failure) {
        return failure instanceof OIDCException;
    }

    static ProblemException keycloakUnavailable(Throwable failure) {
        return ProblemException.of(
                503,
                "identity-unavailable",
                isUnconfirmed(failure)
                        ? "the service has not yet confirmed the operator's realm; send the request again in a few"
                                + " seconds"
                        : "Keycloak does not answer, so the service cannot check tokens; send the request again later");
    }

    /** The failure may arrive as the cause of another one. */
    private static boolean isUnconfirmed(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof OperatorTokens.Unconfirmed) {
                return true;
            }
        }
        return false;
    }

    private static String validRequestId(@Nullable String given) {
        return given != null && REQUEST_ID_FORM.matcher(given).matches()
                ? given
                : Ids.next().toString();
    }
}
