package io.quartermaster.tenancy;

import io.quartermaster.access.IssuerDirectory;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.inbox.Inbox;
import io.quartermaster.platform.inbox.Wakeups;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import jakarta.enterprise.context.ApplicationScoped;

/** The last step: it makes the tenant active and the tokens of its realm valid. */
@ApplicationScoped
public class IssuerStep implements ProvisioningStep {

    /**
     * Above all other steps, also future ones: a tenant whose quotas or rules could not be created never becomes
     * active.
     */
    private static final int LAST = Integer.MAX_VALUE;

    private final SystemDatabase database;
    private final TenantStore tenants;
    private final IssuerDirectory issuerDirectory;
    private final Wakeups wakeups;

    IssuerStep(SystemDatabase database, TenantStore tenants, IssuerDirectory issuerDirectory, Wakeups wakeups) {
        this.database = database;
        this.tenants = tenants;
        this.issuerDirectory = issuerDirectory;
        this.wakeups = wakeups;
    }

    @Override
    public String name() {
        return "issuer";
    }

    @Override
    public int order() {
        return LAST;
    }

    /** A tenant that was suspended meanwhile stays suspended. */
    @Override
    public Uni<Void> apply(TenantSpec tenant) {
        return database.in(connection -> tenants.move(
                                connection, tenant.id(), TenantState.PROVISIONING, TenantState.ACTIVE)
                        .call(() -> notifyLeader(connection, tenant)))
                .invoke(wakeups::requestLeaderWakeup)
                .chain(issuerDirectory::reload);
    }

    private static Uni<Void> notifyLeader(SqlConnection connection, TenantSpec tenant) {
        return Inbox.post(
                connection, tenant.id(), Inbox.Kind.TENANT, tenant.id().value());
    }

    @Override
    public Uni<Void> undo(TenantSpec tenant) {
        return database.in(connection ->
                        tenants.move(connection, tenant.id(), TenantState.ACTIVE, TenantState.OFFBOARDING))
                .chain(issuerDirectory::reload);
    }
}
