package io.quartermaster.access.keycloak;

import io.quarkus.scheduler.Scheduled;
import io.quartermaster.access.RememberedTokens;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.jboss.logging.Logger;

/**
 * Asks Keycloak regularly for the disabled users of the realms whose tokens arrive, so that their tokens end before
 * they expire. While Keycloak is away, the users of the last check stay refused, and no others are added.
 */
@ApplicationScoped
class DisabledUserCheck {

    private static final Logger LOG = Logger.getLogger(DisabledUserCheck.class);
    /** For one realm. Together with the interval, it stays below a minute. */
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(20);

    private final KeycloakAdmin keycloak;
    private final RememberedTokens tokens;

    DisabledUserCheck(KeycloakAdmin keycloak, RememberedTokens tokens) {
        this.keycloak = keycloak;
        this.tokens = tokens;
    }

    @Scheduled(
            every = "${quartermaster.identity.disabled-user-check:30s}",
            delayed = "${quartermaster.identity.disabled-user-check:30s}",
            concurrentExecution = Scheduled.ConcurrentExecution.SKIP)
    Uni<Void> run() {
        return Multi.createFrom()
                .iterable(tokens.evictExpired())
                .onItem()
                .transformToUni(this::check)
                .merge(KeycloakAdmin.MAX_CONCURRENT_CALLS)
                .collect()
                .last()
                .replaceWithVoid();
    }

    private Uni<Void> check(String realm) {
        Instant checkedAt = Instant.now();
        return keycloak.<Set<String>>call(
                        CALL_TIMEOUT, client -> client.realm(realm).disabledUsers())
                .invoke(disabled -> tokens.setDisabled(realm, disabled, checkedAt))
                .replaceWithVoid()
                .onFailure()
                .invoke(e -> LOG.warnf("the disabled users of realm %s could not be read: %s", realm, e.getMessage()))
                .onFailure()
                .recoverWithNull();
    }
}
