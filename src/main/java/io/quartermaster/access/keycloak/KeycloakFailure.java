package io.quartermaster.access.keycloak;

import io.quartermaster.platform.operations.ExternalFailure;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Keycloak was not reached, or did not do what it was asked. */
public final class KeycloakFailure extends RuntimeException implements ExternalFailure {

    private static final long serialVersionUID = 1L;
    private static final int MAX_BODY = 500;
    private static final int BAD_REQUEST = 400;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    /** What Keycloak, or the proxy before it, answers while it cannot be asked: bad gateway, unavailable, gateway timeout. */
    private static final Set<Integer> AWAY = Set.of(502, 503, 504);

    private static final int NO_ANSWER = 503;

    private final int status;
    private final String body;
    private final @Nullable String missingRealm;

    private KeycloakFailure(String message, int status, String body) {
        this(message, status, body, null);
    }

    private KeycloakFailure(String message, int status, String body, @Nullable String missingRealm) {
        super(message);
        this.missingRealm = missingRealm;
        this.status = status;
        this.body = body;
    }

    /** No answer, or none in time. */
    static KeycloakFailure away(String message) {
        return new KeycloakFailure(message, NO_ANSWER, "");
    }

    static KeycloakFailure refused(String message) {
        return new KeycloakFailure(message, BAD_REQUEST, "");
    }

    static KeycloakFailure answered(int status, String body) {
        String text = body.substring(0, Math.min(body.length(), MAX_BODY));
        return new KeycloakFailure("Keycloak answered " + status + (text.isBlank() ? "" : ": " + text), status, text);
    }

    /** What was asked for is not there because its realm is not. */
    static KeycloakFailure noRealm(String realm) {
        return new KeycloakFailure("Keycloak has no realm " + realm, NOT_FOUND, "", realm);
    }

    /** An answer of 500 is none of these: Keycloak was there, and failed at what it was asked. */
    @Override
    public boolean isAway() {
        return AWAY.contains(status);
    }

    /** Something is not there: the realm itself, or a thing of a realm that is there. */
    public boolean isNotFound() {
        return status == NOT_FOUND;
    }

    /** The realm that is not there, where that is why. */
    public Optional<String> missingRealm() {
        return Optional.ofNullable(missingRealm);
    }

    /** What was to be made is there already. */
    public boolean isConflict() {
        return status == CONFLICT;
    }

    /** Keycloak does not accept what it was sent. */
    public boolean isBadRequest() {
        return status == BAD_REQUEST;
    }

    /** What Keycloak said, cut. */
    public String body() {
        return body;
    }
}
