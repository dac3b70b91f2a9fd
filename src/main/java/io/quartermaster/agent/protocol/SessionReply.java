package io.quartermaster.agent.protocol;

import static io.quartermaster.agent.protocol.Protocol.check;

/**
 * A session of the node. Its token replaces an access token of Keycloak in the node's calls, and can open the next
 * session while it is valid.
 *
 * @param lifeMillis time until the session expires; the agent renews it long before
 */
public record SessionReply(String token, long lifeMillis) {
    public SessionReply {
        check(!token.isBlank(), "the token is missing");
        check(lifeMillis > 0, "lifeMillis must be positive, was %s", lifeMillis);
    }

    @Override
    public String toString() {
        return "session of a node";
    }
}
