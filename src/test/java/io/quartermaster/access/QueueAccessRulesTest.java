package io.quartermaster.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.platform.TenantId;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class QueueAccessRulesTest {

    @Test
    void queueWithoutRulesAdmitsNobody() {
        assertThat(new QueueAccessRules(List.of()).maySubmit(person("ada", Role.TENANT_ADMIN, "/research")))
                .isFalse();
    }

    @Test
    void groupRuleCoversTheGroupAndItsSubgroups() {
        QueueAccessRules rules = rules(AccessRule.Kind.GROUP, "/research");

        assertThat(rules.maySubmit(person("ada", Role.MEMBER, "/research"))).isTrue();
        assertThat(rules.maySubmit(person("ada", Role.MEMBER, "/research/nlp"))).isTrue();
        assertThat(rules.maySubmit(person("ada", Role.MEMBER, "/research-2"))).isFalse();
        assertThat(rules.maySubmit(person("ada", Role.MEMBER, "/other/research")))
                .isFalse();
        assertThat(rules.maySubmit(person("ada", Role.MEMBER))).isFalse();
    }

    @Test
    void userRuleIsNotForAServiceAccountOfThatName() {
        assertThat(rules(AccessRule.Kind.USER, "ada").maySubmit(person("ada", Role.MEMBER)))
                .isTrue();
        assertThat(rules(AccessRule.Kind.USER, "service-account-ci").maySubmit(serviceAccount("ci")))
                .isFalse();
        assertThat(rules(AccessRule.Kind.SERVICE_ACCOUNT, "ci").maySubmit(serviceAccount("ci")))
                .isTrue();
        assertThat(rules(AccessRule.Kind.SERVICE_ACCOUNT, "ada").maySubmit(person("ada", Role.MEMBER)))
                .isFalse();
    }

    @Test
    void serviceAccountWhoseTokenLeavesTheClientOutIsNoPerson() {
        Caller unnamed = person("service-account-ci", Role.MEMBER);

        assertThat(rules(AccessRule.Kind.USER, "service-account-ci").maySubmit(unnamed))
                .isFalse();
        assertThat(rules(AccessRule.Kind.SERVICE_ACCOUNT, "ci").maySubmit(unnamed))
                .isFalse();
    }

    @Test
    void ruleDoesNotReplaceThePermissionToSubmit() {
        assertThat(rules(AccessRule.Kind.EVERYONE, "*").maySubmit(person("vic", Role.VIEWER, "/research")))
                .isFalse();
        assertThat(rules(AccessRule.Kind.EVERYONE, "*").maySubmit(person("ada", Role.MEMBER)))
                .isTrue();
    }

    @Test
    void groupAdminIsBoundToTheSubtreesOfItsGroups() {
        Caller admin = person("gus", Role.GROUP_ADMIN, "/research");

        assertThat(admin.may(Permission.POLICIES_WRITE, new GroupPath("/research/nlp")))
                .isTrue();
        assertThat(admin.may(Permission.POLICIES_WRITE, new GroupPath("/devops")))
                .isFalse();
        assertThat(admin.mayEverywhere(Permission.POLICIES_WRITE)).isFalse();
        assertThat(person("tess", Role.TENANT_ADMIN).may(Permission.POLICIES_WRITE, new GroupPath("/devops")))
                .isTrue();
    }

    @Test
    void plainRoleBesideGroupAdminDoesNotWidenIt() {
        Caller both = person("gus", Set.of(Role.GROUP_ADMIN, Role.MEMBER), "/research");

        assertThat(both.may(Permission.POLICIES_WRITE, new GroupPath("/devops")))
                .isFalse();
        assertThat(both.mayEverywhere(Permission.WORKLOADS_SUBMIT)).isTrue();
    }

    @Test
    void groupPathsAreWholeSteps() {
        for (String bad : new String[] {"", "/", "research", "/research/", "//research", "/a//b"}) {
            assertThatThrownBy(() -> new GroupPath(bad)).as(bad).isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static QueueAccessRules rules(AccessRule.Kind kind, String subject) {
        return new QueueAccessRules(List.of(AccessRule.of(kind, subject)));
    }

    private static Caller person(String name, Role role, String... groups) {
        return person(name, Set.of(role), groups);
    }

    private static Caller person(String name, Set<Role> roles, String... groups) {
        return caller(name, roles, Optional.empty(), groups);
    }

    private static Caller serviceAccount(String client) {
        return caller("service-account-" + client, Set.of(Role.MEMBER), Optional.of(client));
    }

    private static Caller caller(String name, Set<Role> roles, Optional<String> client, String... groups) {
        return new Caller(
                new Realm.Tenant(new TenantId("acme")),
                "subject-of-" + name,
                name,
                roles,
                Stream.of(groups).map(GroupPath::new).collect(Collectors.toSet()),
                client,
                Optional.empty(),
                "r-1");
    }
}
