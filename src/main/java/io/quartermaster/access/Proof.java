package io.quartermaster.access;

import java.time.Instant;

/** What a caller showed with its request, and what was found good. */
public sealed interface Proof {

    /** An access token of a realm. */
    record KeycloakToken(Instant issuedAt) implements Proof {}

    /** The token of a session that the service gave to a node: see {@link NodeSessions}. */
    record NodeSession(String token) implements Proof {
        @Override
        public String toString() {
            return "session of a node";
        }
    }
}
