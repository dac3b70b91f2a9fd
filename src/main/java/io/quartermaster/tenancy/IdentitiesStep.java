package io.quartermaster.tenancy;

import io.quartermaster.access.GroupPath;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.access.keycloak.KeycloakClient;
import io.quartermaster.access.keycloak.KeycloakRealm;
import io.quartermaster.tenancy.signin.SignInResource;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.stream.Stream;

/** Creates the initial groups of the tenant, and the users of a demo plan. */
@ApplicationScoped
public class IdentitiesStep implements ProvisioningStep {

    static final String PORTAL_CLIENT = "portal";

    private final KeycloakAdmin admin;
    private final BlueprintCatalog blueprintCatalog;
    private final TenancyConfig config;

    IdentitiesStep(KeycloakAdmin admin, BlueprintCatalog blueprintCatalog, TenancyConfig config) {
        this.config = config;
        this.admin = admin;
        this.blueprintCatalog = blueprintCatalog;
    }

    @Override
    public String name() {
        return "identities";
    }

    @Override
    public int order() {
        return 200;
    }

    @Override
    public Uni<Void> apply(TenantSpec tenant) {
        Blueprint blueprint = blueprintCatalog.of(tenant);
        return admin.call((KeycloakClient keycloak) -> {
                    KeycloakRealm realm = keycloak.realm(tenant.id().value());
                    Stream.concat(blueprint.groups().stream(), tenant.groups().stream())
                            .distinct()
                            .sorted()
                            .forEach(group -> RealmAdmin.ensureGroup(realm, group));
                    if (blueprint.demo()) {
                        RealmAdmin.enableDirectAccessGrants(realm, PORTAL_CLIENT);
                        RealmAdmin.enableDirectAccessGrants(realm, SignInResource.CLIENT);
                        blueprint.users().forEach(user -> ensureUser(realm, user));
                    }
                    return tenant;
                })
                .replaceWithVoid();
    }

    private void ensureUser(KeycloakRealm realm, Blueprint.DemoUser user) {
        String password = config.demoPasswords().getOrDefault(user.username(), user.password());
        RealmAdmin.ensureUser(realm, user.username(), password, user.roles());
        for (GroupPath group : user.groups()) {
            RealmAdmin.ensureMembership(realm, user.username(), group);
        }
    }

    /** Does nothing: groups and users disappear with the realm. */
    @Override
    public Uni<Void> undo(TenantSpec tenant) {
        return Uni.createFrom().voidItem();
    }
}
