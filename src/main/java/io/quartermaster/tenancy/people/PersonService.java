package io.quartermaster.tenancy.people;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.Caller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.IdentityConfig;
import io.quartermaster.access.Role;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.quartermaster.tenancy.BlueprintCatalog;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import java.net.URI;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.keycloak.representations.idm.UserRepresentation;

/**
 * Lists, invites and changes the people of a tenant's realm.
 *
 * <p>A change makes its checks, commits its audit entry, and then makes its checks again and calls Keycloak. The
 * checks read what the caller may do now: its token says what it could do some minutes ago.
 *
 * <p>When Keycloak fails, a second entry says so; what was done until then stays. A repeated invitation completes it,
 * and so does a repeated change with the ETag of the person as it is then.
 */
@ApplicationScoped
class PersonService {

    private static final int PASSWORD_BYTES = 18;
    /** Beyond this, a list is narrowed with a search. */
    private static final int MOST = 100_000;

    private static final String INVITE = "people:invite";
    private static final String UPDATE = "people:update";
    private static final String FAILED = "-failed";

    private final KeycloakAdmin admin;
    private final TenantTransactions transactions;
    private final TenantWrites tenantWrites;
    private final BlueprintCatalog blueprints;
    private final IdentityConfig identity;
    private final AuditLog audit;
    private final ObjectMapper json;
    private final SecureRandom random = new SecureRandom();

    PersonService(
            KeycloakAdmin admin,
            TenantTransactions transactions,
            TenantWrites tenantWrites,
            BlueprintCatalog blueprints,
            IdentityConfig identity,
            AuditLog audit,
            ObjectMapper json) {
        this.admin = admin;
        this.transactions = transactions;
        this.tenantWrites = tenantWrites;
        this.blueprints = blueprints;
        this.identity = identity;
        this.audit = audit;
        this.json = json;
    }

    /** At most one of the filters is given. */
    record Filter(
            @Nullable String search,
            @Nullable String role,
            @Nullable String group) {

        private void check(TenantId tenant, ProblemException.Invalid invalid) {
            List<Role> roles = PersonChecks.roles(tenant);
            if (role != null) {
                invalid.check(
                                roles.stream().anyMatch(each -> each.word().equals(role)),
                                "role",
                                "is not a role that people of a tenant can have",
                                PersonChecks.words(roles))
                        .check(
                                search == null && group == null,
                                "role",
                                "is given beside search or group",
                                "one of search, role, group");
            }
            if (group != null) {
                invalid.check(GroupPath.isValid(group), "group", "is not a group path", "a path such as /research/nlp")
                        .check(search == null, "group", "is given beside search", "one of search, role, group");
            }
        }
    }

    private <T> Uni<T> in(TenantId tenant, Function<PeopleRealm, T> work) {
        return admin.call(keycloak -> work.apply(new PeopleRealm(tenant, keycloak.realm(tenant.value()))));
    }

    Uni<Page<PersonApi.Person>> list(TenantId tenant, Filter filter, PageRequest page) {
        ProblemException.Invalid invalid = new ProblemException.Invalid();
        filter.check(tenant, invalid);
        invalid.throwIfAny();
        String scope = "people:" + tenant + ":" + filter;
        int first = page.after(scope).map(PersonService::offset).orElse(0);
        int size = page.size();
        Role role = filter.role() == null
                ? null
                : PersonChecks.roles(tenant).stream()
                        .filter(each -> each.word().equals(filter.role()))
                        .findFirst()
                        .orElseThrow();
        GroupPath group = filter.group() == null ? null : new GroupPath(filter.group());
        return in(tenant, realm -> realm.page(filter.search(), role, group, first, size + 1))
                .map(found -> {
                    Page<UserRepresentation> users = Page.of(found, size, scope, last -> String.valueOf(first + size));
                    return new Page<>(
                            users.items().stream()
                                    .filter(PeopleRealm::isPerson)
                                    .map(PeopleRealm::person)
                                    .toList(),
                            users.nextPageToken());
                });
    }

    private static int offset(String key) {
        try {
            int offset = Integer.parseInt(key);
            if (offset > 0 && offset <= MOST) {
                return offset;
            }
        } catch (NumberFormatException e) {
            // falls through to the refusal below
        }
        throw ProblemException.invalid(
                "pageToken",
                "not a token of this list",
                "the nextPageToken of the previous page; or a narrower search");
    }

    Uni<Response> get(TenantId tenant, String id) {
        return in(tenant, realm -> realm.require(id).details())
                .map(person -> TenantWrites.response(WriteReply.ok(person, person.version())));
    }

    // ------------------------------------------------------------------------------------------------ invitations

    Uni<Response> invite(TenantId tenant, Caller caller, PersonApi.@Nullable Invitation body, WriteParams params) {
        if (body == null) {
            throw ProblemException.invalid("body", "is missing", "a person: username, email, roles, groups");
        }
        ProblemException.Invalid invalid = new ProblemException.Invalid();
        PersonChecks.person(body, invalid);
        List<@Nullable String> named = body.roles() == null ? List.of(Role.MEMBER.word()) : body.roles();
        Set<Role> roles = PersonChecks.roles(tenant, caller, named, EnumSet.noneOf(Role.class), invalid);
        Set<GroupPath> groups = PersonChecks.groups(body.groups() == null ? List.of() : body.groups(), invalid);
        invalid.throwIfAny();
        Invite invite = new Invite(tenant, caller, body, roles, groups);
        WriteMode mode = params.mode();
        params.key();
        return in(tenant, realm -> check(realm, invite))
                .chain(checked -> {
                    AuditLog.Change change = change(invite, checked.there());
                    return begin(tenant, caller, change, mode)
                            .chain(() -> mode == WriteMode.DRY_RUN
                                    ? Uni.createFrom().item(invited(tenant, "", body, checked.mail(), null))
                                    : orFailed(tenant, caller, change, in(tenant, realm -> invite(realm, invite))));
                })
                .map(invited -> tenantWrites.unstored(
                        mode,
                        new WriteReply(
                                201,
                                mode == WriteMode.DRY_RUN ? invited.withoutSecret() : invited,
                                mode == WriteMode.DRY_RUN
                                        ? Map.of()
                                        : Map.of("Location", "/v1/tenants/" + tenant + "/people/" + invited.id()))));
    }

    /** An invitation whose body is valid. */
    private record Invite(
            TenantId tenant, Caller caller, PersonApi.Invitation wanted, Set<Role> roles, Set<GroupPath> groups) {

        String username() {
            return String.valueOf(wanted.username());
        }
    }

    /**
     * What the realm has for an invitation.
     *
     * @param there the person of an invitation that is repeated
     * @param groups the ids of the wanted groups
     * @param mail whether the realm sends mail
     */
    private record Invitable(Optional<PeopleRealm.State> there, Map<GroupPath, String> groups, boolean mail) {}

    /** Fails if the person cannot be invited by the caller. */
    private static Invitable check(PeopleRealm realm, Invite invite) {
        Caller live = realm.live(invite.caller());
        requireGrantable(invite.tenant(), live, invite.roles());
        Map<GroupPath, String> groups = realm.groups(invite.groups());
        Optional<PeopleRealm.State> there = realm.named(invite.username());
        there.ifPresent(person -> {
            if (!realm.isInvited(person)) {
                throw ProblemException.conflict(
                        "user-exists", "there is a user " + invite.username() + " that has set a password already");
            }
            requireGrantable(invite.tenant(), live, person.roles());
        });
        return new Invitable(there, groups, realm.sendsMail());
    }

    private static AuditLog.Change change(Invite invite, Optional<PeopleRealm.State> there) {
        Map<String, Object> before = there.map(person -> fields(
                        String.valueOf(person.user().getEmail()),
                        person.roles(),
                        new TreeSet<>(person.groups().keySet())))
                .orElse(null);
        Map<String, Object> after = fields(String.valueOf(invite.wanted().email()), invite.roles(), invite.groups());
        if (before != null) {
            before.put("enabled", there.orElseThrow().enabled());
            after.put("enabled", true);
        }
        return new AuditLog.Change(INVITE, "people/" + invite.username(), before, after);
    }

    private static Map<String, Object> fields(String email, Set<Role> roles, Set<GroupPath> groups) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("email", email);
        fields.put("roles", PersonChecks.words(roles));
        fields.put("groups", groups);
        return fields;
    }

    private static void requireGrantable(TenantId tenant, Caller caller, Set<Role> roles) {
        List<Role> grantable = PersonChecks.grantable(tenant, caller);
        if (!grantable.containsAll(roles)) {
            throw ProblemException.forbidden(
                    "the person has a role with permissions that you do not have, so you cannot change the person");
        }
    }

    private PersonApi.Invited invite(PeopleRealm realm, Invite invite) {
        Invitable found = check(realm, invite);
        PeopleRealm.State state = found.there().orElseGet(() -> realm.require(realm.add(invite.wanted())));
        String id = state.id();
        realm.setRoles(id, state.roles(), invite.roles());
        realm.setGroups(id, state.groups(), found.groups());
        if (found.there().isPresent()) {
            realm.replace(id, invite.wanted());
        }
        // The credential last, so that a person who can sign in has roles and groups.
        if (found.mail()) {
            realm.sendMail(id);
            return invited(invite.tenant(), id, invite.wanted(), true, null);
        }
        String password = newPassword();
        realm.setOneTimePassword(id, password);
        return invited(invite.tenant(), id, invite.wanted(), false, password);
    }

    private PersonApi.Invited invited(
            TenantId tenant, String id, PersonApi.Invitation wanted, boolean mail, @Nullable String password) {
        return new PersonApi.Invited(
                id,
                String.valueOf(wanted.username()),
                mail ? PersonApi.Way.MAIL : PersonApi.Way.ONE_TIME_PASSWORD,
                password,
                URI.create(identity.issuerOf(tenant.value()) + "/account"));
    }

    private String newPassword() {
        byte[] bytes = new byte[PASSWORD_BYTES];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    // ------------------------------------------------------------------------------------------------ changes

    /** What a request changes about a person. */
    private record Edit(PeopleRealm.State before, Set<Role> roles, Map<GroupPath, String> groups, boolean enabled) {

        boolean isNothing() {
            return roles.equals(before.roles())
                    && groups.keySet().equals(before.groups().keySet())
                    && enabled == before.enabled();
        }

        /** Whether an enabled admin is none afterwards. */
        boolean losesAdmin() {
            return before.enabled()
                    && before.roles().stream().anyMatch(PersonChecks::isAdmin)
                    && !(enabled && roles.stream().anyMatch(PersonChecks::isAdmin));
        }

        PeopleRealm.State after() {
            UserRepresentation user = new UserRepresentation(before.user());
            user.setEnabled(enabled);
            return new PeopleRealm.State(user, roles, groups);
        }

        Map<String, Object> fields(PeopleRealm.State state) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("roles", PersonChecks.words(state.roles()));
            fields.put("groups", new TreeSet<>(state.groups().keySet()));
            fields.put("enabled", state.enabled());
            return fields;
        }
    }

    Uni<Response> update(TenantId tenant, Caller caller, String id, @Nullable String body, WriteParams params)
            throws JsonProcessingException {
        MergePatch read = MergePatch.read(json, body, PersonApi.Patch.class);
        read.requireValue("roles", "a list of roles");
        read.requireValue("groups", "a list of paths of groups");
        read.requireValue("enabled", "true, false");
        PersonApi.Patch patch = read.applyTo(new PersonApi.Patch(null, null, null), PersonApi.Patch.class, json);
        params.expectedVersion();
        WriteMode mode = params.mode();
        return in(tenant, realm -> edit(tenant, caller, realm, id, patch, params))
                .chain(edit -> {
                    if (edit.isNothing()) {
                        return endSessions(tenant, id, patch, mode).replaceWith(() -> reply(mode, edit.before()));
                    }
                    AuditLog.Change change = new AuditLog.Change(
                            UPDATE,
                            "people/" + edit.before().user().getUsername(),
                            edit.fields(edit.before()),
                            edit.fields(edit.after()));
                    return begin(tenant, caller, change, mode)
                            .chain(() -> mode == WriteMode.DRY_RUN
                                    ? Uni.createFrom().item(edit.after())
                                    : orFailed(
                                            tenant,
                                            caller,
                                            change,
                                            in(
                                                    tenant,
                                                    realm -> apply(
                                                            realm, edit(tenant, caller, realm, id, patch, params)))))
                            .map(after -> reply(mode, after));
                });
    }

    /** A person who is disabled already: an earlier request may have failed before it ended the sessions. */
    private Uni<Void> endSessions(TenantId tenant, String id, PersonApi.Patch patch, WriteMode mode) {
        if (mode == WriteMode.DRY_RUN || !Boolean.FALSE.equals(patch.enabled())) {
            return Uni.createFrom().voidItem();
        }
        return in(tenant, realm -> {
                    realm.endSessions(id);
                    return id;
                })
                .replaceWithVoid();
    }

    private Response reply(WriteMode mode, PeopleRealm.State state) {
        PersonApi.Details details = state.details();
        return tenantWrites.unstored(mode, WriteReply.ok(details, details.version()));
    }

    private static Edit edit(
            TenantId tenant, Caller caller, PeopleRealm realm, String id, PersonApi.Patch patch, WriteParams params) {
        Caller live = realm.live(caller);
        PeopleRealm.State before = realm.require(id);
        params.requireVersion(before.version());
        ProblemException.Invalid invalid = new ProblemException.Invalid();
        Set<Role> roles = patch.roles() == null
                ? before.roles()
                : PersonChecks.roles(tenant, live, patch.roles(), before.roles(), invalid);
        Set<GroupPath> groups =
                patch.groups() == null ? before.groups().keySet() : PersonChecks.groups(patch.groups(), invalid);
        invalid.throwIfAny();
        boolean enabled = patch.enabled() == null ? before.enabled() : patch.enabled();
        Edit edit = new Edit(before, roles, patch.groups() == null ? before.groups() : realm.groups(groups), enabled);
        Set<Role> touched = EnumSet.noneOf(Role.class);
        touched.addAll(before.roles());
        if (enabled == before.enabled()) {
            touched.removeAll(roles);
        }
        requireGrantable(tenant, live, touched);
        if (before.enabled() && !enabled && caller.subject().equals(before.id())) {
            throw ProblemException.conflict(
                    "own-account", "you cannot disable your own account; another admin of the tenant can");
        }
        if (edit.losesAdmin() && !realm.hasOtherAdmin(id)) {
            throw lastAdmin(before);
        }
        return edit;
    }

    private static ProblemException lastAdmin(PeopleRealm.State person) {
        return ProblemException.conflict(
                "last-admin",
                person.user().getUsername()
                        + " is the only enabled admin of the tenant who has signed in; make another admin first");
    }

    /**
     * Makes the change. Two admins could take each other's rights at the same time: so the number of admins is checked
     * again immediately after an admin lost them, even if Keycloak failed. A change that left none is undone.
     */
    private static PeopleRealm.State apply(PeopleRealm realm, Edit edit) {
        String id = edit.before().id();
        if (edit.losesAdmin()) {
            try {
                setRights(realm, edit);
            } finally {
                keepAdmin(realm, edit);
            }
            realm.setGroups(id, edit.before().groups(), edit.groups());
        } else {
            // Before the person is enabled.
            realm.setGroups(id, edit.before().groups(), edit.groups());
            setRights(realm, edit);
        }
        if (!edit.enabled()) {
            realm.endSessions(id);
        }
        return realm.require(id);
    }

    private static void setRights(PeopleRealm realm, Edit edit) {
        String id = edit.before().id();
        realm.setRoles(id, edit.before().roles(), edit.roles());
        if (edit.enabled() != edit.before().enabled()) {
            realm.setEnabled(id, edit.enabled());
        }
    }

    private static void keepAdmin(PeopleRealm realm, Edit edit) {
        String id = edit.before().id();
        if (!realm.hasOtherAdmin(id)) {
            realm.setRoles(id, edit.roles(), edit.before().roles());
            realm.setEnabled(id, edit.before().enabled());
            throw lastAdmin(edit.before());
        }
    }

    // ------------------------------------------------------------------------------------------------ audit

    /** Writes the audit entry, and refuses tenants whose plan leaves the people to another system. */
    private Uni<Void> begin(TenantId tenant, Caller caller, AuditLog.Change change, WriteMode mode) {
        return transactions.in(tenant, mode, session -> session.createNativeQuery(
                        "select plan from tenant where id = :tenant", String.class)
                .setParameter("tenant", tenant.value())
                .getSingleResultOrNull()
                .onItem()
                .ifNull()
                .failWith(ProblemException::notFound)
                .invoke(plan -> {
                    if (!blueprints.adminsManageUsers(Objects.requireNonNull(plan))) {
                        throw ProblemException.conflict(
                                "people-managed-elsewhere",
                                "the tenant's plan leaves its people to another system; change them there");
                    }
                })
                .chain(() -> audit.record(session, tenant, caller, change)));
    }

    private <T> Uni<T> orFailed(TenantId tenant, Caller caller, AuditLog.Change change, Uni<T> call) {
        AuditLog.Change failed =
                new AuditLog.Change(change.action() + FAILED, change.resource(), change.before(), change.after());
        return call.onFailure()
                .call(() -> transactions.in(tenant, session -> audit.record(session, tenant, caller, failed)));
    }
}
