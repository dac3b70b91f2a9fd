package io.quartermaster.access;

import io.quartermaster.platform.http.ProblemException;
import java.util.Set;

/**
 * Decides whether a caller may use a route. Resources that a caller may not see look as if they did not exist; only
 * inside its own part of the API does a caller learn which permission it lacks.
 */
final class Gate {

    sealed interface Verdict {
        record Pass() implements Verdict {}

        /** 404, as for a resource that does not exist. */
        record NotFound() implements Verdict {}

        /** 403. */
        record MissingPermission(Permission permission) implements Verdict {}

        /** 403: the caller's tenant is suspended, and may only read. */
        record Suspended() implements Verdict {}

        /** 403: the route states no permission, so no caller may use it. */
        record NoPermissionDeclared() implements Verdict {}
    }

    /** Permissions for the data that outlives a tenant: its usage and its audit entries. */
    private static final Set<Permission> PERMISSIONS_ON_DELETED_TENANTS =
            Set.of(Permission.USAGE_READ, Permission.AUDIT_READ);

    private Gate() {}

    static Verdict decide(Caller caller, Route route) {
        if (!canSee(caller, route)) {
            return new Verdict.NotFound();
        }
        if (route.area() instanceof Route.Area.OfCaller && route.access() == Route.Access.READS) {
            return new Verdict.Pass();
        }
        if (route.requiredPermission().isEmpty()) {
            return new Verdict.NoPermissionDeclared();
        }
        Permission needed = route.requiredPermission().get();
        if (!caller.may(needed)) {
            return new Verdict.MissingPermission(needed);
        }
        return isSuspended(caller, route) ? new Verdict.Suspended() : new Verdict.Pass();
    }

    /** Whether the tenant is suspended for this caller. A suspension does not restrict the operator's staff. */
    private static boolean isSuspended(Caller caller, Route route) {
        return caller.realm() instanceof Realm.Tenant
                && route.access() == Route.Access.WRITES
                && route.area() instanceof Route.Area.OfTenant area
                && area.status()
                        .filter(IssuerDirectory.TenantStatus.ACTIVE::equals)
                        .isEmpty();
    }

    private static boolean canSee(Caller caller, Route route) {
        return switch (route.area()) {
            case Route.Area.OfTenant area -> canSeeTenant(caller, area, route);
            case Route.Area.OfOperator area -> caller.realm() instanceof Realm.Operator;
            case Route.Area.OfNode area ->
                caller.node().filter(area.node()::equals).isPresent();
            case Route.Area.OfCaller area -> true;
            case Route.Area.Unreachable area -> false;
        };
    }

    /** The operator's users and service accounts see tenants only as far as their own permissions reach. */
    private static boolean canSeeTenant(Caller caller, Route.Area.OfTenant area, Route route) {
        return switch (caller.realm()) {
            case Realm.Tenant own -> own.id().value().equals(area.tenant());
            case Realm.Operator operator ->
                area.status().filter(status -> isReachable(status, route)).isPresent()
                        && route.requiredPermission().filter(caller::may).isPresent();
        };
    }

    private static boolean isReachable(IssuerDirectory.TenantStatus status, Route route) {
        return status != IssuerDirectory.TenantStatus.DELETED
                || route.access() == Route.Access.READS
                        && route.requiredPermission()
                                .filter(PERMISSIONS_ON_DELETED_TENANTS::contains)
                                .isPresent();
    }

    /** Throws a problem unless the request may pass. */
    static void enforce(Caller caller, Route route) {
        switch (decide(caller, route)) {
            case Verdict.Pass pass -> {}
            case Verdict.NotFound notFound -> throw ProblemException.notFound();
            case Verdict.MissingPermission missing ->
                throw ProblemException.forbidden("this needs the permission "
                        + missing.permission().word()
                        + (caller.roles().isEmpty()
                                ? ", and you have no role: ask an admin of the tenant to add you to a group or to "
                                        + "give you a role such as member or viewer"
                                : ""));
            case Verdict.Suspended suspended ->
                throw ProblemException.of(
                        403, "tenant-suspended", "the tenant is suspended: its users can read, but change nothing");
            case Verdict.NoPermissionDeclared undeclared ->
                throw ProblemException.forbidden("this route states no permission, so no caller may use it");
        }
    }
}
