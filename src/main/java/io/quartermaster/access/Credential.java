package io.quartermaster.access;

import java.time.Instant;

/** What a caller showed with its request, and what was found good. */
public sealed interface Credential {

    /** An access token of a realm. */
    record KeycloakToken(Instant issuedAt) implements Credential {}

    /** The token of a session that the service gave to a node: see {@link NodeSessionIssuer}. */
    record NodeSession(String token) implements Credential {
        @Override
        public String toString() {
            return "session of a node";
        }
    }
}
