package io.quartermaster.tenancy;

import io.quartermaster.access.GroupPath;
import io.quartermaster.access.KeycloakAdmin;
import io.quartermaster.platform.ProblemException;
import io.quartermaster.platform.WriteMode;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.keycloak.admin.client.CreatedResponseUtil;
import org.keycloak.admin.client.Keycloak;
import org.keycloak.admin.client.resource.GroupResource;
import org.keycloak.admin.client.resource.RealmResource;
import org.keycloak.representations.idm.CredentialRepresentation;
import org.keycloak.representations.idm.GroupRepresentation;
import org.keycloak.representations.idm.RealmRepresentation;
import org.keycloak.representations.idm.RoleRepresentation;
import org.keycloak.representations.idm.UserRepresentation;

/** What is done to a realm, each so that doing it twice changes nothing. All of it blocks: for calls of {@link KeycloakAdmin} only. */
final class Realms {

    private static final int BAD_REQUEST = 400;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final int GROUPS_PER_CALL = 100;
    private static final String UPDATE_PASSWORD = "UPDATE_PASSWORD";

    private Realms() {}

    /** Makes the realm, unless it is there; then its settings stay as they are, for they may have been changed since on purpose. */
    static boolean ensure(Keycloak keycloak, RealmRepresentation wanted) {
        String name = wanted.getRealm();
        if (exists(keycloak, name)) {
            return false;
        }
        try {
            keycloak.realms().create(wanted);
        } catch (WebApplicationException e) {
            require(CONFLICT, e);
        }
        KeycloakAdmin.renewRights(keycloak);
        return true;
    }

    /** The client throws one class for all answers; what was not expected goes on. */
    private static void require(int status, WebApplicationException e) {
        if (e.getResponse().getStatus() != status) {
            throw e;
        }
    }

    static boolean exists(Keycloak keycloak, String name) {
        try {
            keycloak.realm(name).toRepresentation();
            return true;
        } catch (WebApplicationException e) {
            require(NOT_FOUND, e);
            return false;
        }
    }

    static boolean remove(Keycloak keycloak, String name) {
        try {
            keycloak.realm(name).remove();
            return true;
        } catch (WebApplicationException e) {
            require(NOT_FOUND, e);
            return false;
        }
    }

    /** Makes the group and those above it. */
    static String ensureGroup(RealmResource realm, GroupPath path) {
        Optional<GroupRepresentation> there = group(realm, path);
        if (there.isPresent()) {
            return there.get().getId();
        }
        int cut = path.value().lastIndexOf('/');
        GroupRepresentation group = new GroupRepresentation();
        group.setName(path.value().substring(cut + 1));
        try (Response response = cut == 0
                ? realm.groups().add(group)
                : realm.groups()
                        .group(ensureGroup(realm, new GroupPath(path.value().substring(0, cut))))
                        .subGroup(group)) {
            return response.getStatus() == CONFLICT
                    ? group(realm, path).orElseThrow().getId()
                    : CreatedResponseUtil.getCreatedId(response);
        }
    }

    static Optional<GroupRepresentation> group(RealmResource realm, GroupPath path) {
        try {
            return Optional.of(realm.getGroupByPath(path.value().substring(1)));
        } catch (WebApplicationException e) {
            require(NOT_FOUND, e);
            return Optional.empty();
        }
    }

    static List<GroupPath> missing(RealmResource realm, List<GroupPath> asked) {
        realm.toRepresentation();
        return asked.stream().filter(path -> group(realm, path).isEmpty()).toList();
    }

    /** All groups of the realm, at most so many, each before its subgroups. */
    static List<GroupPath> groups(RealmResource realm, int most) {
        List<GroupPath> paths = new ArrayList<>();
        for (int first = 0; paths.size() < most; first += GROUPS_PER_CALL) {
            List<GroupRepresentation> page = realm.groups().groups(first, GROUPS_PER_CALL);
            page.forEach(group -> collect(realm, "", group, most, paths));
            if (page.size() < GROUPS_PER_CALL) {
                break;
            }
        }
        return paths;
    }

    private static void collect(
            RealmResource realm, String parent, GroupRepresentation group, int most, List<GroupPath> paths) {
        String path = parent + "/" + group.getName();
        // A name of the realm's own making may hold a slash, which no path can tell: such a group is not ours to offer.
        if (paths.size() >= most || group.getName().contains("/") || !GroupPath.isValid(path)) {
            return;
        }
        paths.add(new GroupPath(path));
        Long below = group.getSubGroupCount();
        if (below != null && below == 0) {
            return;
        }
        GroupResource resource = realm.groups().group(group.getId());
        for (int first = 0; paths.size() < most; first += GROUPS_PER_CALL) {
            List<GroupRepresentation> page = resource.getSubGroups(first, GROUPS_PER_CALL, true);
            page.forEach(child -> collect(realm, path, child, most, paths));
            if (page.size() < GROUPS_PER_CALL) {
                break;
            }
        }
    }

    static void ensureUser(RealmResource realm, String username, String password, List<String> roles) {
        List<UserRepresentation> found = realm.users().searchByUsername(username, true);
        String id = found.isEmpty()
                ? create(realm, username, password)
                : found.getFirst().getId();
        List<RoleRepresentation> wanted = roles.stream()
                .map(role -> realm.roles().get(role).toRepresentation())
                .toList();
        if (!wanted.isEmpty()) {
            realm.users().get(id).roles().realmLevel().add(wanted);
        }
    }

    static void ensureMembership(RealmResource realm, String username, GroupPath group) {
        String user = realm.users().searchByUsername(username, true).getFirst().getId();
        realm.users().get(user).joinGroup(ensureGroup(realm, group));
    }

    /** With names and an address, without which Keycloak asks for them at the first login and gives no token before. */
    private static String create(RealmResource realm, String username, String password) {
        UserRepresentation user = new UserRepresentation();
        user.setUsername(username);
        user.setEnabled(true);
        user.setFirstName(username);
        user.setLastName("demo");
        user.setEmail(username + "@demo.invalid");
        user.setEmailVerified(true);
        user.setCredentials(List.of(password(password, false)));
        try (Response response = realm.users().create(user)) {
            return response.getStatus() == CONFLICT
                    ? realm.users().searchByUsername(username, true).getFirst().getId()
                    : CreatedResponseUtil.getCreatedId(response);
        }
    }

    /**
     * Makes a user with a role of the realm and a password that must be replaced at the first login; or gives one who never logged in a
     * new one. False, and nothing is changed, when the user has a password of their own.
     */
    static boolean firstLogin(
            RealmResource realm, TenantCredentials.NewAdmin wanted, String role, String password, WriteMode mode) {
        List<UserRepresentation> found = realm.users().searchByUsername(wanted.username(), true);
        if (!found.isEmpty() && !found.getFirst().getRequiredActions().contains(UPDATE_PASSWORD)) {
            return false;
        }
        if (mode == WriteMode.DRY_RUN) {
            return true;
        }
        String id = found.isEmpty() ? create(realm, wanted) : found.getFirst().getId();
        // The role first: who broke off in the middle and asks again gets a whole admin.
        realm.users()
                .get(id)
                .roles()
                .realmLevel()
                .add(List.of(realm.roles().get(role).toRepresentation()));
        realm.users().get(id).resetPassword(password(password, true));
        return true;
    }

    private static String create(RealmResource realm, TenantCredentials.NewAdmin wanted) {
        UserRepresentation user = new UserRepresentation();
        user.setUsername(wanted.username());
        user.setEmail(wanted.email());
        user.setFirstName(wanted.firstName());
        user.setLastName(wanted.lastName());
        user.setEnabled(true);
        user.setRequiredActions(List.of(UPDATE_PASSWORD));
        try (Response response = realm.users().create(user)) {
            if (response.getStatus() == CONFLICT) {
                throw ProblemException.conflict("user-exists", "the realm has a user with that name or address");
            }
            if (response.getStatus() == BAD_REQUEST) {
                throw ProblemException.refused(
                        "not-accepted-by-realm",
                        "body",
                        "Keycloak does not accept it: " + response.readEntity(String.class),
                        "what the realm's user profile allows");
            }
            return CreatedResponseUtil.getCreatedId(response);
        }
    }

    /** A new secret of a client, replacing the old one; empty when there is no such client. */
    static Optional<String> newSecret(RealmResource realm, String clientId, WriteMode mode) {
        return realm.clients().findByClientId(clientId).stream()
                .findFirst()
                .map(client -> mode == WriteMode.DRY_RUN
                        ? ""
                        : realm.clients()
                                .get(client.getId())
                                .generateNewSecret()
                                .getValue());
    }

    private static CredentialRepresentation password(String value, boolean temporary) {
        CredentialRepresentation credential = new CredentialRepresentation();
        credential.setType(CredentialRepresentation.PASSWORD);
        credential.setValue(value);
        credential.setTemporary(temporary);
        return credential;
    }

    static void allowPasswordsFromPrograms(RealmResource realm, String clientId) {
        realm.clients().findByClientId(clientId).forEach(client -> {
            if (!Boolean.TRUE.equals(client.isDirectAccessGrantsEnabled())) {
                client.setDirectAccessGrantsEnabled(true);
                realm.clients().get(client.getId()).update(client);
            }
        });
    }
}
