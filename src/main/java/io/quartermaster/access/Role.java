package io.quartermaster.access;

import static io.quartermaster.access.Permission.*;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * A set of permissions that a realm grants under a name. A name is valid only in its own kind of realm: a tenant's
 * admin can create a realm role called {@code operator}, but it grants nothing.
 */
public enum Role {
    OPERATOR("operator", Home.OPERATOR_REALM, EnumSet.complementOf(EnumSet.of(AGENTS_SYNC, WORKLOADS_SUBMIT))),
    AGENT("agent", Home.OPERATOR_REALM, EnumSet.of(AGENTS_SYNC)),
    TENANT_ADMIN("tenant-admin", Home.TENANT_REALM, Sets.TENANT_ADMIN),
    /**
     * For programs: a tenant admin's rights in the service, without an admin's rights in Keycloak over the realm's
     * users.
     */
    TENANT_AUTOMATION("tenant-automation", Home.TENANT_REALM, Sets.TENANT_ADMIN),
    /** A tenant admin's rights over policies and work, for the caller's groups and their subgroups. */
    GROUP_ADMIN("group-admin", Home.TENANT_REALM, Sets.GROUP_ADMIN),
    MEMBER("member", Home.TENANT_REALM, Sets.MEMBER),
    VIEWER("viewer", Home.TENANT_REALM, Sets.VIEWER),
    BILLING_READER("billing-reader", Home.ANY_REALM, EnumSet.of(TENANTS_READ, USAGE_READ));

    private enum Home {
        OPERATOR_REALM,
        TENANT_REALM,
        ANY_REALM
    }

    private static final class Sets {
        private static final Set<Permission> VIEWER = EnumSet.of(
                TENANTS_READ,
                GROUPS_READ,
                POOLS_READ,
                ALLOTMENTS_READ,
                CAPACITY_RESERVATIONS_READ,
                PROFILES_READ,
                POLICIES_READ,
                QUEUES_READ,
                WORKLOADS_READ,
                USAGE_READ);
        private static final Set<Permission> MEMBER =
                plus(VIEWER, WORKLOADS_SUBMIT, WORKLOADS_CANCEL, WORKLOADS_HOLD, SIMULATIONS_RUN);
        private static final Set<Permission> GROUP_ADMIN =
                plus(MEMBER, POLICIES_WRITE, QUEUES_WRITE, ACCESS_RULES_READ, ACCESS_RULES_WRITE, WORKLOADS_MANAGE);
        private static final Set<Permission> TENANT_ADMIN = plus(
                GROUP_ADMIN,
                CAPACITY_RESERVATIONS_WRITE,
                PROFILES_WRITE,
                GROUPS_WRITE,
                ORIGINS_WRITE,
                AUDIT_READ,
                OPERATIONS_READ);

        private static Set<Permission> plus(Set<Permission> some, Permission... more) {
            EnumSet<Permission> all = EnumSet.copyOf(some);
            all.addAll(Set.of(more));
            return all;
        }
    }

    private final String word;
    private final Home home;
    private final Set<Permission> permissions;

    Role(String word, Home home, Set<Permission> permissions) {
        this.word = word;
        this.home = home;
        this.permissions = Set.copyOf(permissions);
    }

    public String word() {
        return word;
    }

    public Set<Permission> permissions() {
        return permissions;
    }

    /** Whether only the realms of tenants have this role. */
    boolean isOfTenantsOnly() {
        return home == Home.TENANT_REALM;
    }

    /** Whether this role may write only in the subtrees of the caller's groups. */
    public boolean isBoundToGroups() {
        return this == GROUP_ADMIN;
    }

    /** The role that a realm grants under this name; empty for names that grant nothing in this realm. */
    public static Optional<Role> of(Realm realm, String name) {
        for (Role role : values()) {
            if (role.word.equals(name) && role.belongsTo(realm)) {
                return Optional.of(role);
            }
        }
        return Optional.empty();
    }

    public boolean belongsTo(Realm realm) {
        return switch (home) {
            case ANY_REALM -> true;
            case OPERATOR_REALM -> realm instanceof Realm.Operator;
            case TENANT_REALM -> realm instanceof Realm.Tenant;
        };
    }
}
