package io.quartermaster.tenancy;

import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;

import io.quarkus.arc.All;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.vertx.VertxContextSupport;
import io.quartermaster.access.OperatorTokens;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.access.keycloak.KeycloakAdmins;
import io.quartermaster.access.keycloak.KeycloakRealm;
import io.quartermaster.access.keycloak.NodeCredential;
import io.quartermaster.access.keycloak.NodeCredentialIssuer;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.testing.Identity;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.keycloak.representations.idm.ClientRepresentation;
import org.keycloak.representations.idm.RealmRepresentation;
import org.keycloak.representations.idm.RoleRepresentation;

@QuarkusTest
class ProvisioningIT {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @Inject
    SystemDatabase database;

    @Inject
    KeycloakAdmin keycloak;

    @Inject
    NodeCredentialIssuer nodes;

    @Inject
    OperatorTokens operatorTokens;

    @Inject
    BlueprintCatalog blueprints;

    @Inject
    TenancyConfig tenancy;

    @Inject
    @All
    List<ProvisioningStep> steps;

    @BeforeEach
    void identityIsUp() {
        operatorToken();
    }

    @Test
    void failureAtAnyStepIsTriedAgainFromThere() {
        String operation = create("faulty-once");

        TestTenants.awaitState(operation, "succeeded");

        request(operatorToken())
                .get("/v1/operator/operations/" + operation)
                .then()
                .body("attempts", greaterThanOrEqualTo(0))
                .body("steps.state", everyItem(equalTo("succeeded")));
        request(TestTenants.viewerToken("faulty-once"))
                .get("/v1/tenants/faulty-once")
                .then()
                .statusCode(200);
    }

    @Test
    void operationOfADeadProcessIsTakenOver() {
        TestTenants.provision("orphaned");
        String operation = create("orphaned");
        // The state that a process leaves when it dies in the first step: complete in Keycloak, but not recorded.
        database.on(connection -> connection
                        .preparedQuery("update operation set state = 'running', steps = '[]', owner = 'dead', "
                                + "owner_until = clock_timestamp() + interval '2 seconds' where id = $1")
                        .execute(Tuple.of(UUID.fromString(operation))))
                .await()
                .atMost(PATIENCE);

        TestTenants.awaitState(operation, "succeeded");

        request(TestTenants.viewerToken("orphaned"))
                .get("/v1/tenants/orphaned")
                .then()
                .statusCode(200);
    }

    @Test
    void everyStepCanBeAppliedTwiceAndUndoneTwice() throws Throwable {
        TenantSpec spec = new TenantSpec(new TenantId("twice"), "Twice", "demo", List.of());
        List<ProvisioningStep> inOrder = steps.stream()
                .sorted(Comparator.comparingInt(ProvisioningStep::order))
                .toList();
        assertThat(inOrder.getLast().name())
                .as("a tenant is active once everything else is made")
                .isEqualTo("issuer");
        for (ProvisioningStep step : inOrder) {
            VertxContextSupport.subscribeAndAwait(() -> step.apply(spec));
            VertxContextSupport.subscribeAndAwait(() -> step.apply(spec));
        }
        assertThat(exists("twice")).isTrue();

        for (ProvisioningStep step : inOrder.reversed()) {
            VertxContextSupport.subscribeAndAwait(() -> step.undo(spec));
            VertxContextSupport.subscribeAndAwait(() -> step.undo(spec));
        }
        assertThat(exists("twice")).isFalse();
    }

    @Test
    void agentIsItsNodesAndSeesNothingElse() {
        NodeCredential first = nodes.issue("node-a").await().atMost(PATIENCE);
        NodeCredential second = nodes.issue("node-a").await().atMost(PATIENCE);
        assertThat(second.clientSecret()).isNotEqualTo(first.clientSecret());

        String token = TestTenants.clientToken("operator", second.clientId(), second.clientSecret());

        request(token).get("/v1/operator/tenants").then().statusCode(403);
        request(token).get("/v1/tenants/orphaned").then().statusCode(404);
        nodes.revoke("node-a").await().atMost(PATIENCE);
        nodes.revoke("node-a").await().atMost(PATIENCE);
    }

    @Test
    void realmThatAnOlderVersionMadeIsBroughtUpToDate() {
        TestTenants.provision("older");
        Awaitility.await().until(() -> sqlTrue("realm_revision > 0"));
        inRealm("older", realm -> {
            String account = realm.serviceAccount(
                            realm.client("automation").orElseThrow().getId())
                    .getId();
            realm.addRoles(account, List.of(realm.role("tenant-admin")));
            realm.removeRoles(account, List.of(realm.role("tenant-automation")));
            RealmAdmin.enableDirectAccessGrants(realm, "admin-cli");
            realm.removeClient(realm.client("qm-cli").orElseThrow().getId());
            mark(realm, null);
            return account;
        });
        database.on(connection -> connection
                        .query("update tenant set realm_revision = 0 where id = 'older'")
                        .execute())
                .await()
                .atMost(PATIENCE);

        Awaitility.await().until(() -> sqlTrue("realm_revision > 0"));

        List<String> roles =
                inRealm(
                        "older", realm -> realm
                                .rolesOf(realm.serviceAccount(realm.client("automation")
                                                .orElseThrow()
                                                .getId())
                                        .getId())
                                .stream()
                                .map(RoleRepresentation::getName)
                                .toList());
        assertThat(roles).contains("tenant-automation").doesNotContain("tenant-admin");
        boolean passwords = inRealm(
                "older", realm -> realm.client("admin-cli").orElseThrow().isDirectAccessGrantsEnabled());
        assertThat(passwords).isFalse();
        Map<String, String> attributes = attributes("older");
        assertThat(attributes).containsEntry(RealmMark.ATTRIBUTE, "older");
        ClientRepresentation commandLine =
                inRealm("older", realm -> realm.client("qm-cli").orElseThrow());
        assertThat(commandLine.isPublicClient()).isTrue();
        assertThat(commandLine.getAttributes()).containsEntry("oauth2.device.authorization.grant.enabled", "true");
    }

    @Test
    void realmOfOthersIsNeitherUsedNorChangedNorRemoved() {
        String others = "customers";
        makeRealm(others);
        Map<String, String> before = attributes(others);

        String operation = create(others);

        Awaitility.await().atMost(PATIENCE).untilAsserted(() -> request(operatorToken())
                .get("/v1/operator/operations/" + operation)
                .then()
                .body("error.message", containsString("its attribute quartermaster.tenant is not customers")));
        sql("update operation set state = 'failed' where id = '" + operation + "'");
        sql("update tenant set state = 'failed' where id = 'customers'");
        String offboarding = request(operatorToken())
                .delete("/v1/operator/tenants/customers")
                .then()
                .statusCode(202)
                .extract()
                .path("id");
        TestTenants.awaitState(offboarding, "succeeded");
        assertThat(exists(others)).isTrue();
        assertThat(attributes(others)).isEqualTo(before);
        List<?> groups = inRealm(others, realm -> realm.groups(0, 10));
        assertThat(groups).isEmpty();
        assertThatThrownBy(() -> inRealm(others, realm -> {
                    RealmMark.adopt(realm, new TenantId(others));
                    return realm;
                }))
                .hasMessageContaining("did not create for tenant customers");
        assertThat(attributes(others)).isEqualTo(before);
    }

    @Test
    void realmOfWhichItIsUnknownWhoseItIsStaysUntilAnOperatorSaysSo() throws Throwable {
        String unknown = "unknown-realm";
        TenantSpec spec = new TenantSpec(new TenantId(unknown), "Unknown", "demo", List.of());
        ProvisioningStep step = steps.stream()
                .filter(one -> one.name().equals("realm"))
                .findFirst()
                .orElseThrow();
        makeRealm(unknown);
        inRealm(unknown, realm -> {
            realm.createRole(new RoleRepresentation("tenant-admin", "", false));
            return realm;
        });

        assertThatThrownBy(() -> VertxContextSupport.subscribeAndAwait(() -> step.apply(spec)))
                .hasMessageContaining("did not create for tenant unknown-realm");
        assertThatThrownBy(() -> VertxContextSupport.subscribeAndAwait(() -> step.undo(spec)))
                .hasMessageContaining("Set the attribute to unknown-realm to have the realm removed, or to none");
        inRealm(unknown, realm -> mark(realm, "none"));
        VertxContextSupport.subscribeAndAwait(() -> step.undo(spec));
        assertThat(exists(unknown)).isTrue();
        inRealm(unknown, realm -> mark(realm, unknown));
        VertxContextSupport.subscribeAndAwait(() -> step.undo(spec));
        assertThat(exists(unknown)).isFalse();
    }

    @Test
    void operatorRealmOfOthersIsNeitherChangedNorUsed() throws Throwable {
        String others = "others-operator";
        makeRealm(others);
        inRealm(others, realm -> {
            realm.createRole(new RoleRepresentation("operator", "", false));
            return realm;
        });
        Map<String, String> before = attributes(others);

        assertThatThrownBy(() -> inRealm(others, realm -> {
                    RealmMark.adoptOperator(realm);
                    return realm;
                }))
                .isInstanceOf(RealmMark.ForeignRealmException.class)
                .hasMessageContaining("that this service did not create");
        assertThat(attributes(others)).isEqualTo(before);
        inRealm(others, realm -> mark(realm, "operator"));
        inRealm(others, realm -> {
            RealmMark.adoptOperator(realm);
            return realm;
        });
        assertThat(attributes("operator")).containsEntry(RealmMark.ATTRIBUTE, "operator");

        inRealm("operator", realm -> mark(realm, null));
        inRealm("operator", realm -> {
            RealmMark.adoptOperator(realm);
            return realm;
        });
        assertThat(attributes("operator")).containsEntry(RealmMark.ATTRIBUTE, "operator");
        String token = operatorToken();
        operatorTokens.refuse();
        try {
            request(token).get("/v1/operator/tenants").then().statusCode(401);
        } finally {
            operatorTokens.accept();
        }
        request(token).get("/v1/operator/tenants").then().statusCode(200);
    }

    /** As in docs/guides/operator.md: an account that may create realms cannot see the realms of others. */
    @Test
    void operatorRealmThatKeycloakDoesNotShowIsNotUsed() throws Throwable {
        String token = operatorToken();
        KeycloakAdmin makesRealmsOnly = accountThatMakesRealms("makes-realms-only");
        KeycloakAdmin away = KeycloakAdmins.with(Map.of("quartermaster.identity.keycloak-url", "http://127.0.0.1:1"));
        try {
            check(away);
            request(token).get("/v1/operator/tenants").then().statusCode(200);
            check(makesRealmsOnly);
            request(token).get("/v1/operator/tenants").then().statusCode(401);
            check(away);
            request(token).get("/v1/operator/tenants").then().statusCode(401);
            check(keycloak);
            request(token).get("/v1/operator/tenants").then().statusCode(200);
        } finally {
            operatorTokens.accept();
        }
    }

    /** Runs the check of a replica that has just started. */
    private void check(KeycloakAdmin admin) throws Throwable {
        OperatorRealm realm = new OperatorRealm(admin, blueprints, tenancy, operatorTokens);
        VertxContextSupport.subscribeAndAwait(realm::ensure);
    }

    private static KeycloakAdmin accountThatMakesRealms(String client) {
        String master = "/admin/realms/master";
        Identity.admin()
                .body(Map.of("clientId", client, "secret", client, "serviceAccountsEnabled", true))
                .post(master + "/clients")
                .then()
                .statusCode(201);
        String id = Identity.admin()
                .queryParam("clientId", client)
                .get(master + "/clients")
                .path("[0].id");
        String account = Identity.admin()
                .get(master + "/clients/" + id + "/service-account-user")
                .path("id");
        Map<String, Object> role =
                Identity.admin().get(master + "/roles/create-realm").path("");
        Identity.admin()
                .body(List.of(role))
                .post(master + "/users/" + account + "/role-mappings/realm")
                .then()
                .statusCode(204);
        return KeycloakAdmins.with(Map.of(
                "quartermaster.identity.keycloak-url",
                Identity.url(),
                "quartermaster.identity.admin-client-id",
                client,
                "quartermaster.identity.admin-client-secret",
                client));
    }

    /** Creates a realm as a foreign program would. */
    private void makeRealm(String name) {
        RealmRepresentation realm = new RealmRepresentation();
        realm.setRealm(name);
        realm.setEnabled(true);
        keycloak.call(client -> {
                    client.createRealm(realm);
                    return name;
                })
                .await()
                .atMost(PATIENCE);
    }

    private static Map<String, String> mark(KeycloakRealm realm, @Nullable String value) {
        Map<String, String> attributes = new TreeMap<>(realm.attributes().orElseThrow());
        attributes.remove(RealmMark.ATTRIBUTE);
        if (value != null) {
            attributes.put(RealmMark.ATTRIBUTE, value);
        }
        realm.setAttributes(attributes);
        return attributes;
    }

    private Map<String, String> attributes(String name) {
        return inRealm(name, realm -> realm.attributes().orElseThrow());
    }

    private void sql(String statement) {
        database.on(connection -> connection.query(statement).execute()).await().atMost(PATIENCE);
    }

    private boolean sqlTrue(String condition) {
        return database.on(connection -> connection
                        .query("select " + condition + " as holds from tenant where id = 'older'")
                        .execute())
                .await()
                .atMost(PATIENCE)
                .iterator()
                .next()
                .getBoolean("holds");
    }

    private <T> T inRealm(String name, Function<KeycloakRealm, T> work) {
        return keycloak.call(client -> work.apply(client.realm(name))).await().atMost(PATIENCE);
    }

    private boolean exists(String realm) {
        return keycloak.call(client -> client.realm(realm).exists()).await().atMost(PATIENCE);
    }

    private static String create(String id) {
        return request(operatorToken())
                .body(Map.of("id", id, "plan", "demo", "displayName", "Tenant " + id))
                .post("/v1/operator/tenants")
                .then()
                .statusCode(202)
                .extract()
                .path("id");
    }
}
