package io.quartermaster.access;

import io.quarkus.oidc.OIDCException;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Whether this replica accepts tokens of the operator's realm. It accepts none before the realm is confirmed as the one that the service
 * made, since whoever has a role {@code operator} in another realm of that name would be the operator of all tenants.
 *
 * <p>Safe for use by several threads.
 */
@ApplicationScoped
public class OperatorTokens {

    private enum State {
        /** No check of the realm has ended with an answer of Keycloak's. */
        UNKNOWN,
        ACCEPTED,
        REFUSED
    }

    private final Duration patience;
    private final CompletableFuture<Boolean> firstCheck = new CompletableFuture<>();
    private volatile State state = State.UNKNOWN;

    OperatorTokens(IdentityConfig config) {
        this.patience = config.keyFetchTimeout();
    }

    /** The realm is the one that the service made. */
    public void accept() {
        state = State.ACCEPTED;
        firstCheck.complete(true);
    }

    /** The realm is another one, or Keycloak does not let the service see whose it is. */
    public void refuse() {
        state = State.REFUSED;
        firstCheck.complete(true);
    }

    /** A check got no answer from Keycloak: what was known before stays. */
    public void stayAsTheyAre() {
        firstCheck.complete(true);
    }

    /**
     * Waits for the first check of the realm, for as long as a fetch of keys may take.
     *
     * @return fails with {@link OIDCException}, as where a realm's keys cannot be fetched, while Keycloak has not answered any check
     */
    Uni<Boolean> areAccepted() {
        if (state != State.UNKNOWN || firstCheck.isDone()) {
            return answer();
        }
        return CallerContextSwitch.resume(Uni.createFrom()
                        // A copy, since a wait that is given up cancels what it waits for.
                        .completionStage(firstCheck::copy)
                        .ifNoItem()
                        .after(patience)
                        .recoverWithItem(false))
                .chain(this::answer);
    }

    private Uni<Boolean> answer() {
        return switch (state) {
            case ACCEPTED -> Uni.createFrom().item(true);
            case REFUSED -> Uni.createFrom().item(false);
            case UNKNOWN ->
                Uni.createFrom().failure(new OIDCException("the operator's realm has not been checked yet"));
        };
    }
}
