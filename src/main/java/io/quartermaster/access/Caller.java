package io.quartermaster.access;

import io.quartermaster.platform.Ids;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Who makes this request, as a verified token says.
 *
 * @param subject the realm's unchanging id of the user or service account
 * @param username unique within the realm; {@code service-account-<client>} for a service account, and such names count as nobody else's
 * @param groups full paths, as the realm has them
 * @param clientId of a service account whose token says so; empty for a person
 * @param node the node whose agent this is; only in the operator's realm
 * @param requestId under which this request is found again in the audit log and the traces
 */
public record Caller(
        Realm realm,
        String subject,
        String username,
        Set<Role> roles,
        Set<GroupPath> groups,
        Optional<String> clientId,
        Optional<String> node,
        String requestId) {

    static final String SERVICE_ACCOUNT_PREFIX = "service-account-";

    /** No user of Keycloak can have parentheses in the name. */
    private static final String SERVICE = "(service)";

    public Caller {
        for (Role role : roles) {
            if (!role.belongsTo(realm)) {
                throw new IllegalArgumentException(role.word() + " is no role of realm " + realm.word());
            }
        }
        if (node.isPresent() && !(realm instanceof Realm.Operator)) {
            throw new IllegalArgumentException("agents are the operator's");
        }
        roles = roles.isEmpty() ? Set.of() : Set.copyOf(EnumSet.copyOf(roles));
        groups = Set.copyOf(groups);
    }

    /** The service itself, where it acts and nobody asked: for audit entries. It has no roles, so it passes no gate. */
    public static Caller service() {
        return new Caller(
                new Realm.Operator(),
                SERVICE,
                SERVICE,
                Set.of(),
                Set.of(),
                Optional.empty(),
                Optional.empty(),
                Ids.next().toString());
    }

    /** Told by the name too: a token that leaves the client out must not turn a service account into a person. */
    public boolean isServiceAccount() {
        return clientId.isPresent() || username.startsWith(SERVICE_ACCOUNT_PREFIX);
    }

    /** Whether any role grants it, perhaps only within groups: then {@link #may(Permission, GroupPath)} has the last word. */
    public boolean may(Permission permission) {
        return roles.stream().anyMatch(role -> role.permissions().contains(permission));
    }

    /** Whether some role grants it for everything of the tenant. */
    public boolean mayEverywhere(Permission permission) {
        return roles.stream()
                .anyMatch(role -> !role.boundToGroups() && role.permissions().contains(permission));
    }

    /** Whether it is granted for this group: by a role of the whole tenant, or by one bound to a group that contains it. */
    public boolean may(Permission permission, GroupPath group) {
        return mayEverywhere(permission) || may(permission) && groups.stream().anyMatch(mine -> mine.contains(group));
    }

    /** The groups to which a right that is bound to groups reaches, sorted. */
    public Set<GroupPath> groupsInOrder() {
        return new TreeSet<>(groups);
    }
}
