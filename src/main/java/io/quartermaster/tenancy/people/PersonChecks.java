package io.quartermaster.tenancy.people;

import io.quartermaster.access.Caller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Permission;
import io.quartermaster.access.Realm;
import io.quartermaster.access.Role;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.PrintableText;
import io.quartermaster.platform.http.ProblemException.Invalid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The checks of what a request says about a person, before any call to Keycloak. */
final class PersonChecks {

    static final int MAX_LENGTH = 254;
    static final int MAX_ROLES = 10;
    static final int MAX_GROUPS = 50;

    private static final Pattern USERNAME = Pattern.compile("[a-z0-9][a-z0-9._@-]{2,253}");
    private static final String USERNAME_ACCEPTED =
            "3 to 254 lower-case letters, digits, dots, dashes, underlines and @, a letter or digit first; not"
                    + " service-account- first";
    private static final Pattern EMAIL = Pattern.compile("[^\\s\\p{Cntrl}@]+@[^\\s\\p{Cntrl}@]+");
    private static final String NAME_ACCEPTED = "at most " + MAX_LENGTH + " printable characters";

    /** A role of programs, which have no person's account. */
    private static final Set<Role> OF_PROGRAMS = EnumSet.of(Role.TENANT_AUTOMATION);

    private PersonChecks() {}

    /** Whether a person can have this username. Those of service accounts are refused. */
    static boolean isUsername(String name) {
        return USERNAME.matcher(name).matches() && !name.startsWith(Caller.SERVICE_ACCOUNT_PREFIX);
    }

    /** The roles that people of the tenant can have. */
    static List<Role> roles(TenantId tenant) {
        return Arrays.stream(Role.values())
                .filter(role -> role.belongsTo(new Realm.Tenant(tenant)) && !OF_PROGRAMS.contains(role))
                .toList();
    }

    /** The roles that the caller may grant and revoke: those whose permissions the caller has everywhere. */
    static List<Role> grantable(TenantId tenant, Caller caller) {
        return roles(tenant).stream()
                .filter(role -> role.permissions().stream().allMatch(caller::mayEverywhere))
                .toList();
    }

    static void person(PersonApi.Invitation wanted, Invalid invalid) {
        String username = wanted.username() == null ? "" : wanted.username();
        String email = wanted.email() == null ? "" : wanted.email();
        invalid.check(
                        isUsername(username),
                        "username",
                        wanted.username() == null ? "is missing" : "is not a valid username",
                        USERNAME_ACCEPTED)
                .check(
                        email.length() <= MAX_LENGTH && EMAIL.matcher(email).matches(),
                        "email",
                        wanted.email() == null ? "is missing" : "is not an email address",
                        "an email address such as jo@example.com")
                .check(isName(wanted.firstName()), "firstName", "is not a valid name", NAME_ACCEPTED)
                .check(isName(wanted.lastName()), "lastName", "is not a valid name", NAME_ACCEPTED);
    }

    private static boolean isName(@Nullable String name) {
        return name == null || !name.isBlank() && name.length() <= MAX_LENGTH && PrintableText.isPrintable(name);
    }

    /** The roles that the request names, sorted. Adds an error for each that the caller cannot name. */
    static Set<Role> roles(
            TenantId tenant, Caller caller, List<@Nullable String> named, Set<Role> present, Invalid invalid) {
        List<Role> grantable = grantable(tenant, caller);
        Set<Role> roles = EnumSet.noneOf(Role.class);
        if (named.size() > MAX_ROLES) {
            invalid.add("roles", "has " + named.size() + " roles", "up to " + MAX_ROLES + " roles");
            return roles;
        }
        for (int i = 0; i < named.size(); i++) {
            String word = String.valueOf(named.get(i));
            Role role = roles(tenant).stream()
                    .filter(each -> each.word().equals(word))
                    .findFirst()
                    .orElse(null);
            if (role == null || !grantable.contains(role) && !present.contains(role)) {
                invalid.add(
                        "roles[" + i + "]",
                        role == null
                                ? "is not a role that people of a tenant can have"
                                : "role " + word + " has permissions that you do not have, so you cannot grant it",
                        words(grantable));
            } else {
                roles.add(role);
            }
        }
        return roles;
    }

    static String words(List<Role> roles) {
        return roles.stream().map(Role::word).sorted().collect(Collectors.joining(", "));
    }

    static Set<GroupPath> groups(List<@Nullable GroupPath> named, Invalid invalid) {
        Set<GroupPath> groups = new TreeSet<>();
        if (named.size() > MAX_GROUPS) {
            invalid.add("groups", "has " + named.size() + " groups", "up to " + MAX_GROUPS + " groups");
            return groups;
        }
        for (int i = 0; i < named.size(); i++) {
            GroupPath group = named.get(i);
            if (group == null) {
                invalid.add("groups[" + i + "]", "is null", GroupPath.ACCEPTED);
            } else {
                groups.add(group);
            }
        }
        return groups;
    }

    static List<String> words(Set<Role> roles) {
        return new ArrayList<>(roles.stream().map(Role::word).sorted().toList());
    }

    /** Whether people with this role can administer the tenant's people. */
    static boolean isAdmin(Role role) {
        return role.permissions().contains(Permission.PEOPLE_WRITE);
    }
}
