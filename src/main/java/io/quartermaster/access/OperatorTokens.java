package io.quartermaster.access;

import io.quarkus.oidc.OIDCException;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Whether this replica accepts tokens of the operator's realm. It accepts none before a check confirms that the service
 * created the realm. Otherwise, users with a role {@code operator} in a foreign realm of that name would have the
 * operator's rights over all tenants.
 *
 * <p>Safe for use by several threads.
 */
@ApplicationScoped
public class OperatorTokens {

    private enum State {
        /** Keycloak has not answered any check of the realm yet. */
        UNKNOWN,
        ACCEPTED,
        REFUSED
    }

    /** It is not known yet whether the service created the operator's realm, so its tokens cannot be checked. */
    static final class Unconfirmed extends OIDCException {

        private static final long serialVersionUID = 1L;

        Unconfirmed() {
            super("the operator's realm has not been checked yet");
        }
    }

    private final Duration firstCheckTimeout;
    private final CompletableFuture<Boolean> firstCheck = new CompletableFuture<>();
    private volatile State state = State.UNKNOWN;

    OperatorTokens(IdentityConfig config) {
        this.firstCheckTimeout = config.keyFetchTimeout();
    }

    /** Records that the service created the realm. */
    public void accept() {
        state = State.ACCEPTED;
        firstCheck.complete(true);
    }

    /** Records that the realm is a foreign one, or that Keycloak does not let the service see its origin. */
    public void refuse() {
        state = State.REFUSED;
        firstCheck.complete(true);
    }

    /** Records that Keycloak did not answer a check: the earlier result stays. */
    public void keepState() {
        firstCheck.complete(true);
    }

    /**
     * Waits for the first check of the realm, at most for the time limit of a fetch of keys.
     *
     * @return fails with {@link Unconfirmed} while Keycloak has not answered any check
     */
    Uni<Boolean> areAccepted() {
        if (state != State.UNKNOWN || firstCheck.isDone()) {
            return result();
        }
        return CallerContextSwitch.resume(Uni.createFrom()
                        // A copy, since a wait that times out cancels its future.
                        .completionStage(firstCheck::copy)
                        .ifNoItem()
                        .after(firstCheckTimeout)
                        .recoverWithItem(false))
                .chain(this::result);
    }

    private Uni<Boolean> result() {
        return switch (state) {
            case ACCEPTED -> Uni.createFrom().item(true);
            case REFUSED -> Uni.createFrom().item(false);
            case UNKNOWN -> Uni.createFrom().failure(new Unconfirmed());
        };
    }
}
