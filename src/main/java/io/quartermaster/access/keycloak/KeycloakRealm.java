package io.quartermaster.access.keycloak;

import static io.quartermaster.access.keycloak.KeycloakClient.encode;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.access.GroupPath;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.keycloak.representations.idm.ClientRepresentation;
import org.keycloak.representations.idm.CredentialRepresentation;
import org.keycloak.representations.idm.GroupRepresentation;
import org.keycloak.representations.idm.RoleRepresentation;
import org.keycloak.representations.idm.UserRepresentation;

/**
 * One realm in Keycloak's administration; each method is one request, if it does not say otherwise. Keycloak's Admin
 * REST API documents the details.
 */
public final class KeycloakRealm {

    private static final int PAGE = 1_000;
    private static final String UPDATE_PASSWORD = "UPDATE_PASSWORD";
    private static final String PASSWORD_HISTORY = "password-history";
    /** Marks a password that was set for an invitation. Keycloak removes it when any other password is set. */
    private static final String INVITATION = "Quartermaster invitation";

    private final KeycloakClient keycloak;
    private final String path;

    KeycloakRealm(KeycloakClient keycloak, String path) {
        this.keycloak = keycloak;
        this.path = path;
    }

    public boolean exists() {
        return keycloak.find(path, ObjectNode.class).isPresent();
    }

    /** Fails when there is no such realm. */
    public void require() {
        keycloak.get(path, ObjectNode.class);
    }

    /** The realm's attributes, Keycloak's own among them; empty when there is no such realm. */
    public Optional<Map<String, String>> attributes() {
        return keycloak.find(path, ObjectNode.class).map(realm -> {
            Map<String, String> attributes = new TreeMap<>();
            realm.path("attributes")
                    .properties()
                    .forEach(one -> attributes.put(one.getKey(), one.getValue().asText()));
            return attributes;
        });
    }

    /** Replaces all attributes; everything else of the realm stays. */
    public void setAttributes(Map<String, String> attributes) {
        keycloak.put(path, Map.of("attributes", attributes));
    }

    public void remove() {
        keycloak.delete(path);
    }

    /**
     * The group of a path. Finds no group whose path has steps {@code .} or {@code ..}: with these, the URL would
     * address something else.
     */
    public Optional<GroupRepresentation> group(GroupPath group) {
        if (group.hasDotSteps()) {
            return Optional.empty();
        }
        String segments = Arrays.stream(group.value().substring(1).split("/"))
                .map(KeycloakClient::encode)
                .collect(Collectors.joining("/"));
        return keycloak.find(path + "/group-by-path/" + segments, GroupRepresentation.class);
    }

    /** A page of the groups without a parent. */
    public List<GroupRepresentation> groups(int first, int max) {
        return keycloak.list(path + "/groups?first=" + first + "&max=" + max, GroupRepresentation.class);
    }

    /** The number of groups in the realm, subgroups included. */
    public long groupCount() {
        return keycloak.get(path + "/groups/count", ObjectNode.class)
                .path("count")
                .asLong();
    }

    public List<GroupRepresentation> subgroups(String group, int first, int max) {
        return keycloak.list(
                path + "/groups/" + encode(group) + "/children?first=" + first + "&max=" + max,
                GroupRepresentation.class);
    }

    public String createGroup(GroupRepresentation group) {
        return keycloak.post(path + "/groups", group);
    }

    public String createSubgroup(String parent, GroupRepresentation group) {
        return keycloak.post(path + "/groups/" + encode(parent) + "/children", group);
    }

    public void removeGroup(String group) {
        keycloak.delete(path + "/groups/" + encode(group));
    }

    public Optional<UserRepresentation> user(String username) {
        return keycloak.list(path + "/users?exact=true&username=" + encode(username), UserRepresentation.class).stream()
                .findFirst();
    }

    public Optional<UserRepresentation> userById(String id) {
        return keycloak.find(path + "/users/" + encode(id), UserRepresentation.class);
    }

    /** The ids of all disabled users, which are the subjects of their tokens; one request for each {@code PAGE}. */
    public Set<String> disabledUsers() {
        Set<String> disabled = new HashSet<>();
        while (true) {
            List<UserRepresentation> page = keycloak.list(
                    path + "/users?enabled=false&briefRepresentation=true&first=" + disabled.size() + "&max=" + PAGE,
                    UserRepresentation.class);
            int before = disabled.size();
            page.forEach(user -> disabled.add(user.getId()));
            if (page.size() < PAGE || disabled.size() == before) {
                return disabled;
            }
        }
    }

    public String createUser(UserRepresentation user) {
        return keycloak.post(path + "/users", user);
    }

    public void joinGroup(String user, String group) {
        keycloak.put(path + "/users/" + encode(user) + "/groups/" + encode(group), null);
    }

    public void leaveGroup(String user, String group) {
        keycloak.delete(path + "/users/" + encode(user) + "/groups/" + encode(group));
    }

    /** A page of the users whose username, name or address has the text; all for an empty text. */
    public List<UserRepresentation> users(String search, int first, int max) {
        return keycloak.list(
                path + "/users?search=" + encode(search) + "&first=" + first + "&max=" + max, UserRepresentation.class);
    }

    /** A page of the users with this role, without those that have it by a group or another role. */
    public List<UserRepresentation> usersWithRole(String role, int first, int max) {
        return keycloak.list(
                path + "/roles/" + encode(role) + "/users?briefRepresentation=false&first=" + first + "&max=" + max,
                UserRepresentation.class);
    }

    /** A page of the members of the group, without those of its subgroups. */
    public List<UserRepresentation> members(String group, int first, int max) {
        return keycloak.list(
                path + "/groups/" + encode(group) + "/members?briefRepresentation=false&first=" + first + "&max=" + max,
                UserRepresentation.class);
    }

    /** The groups of the user, at most {@code PAGE}. */
    public List<GroupRepresentation> groupsOf(String user) {
        return keycloak.list(
                path + "/users/" + encode(user) + "/groups?first=0&max=" + PAGE, GroupRepresentation.class);
    }

    /**
     * Changes these fields of the user, by their names in Keycloak. All others stay.
     *
     * @param fields without a field {@code attributes}
     */
    public void updateUser(String user, Map<String, Object> fields) {
        keycloak.put(path + "/users/" + encode(user), fields);
    }

    /** Ends all sessions of the user, so that no new tokens come from them. */
    public void endSessions(String user) {
        keycloak.post(path + "/users/" + encode(user) + "/logout", Map.of());
    }

    /** Whether the realm has a mail server. */
    public boolean hasMailServer() {
        return !keycloak.get(path, ObjectNode.class)
                .path("smtpServer")
                .path("host")
                .asText()
                .isBlank();
    }

    /** Sends the user a mail with a link to these required actions. */
    public void sendActionsMail(String user, List<String> actions) {
        keycloak.put(path + "/users/" + encode(user) + "/execute-actions-email", actions);
    }

    /**
     * Whether the user was invited and has had no other way to sign in since: the password must be replaced at the
     * next login, and there is none but that of the invitation. So a user whose password was reset, or has expired, is
     * not invited. Up to two requests.
     */
    public boolean isInvited(UserRepresentation user) {
        List<String> actions = user.getRequiredActions();
        if (actions == null || !actions.contains(UPDATE_PASSWORD) || user.getFederationLink() != null) {
            return false;
        }
        List<CredentialRepresentation> credentials = credentials(user.getId());
        boolean unused = credentials.isEmpty()
                || (credentials.stream().anyMatch(KeycloakRealm::isOfInvitation)
                        && credentials.stream()
                                .allMatch(each -> isOfInvitation(each) || PASSWORD_HISTORY.equals(each.getType())));
        return unused
                && keycloak.list(path + "/users/" + encode(user.getId()) + "/federated-identity", ObjectNode.class)
                        .isEmpty();
    }

    private static boolean isOfInvitation(CredentialRepresentation credential) {
        return CredentialRepresentation.PASSWORD.equals(credential.getType())
                && INVITATION.equals(credential.getUserLabel());
    }

    private List<CredentialRepresentation> credentials(String user) {
        return keycloak.list(path + "/users/" + encode(user) + "/credentials", CredentialRepresentation.class);
    }

    /** Sets a password for one login of an invited user, at which it must be replaced. Three requests. */
    public void setInvitationPassword(String user, String password) {
        CredentialRepresentation credential = new CredentialRepresentation();
        credential.setType(CredentialRepresentation.PASSWORD);
        credential.setValue(password);
        credential.setTemporary(true);
        keycloak.put(path + "/users/" + encode(user) + "/reset-password", credential);
        try {
            passwords(user).forEach(each -> keycloak.put(each + "/userLabel", INVITATION));
        } catch (RuntimeException e) {
            // Without the label, the password would look like one that the user has set.
            removePasswords(user, e);
            throw e;
        }
    }

    private void removePasswords(String user, RuntimeException cause) {
        try {
            passwords(user).forEach(keycloak::delete);
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
        }
    }

    /** The paths of the user's passwords. */
    private List<String> passwords(String user) {
        return credentials(user).stream()
                .filter(each -> CredentialRepresentation.PASSWORD.equals(each.getType()))
                .map(each -> path + "/users/" + encode(user) + "/credentials/" + encode(each.getId()))
                .toList();
    }

    /** Fails when there is no such role. */
    public RoleRepresentation role(String name) {
        return keycloak.get(path + "/roles/" + encode(name), RoleRepresentation.class);
    }

    public boolean hasRole(String name) {
        return keycloak.find(path + "/roles/" + encode(name), RoleRepresentation.class)
                .isPresent();
    }

    public void createRole(RoleRepresentation role) {
        keycloak.post(path + "/roles", role);
    }

    /** Adds a role of one of the realm's clients to a composite role of the realm. */
    public void addToRole(String role, RoleRepresentation part) {
        keycloak.post(path + "/roles/" + encode(role) + "/composites", List.of(part));
    }

    public void removeFromRole(String role, RoleRepresentation part) {
        keycloak.delete(path + "/roles/" + encode(role) + "/composites", List.of(part));
    }

    public RoleRepresentation clientRole(String client, String name) {
        return keycloak.get(path + "/clients/" + encode(client) + "/roles/" + encode(name), RoleRepresentation.class);
    }

    /** The roles assigned to the user itself, without the parts of composite roles. */
    public List<RoleRepresentation> rolesOf(String user) {
        return keycloak.list(path + "/users/" + encode(user) + "/role-mappings/realm", RoleRepresentation.class);
    }

    /** The names of all roles of the realm that the user has, also by groups and as parts of other roles. */
    public Set<String> effectiveRolesOf(String user) {
        return keycloak
                .list(path + "/users/" + encode(user) + "/role-mappings/realm/composite", RoleRepresentation.class)
                .stream()
                .map(RoleRepresentation::getName)
                .collect(Collectors.toSet());
    }

    public void removeRoles(String user, List<RoleRepresentation> roles) {
        keycloak.delete(path + "/users/" + encode(user) + "/role-mappings/realm", roles);
    }

    public void addRoles(String user, List<RoleRepresentation> roles) {
        keycloak.post(path + "/users/" + encode(user) + "/role-mappings/realm", roles);
    }

    public Optional<ClientRepresentation> client(String clientId) {
        return keycloak.list(path + "/clients?clientId=" + encode(clientId), ClientRepresentation.class).stream()
                .findFirst();
    }

    public String createClient(ClientRepresentation client) {
        return keycloak.post(path + "/clients", client);
    }

    public void updateClient(ClientRepresentation client) {
        keycloak.put(path + "/clients/" + encode(client.getId()), client);
    }

    public void removeClient(String id) {
        keycloak.delete(path + "/clients/" + encode(id));
    }

    public UserRepresentation serviceAccount(String client) {
        return keycloak.get(path + "/clients/" + encode(client) + "/service-account-user", UserRepresentation.class);
    }

    public String secret(String client) {
        return keycloak.get(path + "/clients/" + encode(client) + "/client-secret", CredentialRepresentation.class)
                .getValue();
    }

    public String newSecret(String client) {
        return keycloak.post(
                        path + "/clients/" + encode(client) + "/client-secret", null, CredentialRepresentation.class)
                .getValue();
    }
}
