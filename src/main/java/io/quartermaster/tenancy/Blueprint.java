package io.quartermaster.tenancy;

import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Realm;
import io.quartermaster.access.Role;
import io.quartermaster.platform.TenantId;
import java.util.List;

/** The initial content of every tenant of a plan. Each plan has one file in {@code tenants/}. */
public record Blueprint(
        String plan, String realmTemplate, List<GroupPath> groups, boolean demo, List<DemoUser> users, int maxGroups) {

    /** A user with a published password. */
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
            throw new IllegalArgumentException("plan " + plan + " has users with passwords, but is not a demo plan");
        }
        if (maxGroups < groups.size()) {
            throw new IllegalArgumentException("plan " + plan + " has more initial groups than its maxGroups");
        }
    }
}
