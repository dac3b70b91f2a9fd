package io.quartermaster.access;

import io.quarkus.oidc.runtime.TenantConfigBean;
import io.quarkus.oidc.runtime.TenantConfigContext;
import io.quarkus.scheduler.Scheduled;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Optional;

/**
 * Fetches the keys of realms periodically while their tokens arrive. So a token becomes invalid when its signing key is
 * removed from its realm: the tokens of the realm are verified again then. A new key is fetched when the first token
 * signed with it arrives. While Keycloak is away, the known keys stay valid.
 */
@ApplicationScoped
class KeyRefresh {

    /** An empty token: it cannot be verified, but the verifier fetches the keys before it notices this. */
    private static final String EMPTY_TOKEN = "";

    private final TenantConfigBean verifiers;
    private final RealmResolver realms;
    private final RememberedTokens tokens;
    private final IdentityConfig config;

    KeyRefresh(TenantConfigBean verifiers, RealmResolver realms, RememberedTokens tokens, IdentityConfig config) {
        this.verifiers = verifiers;
        this.realms = realms;
        this.tokens = tokens;
        this.config = config;
    }

    @Scheduled(
            every = "${quartermaster.identity.key-refresh:1m}",
            delayed = "${quartermaster.identity.key-refresh:1m}",
            concurrentExecution = Scheduled.ConcurrentExecution.SKIP)
    Uni<Void> run() {
        return Multi.createFrom()
                .iterable(realms.drainUsedRealms())
                .onItem()
                .transformToUniAndConcatenate(this::refresh)
                .collect()
                .last()
                .replaceWithVoid();
    }

    private Uni<Void> refresh(String realm) {
        return Optional.ofNullable(verifiers.getDynamicTenant(realm))
                .map(TenantConfigContext::provider)
                .map(provider -> provider.refreshJwksAndVerifyJwtToken(EMPTY_TOKEN, false, false, null)
                        .replaceWithVoid()
                        .onFailure()
                        .recoverWithNull()
                        .invoke(done -> tokens.recordKeyFetch(config.issuerOf(realm))))
                .orElseGet(() -> Uni.createFrom().voidItem());
    }
}
