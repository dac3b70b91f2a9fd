package io.quartermaster.tenancy;

import io.quarkus.arc.All;
import io.quartermaster.access.IssuerDirectory;
import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.operations.Operation;
import io.quartermaster.platform.operations.OperationHandler;
import io.quartermaster.platform.operations.OperationStore;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Offboards a tenant: undoes its {@link ProvisioningStep}s, from high to low, once none of its attempts holds a device.
 * Its row, its usage and its audit entries stay, so its id is never used again.
 */
@ApplicationScoped
class OffboardTenant implements OperationHandler {

    static final String KIND = "offboard-tenant";
    private static final String UNTOUCHED = "provisioning-over";
    private static final String IDLE = "nothing-held";
    private static final String CLOSE = "closed";

    private final Map<String, ProvisioningStep> steps = new LinkedHashMap<>();
    private final List<String> names = new ArrayList<>();
    private final ProvisionTenant provisioning;
    private final OperationStore operations;
    private final SystemDatabase database;
    private final TenantStore tenants;
    private final IssuerDirectory issuerDirectory;

    OffboardTenant(
            @All List<ProvisioningStep> steps,
            ProvisionTenant provisioning,
            OperationStore operations,
            SystemDatabase database,
            TenantStore tenants,
            IssuerDirectory issuerDirectory) {
        this.provisioning = provisioning;
        this.operations = operations;
        this.database = database;
        this.tenants = tenants;
        this.issuerDirectory = issuerDirectory;
        steps.stream()
                .sorted(Comparator.comparingInt(ProvisioningStep::order)
                        .thenComparing(ProvisioningStep::name)
                        .reversed())
                .forEach(step -> this.steps.put(step.name(), step));
        names.add(UNTOUCHED);
        names.add(IDLE);
        names.addAll(this.steps.keySet());
        names.add(CLOSE);
    }

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public List<String> steps() {
        return List.copyOf(names);
    }

    @Override
    public Uni<Void> run(String step, OperationStore.Claim claim) {
        TenantSpec tenant = provisioning.spec(claim);
        if (step.equals(UNTOUCHED)) {
            return database.on(connection -> requireProvisioningEnded(connection, tenant));
        }
        if (step.equals(IDLE)) {
            return database.on(connection -> requireNothingHeld(connection, tenant));
        }
        if (step.equals(CLOSE)) {
            return database.on(connection ->
                            tenants.move(connection, tenant.id(), TenantState.OFFBOARDING, TenantState.DELETED))
                    .chain(issuerDirectory::reload);
        }
        ProvisioningStep known = steps.get(step);
        if (known == null) {
            throw new IllegalArgumentException("no step " + step);
        }
        return known.undo(tenant);
    }

    /** A running step of the cancelled provisioning must end before it is undone. */
    private Uni<Void> requireProvisioningEnded(SqlConnection connection, TenantSpec tenant) {
        return operations
                .isOwned(connection, tenant.id(), ProvisionTenant.KIND)
                .invoke(owned -> {
                    if (owned) {
                        throw new IllegalStateException("a step of the tenant's provisioning is still running");
                    }
                })
                .replaceWithVoid();
    }

    /** A plan from before the suspension may still have bound an attempt. */
    private static Uni<Void> requireNothingHeld(SqlConnection connection, TenantSpec tenant) {
        return countHeld(connection, tenant)
                .invoke(held -> {
                    if (held > 0) {
                        throw new IllegalStateException(GpuFormat.count(held, "attempt") + " of the tenant still "
                                + (held == 1 ? "holds" : "hold") + " devices");
                    }
                })
                .replaceWithVoid();
    }

    static Uni<Long> countHeld(SqlConnection connection, TenantSpec tenant) {
        return connection
                .preparedQuery("select count(*) as held from attempt where tenant_id = $1 and state <> 'ended'")
                .execute(Tuple.of(tenant.id().value()))
                .map(rows -> rows.iterator().next().getLong("held"));
    }

    /** The tenant stays in the state "offboarding"; a repeated request continues the operation. */
    @Override
    public Uni<Void> onGivenUp(SqlConnection connection, Operation operation) {
        return Uni.createFrom().voidItem();
    }
}
