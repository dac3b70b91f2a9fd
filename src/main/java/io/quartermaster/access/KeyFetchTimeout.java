package io.quartermaster.access;

import io.quarkus.arc.Unremovable;
import io.quarkus.oidc.common.OidcEndpoint;
import io.quarkus.oidc.common.OidcRequestFilter;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;

/**
 * Ends a fetch of a realm's keys that Keycloak does not answer. The verifier of tokens sets a time for connecting only, so without this a
 * request with a token of a realm whose keys are not known yet would wait as long as Keycloak hangs.
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
