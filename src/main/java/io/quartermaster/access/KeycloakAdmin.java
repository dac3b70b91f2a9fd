package io.quartermaster.access;

import io.smallrye.mutiny.Uni;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.ProcessingException;
import jakarta.ws.rs.WebApplicationException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.keycloak.OAuth2Constants;
import org.keycloak.admin.client.Keycloak;
import org.keycloak.admin.client.KeycloakBuilder;

/**
 * The door to Keycloak's administration. Its client blocks, so every call has a virtual thread; the answer comes back on the caller's
 * Vert.x context. At most {@link #SIDE_BY_SIDE} calls run at once: Keycloak makes realms slowly, and logins go before.
 */
@ApplicationScoped
public class KeycloakAdmin {

    static final int SIDE_BY_SIDE = 4;

    private final IdentityConfig config;
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("keycloak-", 0).factory());
    private final Semaphore turns = new Semaphore(SIDE_BY_SIDE);
    private final Keycloak keycloak;

    KeycloakAdmin(IdentityConfig config) {
        this.config = config;
        this.keycloak = client(config);
    }

    private static Keycloak client(IdentityConfig config) {
        KeycloakBuilder builder = KeycloakBuilder.builder()
                .serverUrl(config.keycloakUrl().toString())
                .realm("master")
                .clientId(config.adminClientId());
        Optional<String> secret = config.adminClientSecret();
        if (secret.isPresent()) {
            builder.grantType(OAuth2Constants.CLIENT_CREDENTIALS).clientSecret(secret.get());
        } else {
            builder.grantType(OAuth2Constants.PASSWORD)
                    .username(config.adminUsername())
                    .password(config.adminPassword().orElse(""));
        }
        return builder.build();
    }

    /** Runs the work with Keycloak's client. Fails with {@link KeycloakFailure}, which says what can be told to an operator. */
    public <T> Uni<T> call(Function<Keycloak, T> work) {
        return call(config.adminTimeout(), work);
    }

    /** The same, for who would rather go on without an answer than wait longer. */
    public <T> Uni<T> call(Duration patience, Function<Keycloak, T> work) {
        return CallerContext.resume(Uni.createFrom()
                .item(() -> inTurn(work))
                .runSubscriptionOn(threads)
                .ifNoItem()
                .after(patience)
                .failWith(() -> new KeycloakFailure("Keycloak did not answer within " + patience, true)));
    }

    private <T> T inTurn(Function<Keycloak, T> work) {
        turns.acquireUninterruptibly();
        try {
            return work.apply(keycloak);
        } catch (WebApplicationException e) {
            throw KeycloakFailure.of(e);
        } catch (ProcessingException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new KeycloakFailure("Keycloak cannot be reached: " + cause.getMessage(), true);
        } finally {
            turns.release();
        }
    }

    /**
     * Gets new rights for what comes next in this call. A token does not cover realms made after it, and Keycloak's administrator gets the
     * rights in a realm by making it.
     */
    public static void renewRights(Keycloak keycloak) {
        keycloak.tokenManager().grantToken();
    }

    @PreDestroy
    void close() {
        keycloak.close();
        threads.shutdownNow();
    }
}
