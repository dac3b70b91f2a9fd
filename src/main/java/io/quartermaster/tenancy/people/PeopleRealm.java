package io.quartermaster.tenancy.people;

import io.quartermaster.access.Caller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Permission;
import io.quartermaster.access.Role;
import io.quartermaster.access.keycloak.KeycloakFailure;
import io.quartermaster.access.keycloak.KeycloakRealm;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.keycloak.representations.idm.GroupRepresentation;
import org.keycloak.representations.idm.RoleRepresentation;
import org.keycloak.representations.idm.UserRepresentation;

/** Reads and changes the people of one realm. Its methods block; each is part of one call to Keycloak. */
final class PeopleRealm {

    private static final String UPDATE_PASSWORD = "UPDATE_PASSWORD";
    /** Far more admins than a tenant has, and few enough for one request. */
    private static final int MOST_ADMINS = 200;

    private final TenantId tenant;
    private final KeycloakRealm realm;

    PeopleRealm(TenantId tenant, KeycloakRealm realm) {
        this.tenant = tenant;
        this.realm = realm;
    }

    /** A person as the realm has it. */
    record State(UserRepresentation user, Set<Role> roles, Map<GroupPath, String> groups) {

        boolean enabled() {
            return Boolean.TRUE.equals(user.isEnabled());
        }

        String id() {
            return user.getId();
        }

        PersonApi.Details details() {
            return new PersonApi.Details(
                    person(user),
                    PersonChecks.words(roles),
                    new TreeSet<>(groups.keySet()).stream().toList(),
                    version());
        }

        /** A number that another state of the person does not have. */
        long version() {
            String text = enabled() + "\n" + PersonChecks.words(roles) + "\n" + new TreeSet<>(groups.keySet());
            try {
                byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
                long number = 0;
                for (int i = 0; i < Long.BYTES; i++) {
                    number = number << Byte.SIZE | digest[i] & 0xFF;
                }
                // An ETag has at most 18 digits.
                return Math.floorMod(number, 1_000_000_000_000_000_000L);
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static PersonApi.Person person(UserRepresentation user) {
        Long created = user.getCreatedTimestamp();
        return new PersonApi.Person(
                user.getId(),
                user.getUsername(),
                user.getEmail(),
                user.getFirstName(),
                user.getLastName(),
                Boolean.TRUE.equals(user.isEnabled()),
                awaitsPassword(user),
                created == null ? null : Instant.ofEpochMilli(created));
    }

    private static boolean awaitsPassword(UserRepresentation user) {
        List<String> required = user.getRequiredActions();
        return required != null && required.contains(UPDATE_PASSWORD);
    }

    /**
     * The caller with those roles of its token that it still has in the realm. Fails with 403 if it may not change
     * people any more: its token keeps the rights of its time of issue.
     */
    Caller live(Caller caller) {
        boolean enabled = realm.userById(caller.subject())
                        .filter(user -> Boolean.TRUE.equals(user.isEnabled()))
                        .isPresent()
                && (!caller.isServiceAccount() || hasEnabledClient(caller));
        Set<Role> roles = EnumSet.noneOf(Role.class);
        if (enabled) {
            Set<String> names = realm.effectiveRolesOf(caller.subject());
            caller.roles().stream().filter(role -> names.contains(role.word())).forEach(roles::add);
        }
        Caller live = caller.withRoles(roles);
        if (!live.mayEverywhere(Permission.PEOPLE_WRITE)) {
            throw ProblemException.forbidden("you may not change people any more: your account or its roles changed"
                    + " since your token was issued");
        }
        return live;
    }

    private boolean hasEnabledClient(Caller caller) {
        String client =
                caller.clientId().orElseGet(() -> caller.username().substring(Caller.SERVICE_ACCOUNT_PREFIX.length()));
        return realm.client(client)
                .filter(found -> Boolean.TRUE.equals(found.isEnabled()))
                .isPresent();
    }

    /** Whether this person was invited, and has not signed in since. */
    boolean isInvited(State person) {
        return realm.isInvited(person.user());
    }

    /**
     * A page of people.
     *
     * @param role only people with this role, not those that have it by a group
     * @param group only members of this group
     */
    List<UserRepresentation> page(
            @Nullable String search, @Nullable Role role, @Nullable GroupPath group, int first, int max) {
        if (role != null) {
            return realm.usersWithRole(role.word(), first, max);
        }
        if (group != null) {
            return realm.group(group)
                    .map(found -> realm.members(found.getId(), first, max))
                    .orElse(List.of());
        }
        return realm.users(search == null ? "" : search, first, max);
    }

    static boolean isPerson(UserRepresentation user) {
        return user.getServiceAccountClientId() == null
                && !user.getUsername().startsWith(Caller.SERVICE_ACCOUNT_PREFIX);
    }

    /** Fails with 404 if the realm has no such person. */
    State require(String id) {
        return find(id).orElseThrow(ProblemException::notFound);
    }

    private Optional<State> find(String id) {
        return realm.userById(id).filter(PeopleRealm::isPerson).map(this::state);
    }

    Optional<State> named(String username) {
        return realm.user(username).filter(PeopleRealm::isPerson).map(this::state);
    }

    private State state(UserRepresentation user) {
        Set<Role> roles = EnumSet.noneOf(Role.class);
        List<Role> known = PersonChecks.roles(tenant);
        for (RoleRepresentation role : realm.rolesOf(user.getId())) {
            known.stream().filter(each -> each.word().equals(role.getName())).forEach(roles::add);
        }
        Map<GroupPath, String> groups = new HashMap<>();
        for (GroupRepresentation group : realm.groupsOf(user.getId())) {
            if (GroupPath.isValid(group.getPath())) {
                groups.put(new GroupPath(group.getPath()), group.getId());
            }
        }
        return new State(user, roles, groups);
    }

    /** The ids of these groups. Fails with 422 if the realm lacks some. */
    Map<GroupPath, String> groups(Set<GroupPath> wanted) {
        ProblemException.Invalid lacking = new ProblemException.Invalid();
        Map<GroupPath, String> ids = new HashMap<>();
        for (GroupPath group : wanted) {
            Optional<GroupRepresentation> found = realm.group(group);
            found.ifPresent(there -> ids.put(group, there.getId()));
            if (found.isEmpty()) {
                lacking.add("groups", "names " + group + ", which the realm lacks", "paths of groups of the realm");
            }
        }
        lacking.refuseIfAny("no-such-group");
        return ids;
    }

    /** Whether the realm has an enabled admin other than this person, who need not set a password first. */
    boolean hasOtherAdmin(String id) {
        return PersonChecks.roles(tenant).stream()
                .filter(PersonChecks::isAdmin)
                .flatMap(role -> realm.usersWithRole(role.word(), 0, MOST_ADMINS).stream())
                .anyMatch(user -> isPerson(user)
                        && Boolean.TRUE.equals(user.isEnabled())
                        && !awaitsPassword(user)
                        && !user.getId().equals(id));
    }

    boolean sendsMail() {
        return realm.hasMailServer();
    }

    /** Adds a person who has to set a password, and returns the person's id. */
    String add(PersonApi.Invitation wanted) {
        UserRepresentation user = new UserRepresentation();
        user.setUsername(wanted.username());
        user.setEmail(wanted.email());
        user.setFirstName(wanted.firstName());
        user.setLastName(wanted.lastName());
        user.setEnabled(true);
        user.setRequiredActions(List.of(UPDATE_PASSWORD));
        return accepted(() -> realm.createUser(user));
    }

    /** Gives an invited person the address and given names of a repeated invitation, and enables the person. */
    void replace(String id, PersonApi.Invitation wanted) {
        Map<String, Object> fields = new HashMap<>();
        fields.put("email", String.valueOf(wanted.email()));
        fields.put("enabled", true);
        if (wanted.firstName() != null) {
            fields.put("firstName", wanted.firstName());
        }
        if (wanted.lastName() != null) {
            fields.put("lastName", wanted.lastName());
        }
        accepted(() -> {
            realm.updateUser(id, fields);
            return id;
        });
    }

    private static String accepted(Supplier<String> write) {
        try {
            return write.get();
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

    void setRoles(String id, Set<Role> present, Set<Role> wanted) {
        Set<Role> gone = EnumSet.noneOf(Role.class);
        gone.addAll(present);
        gone.removeAll(wanted);
        Set<Role> added = EnumSet.noneOf(Role.class);
        added.addAll(wanted);
        added.removeAll(present);
        if (!added.isEmpty()) {
            realm.addRoles(
                    id, added.stream().map(role -> realm.role(role.word())).toList());
        }
        if (!gone.isEmpty()) {
            realm.removeRoles(
                    id, gone.stream().map(role -> realm.role(role.word())).toList());
        }
    }

    /** @param ids the ids of the wanted groups */
    void setGroups(String id, Map<GroupPath, String> present, Map<GroupPath, String> ids) {
        ids.forEach((group, groupId) -> {
            if (!present.containsKey(group)) {
                realm.joinGroup(id, groupId);
            }
        });
        present.forEach((group, groupId) -> {
            if (!ids.containsKey(group)) {
                realm.leaveGroup(id, groupId);
            }
        });
    }

    void setEnabled(String id, boolean enabled) {
        realm.updateUser(id, Map.of("enabled", enabled));
    }

    void endSessions(String id) {
        realm.endSessions(id);
    }

    void setOneTimePassword(String id, String password) {
        realm.setInvitationPassword(id, password);
    }

    void sendMail(String id) {
        realm.sendActionsMail(id, List.of(UPDATE_PASSWORD));
    }
}
