package io.quartermaster.tenancy;

import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.access.keycloak.KeycloakClient;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;

/** Creates the tenant's realm, with the roles and clients of its template. */
@ApplicationScoped
public class RealmStep implements ProvisioningStep {

    private final KeycloakAdmin admin;
    private final BlueprintCatalog blueprintCatalog;

    RealmStep(KeycloakAdmin admin, BlueprintCatalog blueprintCatalog) {
        this.admin = admin;
        this.blueprintCatalog = blueprintCatalog;
    }

    @Override
    public String name() {
        return "realm";
    }

    @Override
    public int order() {
        return 100;
    }

    @Override
    public Uni<Void> apply(TenantSpec tenant) {
        return admin.call((KeycloakClient keycloak) -> {
                    RealmAdmin.ensure(keycloak, blueprintCatalog.realmOf(tenant), tenant.id());
                    return tenant;
                })
                .replaceWithVoid();
    }

    @Override
    public Uni<Void> undo(TenantSpec tenant) {
        return admin.call((KeycloakClient keycloak) -> {
                    RealmAdmin.remove(keycloak.realm(tenant.id().value()), tenant.id());
                    return tenant;
                })
                .replaceWithVoid();
    }
}
