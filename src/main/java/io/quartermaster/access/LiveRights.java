package io.quartermaster.access;

import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Optional;

/**
 * Decides whether a caller that passed the gate may continue a long request, such as a live view. A token states the
 * rights at its time of issue; the status of the tenant may have changed since.
 */
@ApplicationScoped
public class LiveRights {

    private final IssuerDirectory issuerDirectory;

    LiveRights(IssuerDirectory issuerDirectory) {
        this.issuerDirectory = issuerDirectory;
    }

    /** Whether the gate would let this caller read with this permission in this tenant now. */
    public Uni<Boolean> mayRead(Caller caller, TenantId tenant, Permission permission) {
        return issuerDirectory
                .tenantStatus(tenant)
                .map(status -> isAccepted(caller, status)
                        && Gate.decide(
                                        caller,
                                        new Route(
                                                new Route.Area.OfTenant(tenant.value(), status),
                                                Optional.of(permission),
                                                Route.Access.READS))
                                instanceof Gate.Verdict.Pass);
    }

    /** Tokens of a tenant that is being offboarded, or is offboarded, are invalid. */
    private static boolean isAccepted(Caller caller, Optional<IssuerDirectory.TenantStatus> status) {
        return switch (caller.realm()) {
            case Realm.Operator operator -> true;
            case Realm.Tenant tenant ->
                status.filter(now -> now == IssuerDirectory.TenantStatus.ACTIVE
                                || now == IssuerDirectory.TenantStatus.SUSPENDED)
                        .isPresent();
        };
    }
}
