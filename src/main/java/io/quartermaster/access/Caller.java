package io.quartermaster.access;

import io.quartermaster.platform.Ids;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The caller of a request, as a verified token describes it.
 *
 * @param subject the realm's unchanging id of the user or service account
 * @param username unique within the realm; {@code service-account-<client>} for a service account, and no other user
 * can have such a name
 * @param groups full paths, as in the realm
 * @param clientId of a service account whose token names its client; empty for a person
 * @param node the node whose agent this is; only in the operator's realm
 * @param requestId the id that identifies this request in the audit log and the traces
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

    /** The usernames of service accounts begin with this, and no others do. */
    public static final String SERVICE_ACCOUNT_PREFIX = "service-account-";

    /** The service's own name: no user of Keycloak can have parentheses in its name. */
    private static final String SERVICE = "(service)";

    public Caller {
        for (Role role : roles) {
            if (!role.belongsTo(realm)) {
                throw new IllegalArgumentException(role.word() + " is no role of realm " + realm.word());
            }
        }
        if (node.isPresent() && !(realm instanceof Realm.Operator)) {
            throw new IllegalArgumentException("agents belong to the operator's realm");
        }
        roles = roles.isEmpty() ? Set.of() : Set.copyOf(EnumSet.copyOf(roles));
        groups = Set.copyOf(groups);
    }

    /** The same caller in another request. */
    Caller inRequest(String id) {
        return new Caller(realm, subject, username, roles, groups, clientId, node, id);
    }

    /** The same caller with these roles. */
    public Caller withRoles(Set<Role> others) {
        return new Caller(realm, subject, username, others, groups, clientId, node, requestId);
    }

    /**
     * The service itself, as the actor of audit entries for actions without a caller. It has no roles, so it passes no
     * gate.
     */
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

    /** The name decides too: a token that omits the client must not turn a service account into a person. */
    public boolean isServiceAccount() {
        return clientId.isPresent() || username.startsWith(SERVICE_ACCOUNT_PREFIX);
    }

    /**
     * Whether any role grants the permission, even if only within groups: then {@link #may(Permission, GroupPath)}
     * decides.
     */
    public boolean may(Permission permission) {
        return roles.stream().anyMatch(role -> role.permissions().contains(permission));
    }

    /** Whether some role grants the permission for the whole tenant. */
    public boolean mayEverywhere(Permission permission) {
        return roles.stream()
                .anyMatch(role -> !role.isBoundToGroups() && role.permissions().contains(permission));
    }

    /**
     * Whether the permission is granted for this group: by a role for the whole tenant, or by one for a group that
     * contains it.
     */
    public boolean may(Permission permission, GroupPath group) {
        return mayEverywhere(permission) || may(permission) && groups.stream().anyMatch(mine -> mine.contains(group));
    }

    /** The groups that limit the caller's group-bound rights, sorted. */
    public Set<GroupPath> groupsInOrder() {
        return new TreeSet<>(groups);
    }
}
