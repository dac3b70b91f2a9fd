package io.quartermaster.access;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quarkus.oidc.OidcRequestContext;
import io.quarkus.oidc.OidcTenantConfig;
import io.quarkus.oidc.TenantConfigResolver;
import io.quarkus.oidc.runtime.OidcTenantConfig.ApplicationType;
import io.quarkus.oidc.runtime.OidcTenantConfig.SignatureAlgorithm;
import io.smallrye.mutiny.Uni;
import io.vertx.core.http.HttpHeaders;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.context.ApplicationScoped;
import java.io.IOException;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Selects the realm whose keys verify a token. It reads the unverified {@code iss} of the token and looks it up in
 * {@link IssuerDirectory}. For an unknown issuer it returns no realm, so no call goes out and the request ends with
 * 401.
 *
 * <p>Only issuers of the directory get a configuration, so there are never more configurations than tenants. That of an
 * offboarded tenant stays, unused, until the process ends.
 */
@ApplicationScoped
public class RealmResolver implements TenantConfigResolver {

    /** Far above the length of any real token; longer ones are refused unread. */
    static final int MAX_TOKEN_LENGTH = 16_384;

    private static final String SCHEME = "bearer ";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final IssuerDirectory issuerDirectory;
    private final IdentityConfig config;
    private final Map<String, OidcTenantConfig> byRealm = new ConcurrentHashMap<>();
    private final Set<String> usedRealms = ConcurrentHashMap.newKeySet();

    RealmResolver(IssuerDirectory issuerDirectory, IdentityConfig config) {
        this.issuerDirectory = issuerDirectory;
        this.config = config;
    }

    @Override
    public Uni<OidcTenantConfig> resolve(RoutingContext request, OidcRequestContext<OidcTenantConfig> context) {
        Optional<String> issuer = bearerToken(request.request().getHeader(HttpHeaders.AUTHORIZATION))
                .flatMap(RealmResolver::unverifiedIssuer);
        if (issuer.isEmpty()) {
            return Uni.createFrom().nullItem();
        }
        return issuerDirectory.find(issuer.get()).map(realm -> realm.map(known -> {
                    usedRealms.add(known.word());
                    return byRealm.computeIfAbsent(known.word(), this::configOf);
                })
                .orElse(null));
    }

    /** Returns the realms whose tokens arrived since the last call. */
    Set<String> drainUsedRealms() {
        Set<String> drained = Set.copyOf(usedRealms);
        usedRealms.removeAll(drained);
        return drained;
    }

    static Optional<String> bearerToken(@Nullable String header) {
        if (header == null
                || header.length() > MAX_TOKEN_LENGTH
                || !header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            return Optional.empty();
        }
        return Optional.of(header.substring(SCHEME.length()).strip());
    }

    /** The issuer that the token claims. Its only permitted use is the choice of the keys that verify the token. */
    static Optional<String> unverifiedIssuer(String token) {
        String[] parts = token.split("\\.", -1);
        if (parts.length != 3) {
            return Optional.empty();
        }
        try {
            JsonNode claims = JSON.readTree(Base64.getUrlDecoder().decode(parts[1]));
            return Optional.ofNullable(claims.get("iss"))
                    .filter(JsonNode::isTextual)
                    .map(JsonNode::textValue);
        } catch (JacksonException | IllegalArgumentException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new IllegalStateException("reading from memory does not fail", e);
        }
    }

    private OidcTenantConfig configOf(String realm) {
        return OidcTenantConfig.authServerUrl(config.serverUrlOf(realm))
                .tenantId(realm)
                .clientId(config.audience())
                .applicationType(ApplicationType.SERVICE)
                // The paths are fixed by Keycloak: the service need not fetch, trust, or wait for a discovery document.
                .discoveryEnabled(false)
                .jwksPath("/protocol/openid-connect/certs")
                .token()
                .issuer(config.issuerOf(realm))
                .audience(config.audience())
                .tokenType("Bearer")
                .signatureAlgorithm(SignatureAlgorithm.RS256)
                .forcedJwkRefreshInterval(config.unknownKeyRefresh())
                .allowJwtIntrospection(false)
                .allowOpaqueTokenIntrospection(false)
                .end()
                .roles()
                .roleClaimPath("realm_access/roles")
                .end()
                .build();
    }
}
