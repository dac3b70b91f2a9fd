package io.quartermaster.tenancy;

import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Role;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.access.keycloak.KeycloakClient;
import io.quartermaster.access.keycloak.KeycloakFailure;
import io.quartermaster.access.keycloak.KeycloakRealm;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.http.ProblemException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.keycloak.representations.idm.ClientRepresentation;
import org.keycloak.representations.idm.CredentialRepresentation;
import org.keycloak.representations.idm.GroupRepresentation;
import org.keycloak.representations.idm.RealmRepresentation;
import org.keycloak.representations.idm.RoleRepresentation;
import org.keycloak.representations.idm.UserRepresentation;

/**
 * Idempotent changes of a realm. All of them block, so only work inside a call of {@link KeycloakAdmin} may use them.
 */
public final class RealmAdmin {

    private static final Logger LOG = Logger.getLogger(RealmAdmin.class);

    private static final int GROUPS_PER_CALL = 500;
    /** Clients that Keycloak creates in every realm. */
    static final String ADMIN_CLI = "admin-cli";

    static final String REALM_MANAGEMENT = "realm-management";
    /** A role of that client, with the right to create, change and remove users and groups. */
    static final String MANAGE_USERS = "manage-users";

    private static final String UPDATE_PASSWORD = "UPDATE_PASSWORD";

    private RealmAdmin() {}

    /**
     * Creates the realm, unless it exists. The settings of an existing realm stay as they are: they may have been
     * changed on purpose.
     */
    static boolean ensure(KeycloakClient keycloak, RealmRepresentation wanted) {
        if (keycloak.realm(wanted.getRealm()).exists()) {
            return false;
        }
        try {
            keycloak.createRealm(wanted);
        } catch (KeycloakFailure e) {
            requireConflict(e);
            keycloak.renewToken();
        }
        return true;
    }

    /**
     * Creates the tenant's realm, with its mark, unless it exists. Fails if a foreign realm has that name, which stays
     * unchanged.
     */
    static void ensure(KeycloakClient keycloak, RealmRepresentation wanted, TenantId tenant) {
        ensure(keycloak, RealmMark.on(wanted, tenant));
        RealmMark.require(keycloak.realm(wanted.getRealm()), tenant);
    }

    /** Removes the tenant's realm. A foreign realm of that name stays. Fails if the owner of the realm is unknown. */
    static void remove(KeycloakRealm realm, TenantId tenant) {
        switch (RealmMark.owner(realm, tenant)) {
            case ABSENT -> {}
            case TENANT -> realm.remove();
            case OTHER ->
                LOG.warnf("realm %s stays in Keycloak: the service did not create it for tenant %s", tenant, tenant);
            case UNKNOWN ->
                throw new IllegalStateException("Keycloak's realm " + tenant + " has no attribute "
                        + RealmMark.ATTRIBUTE + ", so it is unknown whether the service created it for tenant " + tenant
                        + ". Set the attribute to " + tenant + " to have the realm removed, or to none to keep it. Then"
                        + " offboard the tenant again");
        }
    }

    /** Accepts a conflict, which means that another request created it meanwhile. Rethrows every other failure. */
    private static void requireConflict(KeycloakFailure e) {
        if (!e.isConflict()) {
            throw e;
        }
    }

    /** Creates the group and those above it, and returns the id of the group. */
    static String ensureGroup(KeycloakRealm realm, GroupPath path) {
        return ensureGroup(realm, path, new ArrayList<>());
    }

    /** A group that a call created. */
    record CreatedGroup(GroupPath path, String id) {}

    /**
     * The result of a call that creates a group and those above it.
     *
     * @param refusal the reason why Keycloak did not create one; null if all exist now
     * @param remaining after a refusal, the groups that the call created and that, as far as is known, still exist
     */
    public record GroupCreationResult(@Nullable KeycloakFailure refusal, Set<GroupPath> remaining) {}

    /**
     * Creates the group and those above it. If Keycloak refuses one, this call removes the groups that it created
     * before, except those that another request has given subgroups meanwhile. A failed removal does not stop the
     * others, and is added to the refusal as suppressed. Fails if Keycloak is away: then nothing is removed, since it
     * is unknown what was created.
     */
    public static GroupCreationResult ensureGroupOrNone(KeycloakRealm realm, GroupPath path) {
        List<CreatedGroup> made = new ArrayList<>();
        try {
            ensureGroup(realm, path, made);
            return new GroupCreationResult(null, Set.of());
        } catch (KeycloakFailure e) {
            if (e.isUnavailable()) {
                throw e;
            }
            return new GroupCreationResult(e, removeEmpty(realm, made.reversed(), e));
        }
    }

    /** Removes the groups without subgroups and returns those that stay. */
    static Set<GroupPath> removeEmpty(KeycloakRealm realm, List<CreatedGroup> groups, KeycloakFailure refusal) {
        Set<GroupPath> kept = new HashSet<>();
        for (CreatedGroup group : groups) {
            try {
                if (hasSubgroups(realm, group)) {
                    kept.add(group.path());
                } else {
                    realm.removeGroup(group.id());
                }
            } catch (KeycloakFailure e) {
                LOG.warnf("group %s stays in Keycloak: its removal failed: %s", group.path(), e.getMessage());
                refusal.addSuppressed(e);
                kept.add(group.path());
            }
        }
        return kept;
    }

    /** Whether the group has subgroups; false for a group that is removed already. */
    private static boolean hasSubgroups(KeycloakRealm realm, CreatedGroup group) {
        try {
            return !realm.subgroups(group.id(), 0, 1).isEmpty();
        } catch (KeycloakFailure e) {
            if (e.isNotFound() && e.missingRealm().isEmpty()) {
                return false;
            }
            throw e;
        }
    }

    private static String ensureGroup(KeycloakRealm realm, GroupPath path, List<CreatedGroup> created) {
        Optional<GroupRepresentation> there = realm.group(path);
        if (there.isPresent()) {
            return there.get().getId();
        }
        int cut = path.value().lastIndexOf('/');
        GroupRepresentation group = new GroupRepresentation();
        group.setName(path.value().substring(cut + 1));
        try {
            String id = cut == 0
                    ? realm.createGroup(group)
                    : realm.createSubgroup(
                            ensureGroup(realm, new GroupPath(path.value().substring(0, cut)), created), group);
            created.add(new CreatedGroup(path, id));
            return id;
        } catch (KeycloakFailure e) {
            requireConflict(e);
            return realm.group(path).orElseThrow().getId();
        }
    }

    public static List<GroupPath> missing(KeycloakRealm realm, List<GroupPath> asked) {
        realm.require();
        return asked.stream().filter(path -> realm.group(path).isEmpty()).toList();
    }

    /**
     * The groups of the realm, each before its subgroups. The list needs one request per group with subgroups, and one
     * per {@value #GROUPS_PER_CALL} groups.
     *
     * @param max the most groups that are listed
     */
    public static GroupList groups(KeycloakRealm realm, int max) {
        List<GroupPath> paths = new ArrayList<>();
        // One more group than the list returns shows whether there are more.
        for (int first = 0; paths.size() <= max; first += GROUPS_PER_CALL) {
            List<GroupRepresentation> page = realm.groups(first, GROUPS_PER_CALL);
            page.forEach(group -> collect(realm, "", group, max, paths));
            if (page.size() < GROUPS_PER_CALL) {
                break;
            }
        }
        return paths.size() > max ? new GroupList(paths.subList(0, max), true) : new GroupList(paths, false);
    }

    private static void collect(
            KeycloakRealm realm, String parent, GroupRepresentation group, int max, List<GroupPath> paths) {
        String path = parent + "/" + group.getName();
        // A group that was created in the realm directly may have a slash in its name. No path can name such a group,
        // so the list omits it.
        if (paths.size() > max || group.getName().contains("/") || !GroupPath.isValid(path)) {
            return;
        }
        paths.add(new GroupPath(path));
        Long below = group.getSubGroupCount();
        if (below != null && below == 0) {
            return;
        }
        for (int first = 0; paths.size() <= max; first += GROUPS_PER_CALL) {
            List<GroupRepresentation> page = subgroups(realm, group, first);
            page.forEach(child -> collect(realm, path, child, max, paths));
            if (page.size() < GROUPS_PER_CALL) {
                break;
            }
        }
    }

    /** The subgroups; empty for a group that was deleted meanwhile. */
    private static List<GroupRepresentation> subgroups(KeycloakRealm realm, GroupRepresentation group, int first) {
        try {
            return realm.subgroups(group.getId(), first, GROUPS_PER_CALL);
        } catch (KeycloakFailure e) {
            if (e.isNotFound() && e.missingRealm().isEmpty()) {
                return List.of();
            }
            throw e;
        }
    }

    static void ensureUser(KeycloakRealm realm, String username, String password, List<String> roles) {
        String id =
                realm.user(username).map(UserRepresentation::getId).orElseGet(() -> create(realm, username, password));
        List<RoleRepresentation> wanted = roles.stream().map(realm::role).toList();
        if (!wanted.isEmpty()) {
            realm.addRoles(id, wanted);
        }
    }

    static void ensureMembership(KeycloakRealm realm, String username, GroupPath group) {
        realm.joinGroup(realm.user(username).orElseThrow().getId(), ensureGroup(realm, group));
    }

    /**
     * Creates the user with names and an email address. Without them, Keycloak requires them at the first login and
     * issues no token before.
     */
    private static String create(KeycloakRealm realm, String username, String password) {
        UserRepresentation user = new UserRepresentation();
        user.setUsername(username);
        user.setEnabled(true);
        user.setFirstName(username);
        user.setLastName("demo");
        user.setEmail(username + "@demo.invalid");
        user.setEmailVerified(true);
        user.setCredentials(List.of(password(password, false)));
        try {
            return realm.createUser(user);
        } catch (KeycloakFailure e) {
            requireConflict(e);
            return realm.user(username).orElseThrow().getId();
        }
    }

    /**
     * Creates a user with a role of the realm and a password that must be replaced at the first login. A user that
     * never logged in gets a new password. Changes nothing and returns false if the user has set a password already.
     */
    static boolean firstLogin(
            KeycloakRealm realm, TenantCredentials.NewAdmin wanted, String role, String password, WriteMode mode) {
        Optional<UserRepresentation> found = realm.user(String.valueOf(wanted.username()));
        if (found.isPresent() && !realm.isInvited(found.get())) {
            return false;
        }
        if (mode == WriteMode.DRY_RUN) {
            return true;
        }
        String id = found.map(UserRepresentation::getId).orElseGet(() -> create(realm, wanted));
        // The role first, so that a repeated request completes the admin after a failure in the middle.
        realm.addRoles(id, List.of(realm.role(role)));
        realm.setInvitationPassword(id, password);
        return true;
    }

    private static String create(KeycloakRealm realm, TenantCredentials.NewAdmin wanted) {
        UserRepresentation user = new UserRepresentation();
        user.setUsername(wanted.username());
        user.setEmail(wanted.email());
        user.setFirstName(wanted.firstName());
        user.setLastName(wanted.lastName());
        user.setEnabled(true);
        user.setRequiredActions(List.of(UPDATE_PASSWORD));
        try {
            return realm.createUser(user);
        } catch (KeycloakFailure e) {
            if (e.isConflict()) {
                throw ProblemException.conflict("user-exists", "the realm has a user with that name or address");
            }
            if (e.isBadRequest()) {
                throw ProblemException.refused(
                        "not-accepted-by-realm",
                        "body",
                        "Keycloak does not accept the user: " + e.body(),
                        "values that the realm's user profile allows");
            }
            throw e;
        }
    }

    /** Replaces the secret of a client and returns the new one; empty when there is no such client. */
    static Optional<String> newSecret(KeycloakRealm realm, String clientId, WriteMode mode) {
        return realm.client(clientId).map(client -> mode == WriteMode.DRY_RUN ? "" : realm.newSecret(client.getId()));
    }

    /**
     * Updates a tenant's realm to the settings that this version gives new realms. Keycloak's own {@code admin-cli}
     * accepts no user passwords from programs, and the automation's account has no rights over users.
     */
    static void conform(KeycloakRealm realm) {
        disableDirectAccessGrants(realm, ADMIN_CLI);
        limitAutomation(realm);
    }

    /**
     * Grants or revokes the admins' right to manage users. Without it, admins can still view the realm's users and
     * groups.
     */
    static void setAdminsManageUsers(KeycloakRealm realm, boolean wanted) {
        RoleRepresentation right =
                realm.clientRole(realm.client(REALM_MANAGEMENT).orElseThrow().getId(), MANAGE_USERS);
        if (wanted) {
            realm.addToRole(Role.TENANT_ADMIN.word(), right);
        } else {
            realm.removeFromRole(Role.TENANT_ADMIN.word(), right);
        }
    }

    /**
     * Removes the automation's rights over users. A realm whose blueprint has no automation, or gave it other roles,
     * stays unchanged.
     */
    private static void limitAutomation(KeycloakRealm realm) {
        Optional<String> account = realm.client(TenantCredentials.AUTOMATION_CLIENT)
                .map(client -> realm.serviceAccount(client.getId()).getId());
        account.ifPresent(id -> realm.rolesOf(id).stream()
                .filter(role -> role.getName().equals(Role.TENANT_ADMIN.word()))
                .findFirst()
                .ifPresent(admin -> {
                    ensureRole(
                            realm, Role.TENANT_AUTOMATION.word(), "Manages everything of the tenant except its users");
                    realm.addRoles(id, List.of(realm.role(Role.TENANT_AUTOMATION.word())));
                    realm.removeRoles(id, List.of(admin));
                }));
    }

    /**
     * Creates the client, unless the realm has one of that id, which stays as it is.
     *
     * @return whether this call created it
     */
    static boolean ensureClient(KeycloakRealm realm, ClientRepresentation client) {
        if (realm.client(client.getClientId()).isPresent()) {
            return false;
        }
        try {
            realm.createClient(client);
            return true;
        } catch (KeycloakFailure e) {
            requireConflict(e);
            return false;
        }
    }

    private static void ensureRole(KeycloakRealm realm, String name, String description) {
        try {
            realm.createRole(new RoleRepresentation(name, description, false));
        } catch (KeycloakFailure e) {
            requireConflict(e);
        }
    }

    private static CredentialRepresentation password(String value, boolean temporary) {
        CredentialRepresentation credential = new CredentialRepresentation();
        credential.setType(CredentialRepresentation.PASSWORD);
        credential.setValue(value);
        credential.setTemporary(temporary);
        return credential;
    }

    static void enableDirectAccessGrants(KeycloakRealm realm, String clientId) {
        setDirectAccessGrants(realm, clientId, true);
    }

    static void disableDirectAccessGrants(KeycloakRealm realm, String clientId) {
        setDirectAccessGrants(realm, clientId, false);
    }

    private static void setDirectAccessGrants(KeycloakRealm realm, String clientId, boolean wanted) {
        realm.client(clientId)
                .filter(client -> wanted != Boolean.TRUE.equals(client.isDirectAccessGrantsEnabled()))
                .ifPresent(client -> {
                    client.setDirectAccessGrantsEnabled(wanted);
                    realm.updateClient(client);
                });
    }
}
