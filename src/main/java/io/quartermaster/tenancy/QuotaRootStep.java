package io.quartermaster.tenancy;

import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.inbox.Inbox;
import io.quartermaster.platform.inbox.Wakeups;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;

/** Announces the tenant to the leader, which then places it below the root of every quota tree, with no grant yet. */
@ApplicationScoped
public class QuotaRootStep implements ProvisioningStep {

    private final SystemDatabase database;
    private final Wakeups wakeups;

    QuotaRootStep(SystemDatabase database, Wakeups wakeups) {
        this.database = database;
        this.wakeups = wakeups;
    }

    @Override
    public String name() {
        return "quota-root";
    }

    @Override
    public int order() {
        return 400;
    }

    @Override
    public Uni<Void> apply(TenantSpec tenant) {
        return notifyLeader(tenant);
    }

    @Override
    public Uni<Void> undo(TenantSpec tenant) {
        return notifyLeader(tenant);
    }

    private Uni<Void> notifyLeader(TenantSpec tenant) {
        return database.in(connection -> Inbox.post(
                        connection, tenant.id(), Inbox.Kind.TENANT, tenant.id().value()))
                .invoke(wakeups::requestLeaderWakeup);
    }
}
