package io.quartermaster.access;

import java.time.Instant;

/** The verified credential of a request. */
public sealed interface Credential {

    /** An access token of a realm. */
    record KeycloakToken(Instant issuedAt) implements Credential {}

    /** The token of a session that the service issued to a node: see {@link NodeSessionIssuer}. */
    record NodeSession(String token) implements Credential {
        @Override
        public String toString() {
            return "session of a node";
        }
    }
}
