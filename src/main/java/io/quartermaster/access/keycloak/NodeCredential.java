package io.quartermaster.access.keycloak;

import java.net.URI;

/** With what a node's agent gets its tokens. The secret is told once, when it is made. */
public record NodeCredential(String node, String clientId, String clientSecret, URI tokenUrl) {

    @Override
    public String toString() {
        return "credential of node " + node;
    }
}
