package io.quartermaster.tenancy;

import io.quartermaster.access.GroupPath;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.access.keycloak.KeycloakRealm;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What groups a tenant's realm has, asked of the realm each time. */
@ApplicationScoped
public class TenantGroups {

    static final int MOST = 10_000;
    /** Far fewer than fit into the time that a call to Keycloak may take. */
    private static final int ASKED_AT_ONCE = 50;

    private final KeycloakAdmin admin;

    TenantGroups(KeycloakAdmin admin) {
        this.admin = admin;
    }

    public Uni<List<GroupPath>> all(TenantId tenant) {
        return admin.call(keycloak -> Realms.groups(keycloak.realm(tenant.value()), MOST));
    }

    /** Whether the realm has this group. Fails where there is no such realm. */
    Uni<Boolean> has(TenantId tenant, GroupPath group) {
        return admin.call(keycloak ->
                Realms.missing(keycloak.realm(tenant.value()), List.of(group)).isEmpty());
    }

    /**
     * What the realm lacks of a group and those above it.
     *
     * @param missing from the top
     * @param groups how many the realm has
     */
    record Lacking(List<GroupPath> missing, long groups) {}

    /** Fails where there is no such realm. */
    Uni<Lacking> lacking(TenantId tenant, GroupPath group) {
        return admin.call(keycloak -> {
            KeycloakRealm realm = keycloak.realm(tenant.value());
            return new Lacking(Realms.missing(realm, group.fromTheTop()), realm.groupCount());
        });
    }

    /** Whether the realm lacks this group; fails when Keycloak takes longer than the patience of who asks. */
    public Uni<Boolean> lacks(TenantId tenant, GroupPath group, Duration patience) {
        return admin.call(patience, keycloak -> !Realms.missing(keycloak.realm(tenant.value()), List.of(group))
                .isEmpty());
    }

    /** Which of these groups the realm lacks. Fails where there is no such realm, which must not look like one without groups. */
    public Uni<Set<GroupPath>> missing(TenantId tenant, Set<GroupPath> asked) {
        List<GroupPath> all = asked.stream().sorted().toList();
        Set<GroupPath> missing = new HashSet<>();
        Uni<Boolean> chain = Uni.createFrom().item(true);
        for (int first = 0; first < all.size(); first += ASKED_AT_ONCE) {
            List<GroupPath> some = all.subList(first, Math.min(all.size(), first + ASKED_AT_ONCE));
            chain = chain.chain(() -> admin.call(keycloak -> Realms.missing(keycloak.realm(tenant.value()), some)))
                    .map(missing::addAll);
        }
        return chain.replaceWith(missing);
    }
}
