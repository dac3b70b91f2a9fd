package io.quartermaster.tenancy;

import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Realm;
import io.quartermaster.access.Role;
import io.quartermaster.platform.TenantId;
import java.util.List;

/** What every tenant of a plan begins with. One file of {@code tenants/} each. */
public record Blueprint(
        String plan, String realmTemplate, List<GroupPath> groups, boolean demo, List<DemoUser> users, int maxGroups) {

    /** Somebody whose password is no secret. */
    public record DemoUser(String username, String password, List<String> roles, List<GroupPath> groups) {

        private static final Realm SOME_TENANT = new Realm.Tenant(new TenantId("any"));

        public DemoUser {
            roles = List.copyOf(roles);
            groups = List.copyOf(groups);
            for (String role : roles) {
                if (Role.of(SOME_TENANT, role).isEmpty()) {
                    throw new IllegalArgumentException("user " + username + ": a tenant has no role " + role);
                }
            }
        }
    }

    public Blueprint {
        groups = List.copyOf(groups);
        users = List.copyOf(users);
        if (!demo && !users.isEmpty()) {
            throw new IllegalArgumentException("plan " + plan + " has users with passwords, but is no demo plan");
        }
        if (maxGroups < groups.size()) {
            throw new IllegalArgumentException("plan " + plan + " begins with more than maxGroups groups");
        }
    }
}
