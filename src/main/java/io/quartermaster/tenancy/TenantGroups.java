package io.quartermaster.tenancy;

import io.quartermaster.access.GroupPath;
import io.quartermaster.access.KeycloakAdmin;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;

/** What groups a tenant's realm has, asked of the realm each time. */
@ApplicationScoped
public class TenantGroups {

    static final int MOST = 10_000;

    private final KeycloakAdmin admin;

    TenantGroups(KeycloakAdmin admin) {
        this.admin = admin;
    }

    public Uni<List<GroupPath>> all(TenantId tenant) {
        return admin.call(keycloak -> Realms.groups(keycloak.realm(tenant.value()), MOST));
    }

    public Uni<Boolean> exists(TenantId tenant, GroupPath path) {
        return admin.call(
                keycloak -> Realms.group(keycloak.realm(tenant.value()), path).isPresent());
    }
}
