package io.quartermaster.access.keycloak;

import io.quartermaster.platform.operations.ExternalFailure;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Thrown when Keycloak cannot be reached, or does not carry out a request. */
public final class KeycloakFailure extends RuntimeException implements ExternalFailure {

    private static final long serialVersionUID = 1L;
    private static final int MAX_BODY_CHARS = 500;
    private static final int BAD_REQUEST = 400;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    /**
     * The answers of Keycloak, or of the proxy in front of it, while it is away: bad gateway, unavailable, gateway
     * timeout.
     */
    private static final Set<Integer> UNAVAILABLE_STATUSES = Set.of(502, 503, 504);

    private static final int STATUS_WITHOUT_ANSWER = 503;

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

    /** The failure for no answer, or none in time. */
    static KeycloakFailure unavailable(String message) {
        return new KeycloakFailure(message, STATUS_WITHOUT_ANSWER, "");
    }

    static KeycloakFailure ofInvalidAnswer(String message) {
        return new KeycloakFailure(message, BAD_REQUEST, "");
    }

    static KeycloakFailure ofAnswer(int status, String body) {
        String text = body.substring(0, Math.min(body.length(), MAX_BODY_CHARS));
        return new KeycloakFailure("Keycloak answered " + status + (text.isBlank() ? "" : ": " + text), status, text);
    }

    /** The failure for a resource whose realm does not exist. */
    static KeycloakFailure ofMissingRealm(String realm) {
        return new KeycloakFailure("Keycloak has no realm " + realm, NOT_FOUND, "", realm);
    }

    /**
     * Whether Keycloak is away. An answer of 500 does not mean that: Keycloak was there, but failed to carry out the
     * request.
     */
    @Override
    public boolean isUnavailable() {
        return UNAVAILABLE_STATUSES.contains(status);
    }

    /** Whether something does not exist: the realm itself, or a resource of an existing realm. */
    public boolean isNotFound() {
        return status == NOT_FOUND;
    }

    /** The realm that does not exist, if that is the cause. */
    public Optional<String> missingRealm() {
        return Optional.ofNullable(missingRealm);
    }

    /** Whether the resource to create exists already. */
    public boolean isConflict() {
        return status == CONFLICT;
    }

    /** Whether Keycloak refused the content of the request. */
    public boolean isBadRequest() {
        return status == BAD_REQUEST;
    }

    /** Keycloak's answer, truncated. */
    public String body() {
        return body;
    }
}
