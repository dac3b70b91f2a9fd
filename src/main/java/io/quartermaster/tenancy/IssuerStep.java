package io.quartermaster.tenancy;

import io.quartermaster.access.Issuers;
import io.quartermaster.platform.SystemDatabase;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;

/** From here on the tokens of the tenant's realm count. */
@ApplicationScoped
public class IssuerStep implements ProvisioningStep {

    private final SystemDatabase database;
    private final TenantStore tenants;
    private final Issuers issuers;

    IssuerStep(SystemDatabase database, TenantStore tenants, Issuers issuers) {
        this.database = database;
        this.tenants = tenants;
        this.issuers = issuers;
    }

    @Override
    public String name() {
        return "issuer";
    }

    @Override
    public int order() {
        return 300;
    }

    /** A tenant that somebody suspended meanwhile stays so. */
    @Override
    public Uni<Void> apply(TenantSpec tenant) {
        return database.in(connection ->
                        tenants.move(connection, tenant.id(), TenantState.PROVISIONING, TenantState.ACTIVE))
                .chain(issuers::reload);
    }

    @Override
    public Uni<Void> undo(TenantSpec tenant) {
        return database.in(connection ->
                        tenants.move(connection, tenant.id(), TenantState.ACTIVE, TenantState.OFFBOARDING))
                .chain(issuers::reload);
    }
}
