package io.quartermaster.access.keycloak;

import java.net.URI;

/**
 * The credential with which a node's agent gets its tokens. The answer that creates the secret is the only one that
 * shows it.
 */
public record NodeCredential(String node, String clientId, String clientSecret, URI tokenUrl) {

    @Override
    public String toString() {
        return "credential of node " + node;
    }
}
