package io.quartermaster.agent.protocol;

import static io.quartermaster.agent.protocol.Protocol.check;

/**
 * A session of the node, to be shown with its calls instead of an access token of Keycloak. It can open the next one while it holds.
 *
 * @param lifeMillis from now; the agent renews it long before
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
