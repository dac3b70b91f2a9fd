package io.quartermaster.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.filters.ServedMethods;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.Path;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class GateTest {

    private static final Realm ACME = new Realm.Tenant(new TenantId("acme"));
    private static final Realm OPERATOR = new Realm.Operator();

    @Test
    void tenantPassesToItsOwnPart() {
        assertThat(decide(tenantCaller(Role.MEMBER), tenantRoute("acme", Permission.QUEUES_READ)))
                .isEqualTo(new Gate.Verdict.Pass());
    }

    @ParameterizedTest
    @EnumSource(Permission.class)
    void otherTenantsAreNotThereWhateverTheRouteNeeds(Permission needed) {
        assertThat(decide(tenantCaller(Role.TENANT_ADMIN), tenantRoute("globex", needed)))
                .isEqualTo(new Gate.Verdict.NotFound());
    }

    @Test
    void tenantIdsAreComparedExactly() {
        for (String almost : new String[] {"ACME", "acme ", "acme/", "acm", "acme2", ""}) {
            assertThat(decide(tenantCaller(Role.TENANT_ADMIN), tenantRoute(almost, Permission.QUEUES_READ)))
                    .as(almost)
                    .isEqualTo(new Gate.Verdict.NotFound());
        }
    }

    @Test
    void lackingAPermissionInsideOnesOwnPartNamesIt() {
        assertThat(decide(tenantCaller(Role.MEMBER), tenantRoute("acme", Permission.POLICIES_WRITE)))
                .isEqualTo(new Gate.Verdict.MissingPermission(Permission.POLICIES_WRITE));
    }

    @Test
    void operatorSeesTenantsThatExist() {
        Caller operator = caller(OPERATOR, Set.of(Role.OPERATOR), Optional.empty());

        assertThat(decide(operator, tenantRoute("acme", Permission.POLICIES_READ)))
                .isEqualTo(new Gate.Verdict.Pass());
        assertThat(decide(operator, unknownTenantRoute("nobody", Permission.POLICIES_READ)))
                .isEqualTo(new Gate.Verdict.NotFound());
    }

    @Test
    void operatorDoesNotSubmitForTenants() {
        assertThat(decide(
                        caller(OPERATOR, Set.of(Role.OPERATOR), Optional.empty()),
                        tenantRoute("acme", Permission.WORKLOADS_SUBMIT)))
                .isEqualTo(new Gate.Verdict.NotFound());
    }

    @ParameterizedTest
    @EnumSource(Permission.class)
    void agentSeesNoTenant(Permission needed) {
        Caller agent = caller(OPERATOR, Set.of(Role.AGENT), Optional.of("n1"));

        Gate.Verdict verdict = decide(agent, tenantRoute("acme", needed));

        assertThat(verdict instanceof Gate.Verdict.Pass).isEqualTo(needed == Permission.AGENTS_SYNC);
    }

    @ParameterizedTest
    @EnumSource(Permission.class)
    void operatorsPartIsNotThereForTenants(Permission needed) {
        assertThat(decide(
                        tenantCaller(Role.TENANT_ADMIN),
                        new Route(new Route.Area.OfOperator(), Optional.of(needed), Route.Access.WRITES)))
                .isEqualTo(new Gate.Verdict.NotFound());
    }

    @Test
    void nodeIsSeenByItsOwnAgentOnly() {
        Route route = new Route(new Route.Area.OfNode("n1"), Optional.of(Permission.AGENTS_SYNC), Route.Access.WRITES);

        assertThat(decide(caller(OPERATOR, Set.of(Role.AGENT), Optional.of("n1")), route))
                .isEqualTo(new Gate.Verdict.Pass());
        assertThat(decide(caller(OPERATOR, Set.of(Role.AGENT), Optional.of("n2")), route))
                .isEqualTo(new Gate.Verdict.NotFound());
        assertThat(decide(caller(OPERATOR, Set.of(Role.OPERATOR), Optional.empty()), route))
                .isEqualTo(new Gate.Verdict.NotFound());
        assertThat(decide(tenantCaller(Role.TENANT_ADMIN), route)).isEqualTo(new Gate.Verdict.NotFound());
    }

    @Test
    void routeWithoutAPermissionIsRefusedToEverybody() {
        Route operators = new Route(new Route.Area.OfOperator(), Optional.empty(), Route.Access.READS);
        Route tenants = new Route(
                new Route.Area.OfTenant("acme", Optional.of(IssuerDirectory.TenantStatus.ACTIVE)),
                Optional.empty(),
                Route.Access.READS);

        assertThat(decide(caller(OPERATOR, Set.of(Role.OPERATOR), Optional.empty()), operators))
                .isEqualTo(new Gate.Verdict.NoPermissionDeclared());
        assertThat(decide(tenantCaller(Role.TENANT_ADMIN), tenants)).isEqualTo(new Gate.Verdict.NoPermissionDeclared());
    }

    @Test
    void everyCallerMayReadWhatIsKnownOfItself() {
        Route reads = new Route(new Route.Area.OfCaller(), Optional.empty(), Route.Access.READS);
        Route writes = new Route(new Route.Area.OfCaller(), Optional.empty(), Route.Access.WRITES);
        List<Caller> callers = List.of(
                caller(ACME, Set.of(), Optional.empty()),
                caller(OPERATOR, Set.of(Role.OPERATOR), Optional.empty()),
                caller(OPERATOR, Set.of(Role.AGENT), Optional.of("n1")));

        assertThat(RouteArea.of("/v1/me")).contains(RouteArea.CALLER);
        assertThat(RouteArea.of("/v1/mean")).isEmpty();
        assertThat(callers).allSatisfy(caller -> {
            assertThat(decide(caller, reads)).isEqualTo(new Gate.Verdict.Pass());
            assertThat(decide(caller, writes)).isEqualTo(new Gate.Verdict.NoPermissionDeclared());
        });
    }

    @Test
    void routeOutsideThePartsOfTheApiIsNobodys() {
        assertThat(RouteArea.of("/v1/pools")).isEmpty();
        assertThat(RouteArea.of("/v1/tenants")).isEmpty();
        assertThat(RouteArea.of("/v1/tenants/{id}/queues")).isEmpty();
        assertThat(RouteArea.of("/v1/operators/{tenant}")).isEmpty();
        assertThat(RouteArea.of("/v1/operator/pools")).contains(RouteArea.OPERATOR);
        assertThat(RouteArea.of("/v1/operator/tenants/{tenant}")).contains(RouteArea.OPERATOR);
        assertThat(RouteArea.of("/v1/tenants/{tenant}")).contains(RouteArea.TENANT);
        assertThat(RouteArea.of("/v1/nodes/{node}/sync")).contains(RouteArea.NODE);
        Route lost = new Route(new Route.Area.Unreachable(), Optional.of(Permission.POOLS_READ), Route.Access.READS);

        assertThat(decide(caller(OPERATOR, Set.of(Role.OPERATOR), Optional.empty()), lost))
                .isEqualTo(new Gate.Verdict.NotFound());
        assertThat(decide(tenantCaller(Role.TENANT_ADMIN), lost)).isEqualTo(new Gate.Verdict.NotFound());
    }

    @Test
    void everyRouteDeclaresWhosePartOfTheApiItBelongsTo() {
        List<Method> routes = new ClassFileImporter()
                .importPath(java.nio.file.Path.of("target", "classes", "io", "quartermaster")).stream()
                        .filter(one -> one.isAnnotatedWith(Path.class))
                        .flatMap(one -> Stream.of(one.reflect().getDeclaredMethods()))
                        .filter(method -> Stream.of(method.getAnnotations())
                                .anyMatch(one -> one.annotationType().isAnnotationPresent(HttpMethod.class)))
                        // A route without a token never reaches the gate.
                        .filter(method -> !method.isAnnotationPresent(WithoutToken.class))
                        .toList();

        assertThat(routes).hasSizeGreaterThan(50).allSatisfy(route -> assertThat(
                        RouteArea.of(ServedMethods.template(route)))
                .as("area of %s %s", route, ServedMethods.template(route))
                .isPresent());
    }

    @Test
    void suspendedTenantReadsAndChangesNothing() {
        Caller admin = tenantCaller(Role.TENANT_ADMIN);

        assertThat(decide(
                        admin,
                        tenantRoute(
                                "acme",
                                IssuerDirectory.TenantStatus.SUSPENDED,
                                Permission.USAGE_READ,
                                Route.Access.READS)))
                .isEqualTo(new Gate.Verdict.Pass());
        assertThat(decide(
                        admin,
                        tenantRoute(
                                "acme",
                                IssuerDirectory.TenantStatus.SUSPENDED,
                                Permission.QUEUES_WRITE,
                                Route.Access.WRITES)))
                .isEqualTo(new Gate.Verdict.Suspended());
        assertThat(decide(
                        tenantCaller(Role.VIEWER),
                        tenantRoute(
                                "acme",
                                IssuerDirectory.TenantStatus.SUSPENDED,
                                Permission.QUEUES_WRITE,
                                Route.Access.WRITES)))
                .isEqualTo(new Gate.Verdict.MissingPermission(Permission.QUEUES_WRITE));
    }

    @Test
    void operatorPutsASuspendedTenantInOrder() {
        assertThat(decide(
                        caller(OPERATOR, Set.of(Role.OPERATOR), Optional.empty()),
                        tenantRoute(
                                "acme",
                                IssuerDirectory.TenantStatus.SUSPENDED,
                                Permission.POLICIES_WRITE,
                                Route.Access.WRITES)))
                .isEqualTo(new Gate.Verdict.Pass());
    }

    @ParameterizedTest
    @EnumSource(Permission.class)
    void ofATenantThatIsGoneTheOperatorReadsBooksAndAuditEntriesOnly(Permission needed) {
        Caller operator = caller(OPERATOR, Set.of(Role.OPERATOR), Optional.empty());
        boolean outlives = needed == Permission.USAGE_READ || needed == Permission.AUDIT_READ;

        assertThat(decide(
                        operator,
                        tenantRoute("acme", IssuerDirectory.TenantStatus.DELETED, needed, Route.Access.READS)))
                .isEqualTo(outlives ? new Gate.Verdict.Pass() : new Gate.Verdict.NotFound());
        assertThat(decide(
                        operator,
                        tenantRoute("acme", IssuerDirectory.TenantStatus.DELETED, needed, Route.Access.WRITES)))
                .isEqualTo(new Gate.Verdict.NotFound());
    }

    @Test
    void operatorsRolesMeanNothingInATenantsRealm() {
        assertThat(Role.of(ACME, "operator")).isEmpty();
        assertThat(Role.of(ACME, "agent")).isEmpty();
        assertThat(Role.of(OPERATOR, "tenant-admin")).isEmpty();
        assertThat(Role.of(ACME, "tenant-admin")).contains(Role.TENANT_ADMIN);
        assertThatThrownBy(() -> caller(ACME, Set.of(Role.OPERATOR), Optional.empty()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> caller(ACME, Set.of(Role.MEMBER), Optional.of("n1")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void callerWithoutRolesMayNothing() {
        Caller nobody = caller(ACME, Set.of(), Optional.empty());

        for (Permission permission : Permission.values()) {
            assertThat(nobody.may(permission)).as(permission.word()).isFalse();
        }
    }

    private static Gate.Verdict decide(Caller caller, Route route) {
        return Gate.decide(caller, route);
    }

    private static Route tenantRoute(String tenant, Permission needed) {
        return tenantRoute(tenant, IssuerDirectory.TenantStatus.ACTIVE, needed, Route.Access.WRITES);
    }

    private static Route tenantRoute(
            String tenant, IssuerDirectory.TenantStatus status, Permission needed, Route.Access access) {
        return new Route(new Route.Area.OfTenant(tenant, Optional.of(status)), Optional.of(needed), access);
    }

    private static Route unknownTenantRoute(String tenant, Permission needed) {
        return new Route(new Route.Area.OfTenant(tenant, Optional.empty()), Optional.of(needed), Route.Access.WRITES);
    }

    private static Caller tenantCaller(Role role) {
        return caller(ACME, Set.of(role), Optional.empty());
    }

    private static Caller caller(Realm realm, Set<Role> roles, Optional<String> node) {
        return new Caller(realm, "s-1", "someone", roles, Set.of(), Optional.empty(), node, "r-1");
    }
}
