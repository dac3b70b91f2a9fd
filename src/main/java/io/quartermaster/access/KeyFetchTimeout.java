package io.quartermaster.access;

import io.quarkus.arc.Unremovable;
import io.quarkus.oidc.common.OidcEndpoint;
import io.quarkus.oidc.common.OidcRequestFilter;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;

/**
 * Sets a time limit on fetching a realm's keys from Keycloak. The token verifier limits the time for connecting only.
 * Without this limit, a request with the first token of a realm would wait for as long as Keycloak hangs.
 */
@Unremovable
@ApplicationScoped
@OidcEndpoint(OidcEndpoint.Type.JWKS)
class KeyFetchTimeout implements OidcRequestFilter {

    private final IdentityConfig config;

    KeyFetchTimeout(IdentityConfig config) {
        this.config = config;
    }

    @Override
    public Uni<Void> filter(OidcRequestFilterContext context) {
        context.request().timeout(config.keyFetchTimeout().toMillis());
        return Uni.createFrom().voidItem();
    }
}
