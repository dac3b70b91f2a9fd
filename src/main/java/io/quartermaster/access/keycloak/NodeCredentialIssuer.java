package io.quartermaster.access.keycloak;

import io.quartermaster.access.IdentityConfig;
import io.quartermaster.access.NodeSessionIssuer;
import io.quartermaster.access.Realm;
import io.quartermaster.access.Role;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.keycloak.representations.idm.ClientRepresentation;
import org.keycloak.representations.idm.ProtocolMapperRepresentation;

/**
 * Issues one credential per node: a client of the operator's realm whose tokens have the role {@code agent} and name
 * the node. A new issue replaces the secret and ends the node's {@linkplain NodeSessionIssuer sessions}; access tokens
 * from the old secret expire within minutes.
 */
@ApplicationScoped
public class NodeCredentialIssuer {

    private final KeycloakAdmin admin;
    private final IdentityConfig config;
    private final NodeSessionIssuer sessions;

    NodeCredentialIssuer(KeycloakAdmin admin, IdentityConfig config, NodeSessionIssuer sessions) {
        this.admin = admin;
        this.config = config;
        this.sessions = sessions;
    }

    public Uni<NodeCredential> issue(String node) {
        return admin.call(keycloak -> {
                    KeycloakRealm realm = keycloak.realm(Realm.OPERATOR_NAME);
                    String client = ensureClient(realm, node);
                    realm.addRoles(realm.serviceAccount(client).getId(), List.of(realm.role(Role.AGENT.word())));
                    return new NodeCredential(
                            node, NodeSessionIssuer.clientId(node), realm.newSecret(client), tokenUrl());
                })
                .call(() -> sessions.revoke(node));
    }

    /**
     * Revokes the credential of a node. Its agent gets no further tokens, and its sessions end, even while Keycloak is
     * away. Also succeeds when there was no credential.
     */
    public Uni<Void> revoke(String node) {
        return sessions.revoke(node)
                .chain(() -> admin.call((KeycloakClient keycloak) -> {
                    KeycloakRealm realm = keycloak.realm(Realm.OPERATOR_NAME);
                    realm.client(NodeSessionIssuer.clientId(node))
                            .ifPresent(client -> realm.removeClient(client.getId()));
                    return node;
                }))
                .replaceWithVoid();
    }

    private String ensureClient(KeycloakRealm realm, String node) {
        return realm.client(NodeSessionIssuer.clientId(node))
                .map(ClientRepresentation::getId)
                .orElseGet(() -> realm.createClient(newClient(node)));
    }

    private ClientRepresentation newClient(String node) {
        ClientRepresentation client = new ClientRepresentation();
        client.setClientId(NodeSessionIssuer.clientId(node));
        client.setName("Agent of node " + node);
        client.setPublicClient(false);
        client.setServiceAccountsEnabled(true);
        client.setStandardFlowEnabled(false);
        client.setDirectAccessGrantsEnabled(false);
        client.setProtocolMappers(List.of(
                newMapper(
                        "audience",
                        "oidc-audience-mapper",
                        Map.of("included.custom.audience", config.audience(), "access.token.claim", "true")),
                newMapper(
                        "node",
                        "oidc-hardcoded-claim-mapper",
                        Map.of(
                                "claim.name",
                                "node",
                                "claim.value",
                                node,
                                "jsonType.label",
                                "String",
                                "access.token.claim",
                                "true"))));
        return client;
    }

    private static ProtocolMapperRepresentation newMapper(String name, String kind, Map<String, String> config) {
        ProtocolMapperRepresentation mapper = new ProtocolMapperRepresentation();
        mapper.setName(name);
        mapper.setProtocol("openid-connect");
        mapper.setProtocolMapper(kind);
        mapper.setConfig(config);
        return mapper;
    }

    private URI tokenUrl() {
        return URI.create(config.issuerOf(Realm.OPERATOR_NAME) + "/protocol/openid-connect/token");
    }
}
