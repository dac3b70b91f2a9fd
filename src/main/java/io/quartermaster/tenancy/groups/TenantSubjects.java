package io.quartermaster.tenancy.groups;

import io.quartermaster.access.AccessRule;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.platform.TenantId;
import io.quartermaster.tenancy.RealmAdmin;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.List;

/** The users, clients and groups of a tenant's realm that access rules name, read from Keycloak on each call. */
@ApplicationScoped
public class TenantSubjects {

    private final KeycloakAdmin admin;

    TenantSubjects(KeycloakAdmin admin) {
        this.admin = admin;
    }

    /** Whether the realm lacks the subject of the rule; fails when Keycloak takes longer than the timeout. */
    public Uni<Boolean> isMissing(TenantId tenant, AccessRule rule, Duration timeout) {
        return switch (rule) {
            case AccessRule.ForEveryone everyone -> Uni.createFrom().item(false);
            case AccessRule.ForGroup group ->
                admin.call(
                        timeout, keycloak -> !RealmAdmin.missing(keycloak.realm(tenant.value()), List.of(group.group()))
                                .isEmpty());
            case AccessRule.ForUser user ->
                admin.call(timeout, keycloak -> keycloak.realm(tenant.value())
                        .user(user.username())
                        .isEmpty());
            case AccessRule.ForServiceAccount client ->
                admin.call(timeout, keycloak -> keycloak.realm(tenant.value())
                        .client(client.clientId())
                        .isEmpty());
        };
    }
}
