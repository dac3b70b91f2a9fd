package io.quartermaster.loadtest;

import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.Response;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.eclipse.microprofile.openapi.annotations.Operation;

/**
 * The baseline that load runs compare submissions with: an authenticated insert of one row in a transaction with
 * row-level security, and nothing else. It does not exist unless {@code quartermaster.load.ceiling} is set, and is no
 * part of the contract.
 */
@Path("/v1/tenants/{tenant}/load-ceiling")
public class LoadCeilingResource {

    private final TenantTransactions transactions;
    private final CurrentCaller currentCaller;
    private final boolean enabled;

    LoadCeilingResource(
            TenantTransactions transactions,
            CurrentCaller currentCaller,
            @ConfigProperty(name = "quartermaster.load.ceiling", defaultValue = "false") boolean enabled) {
        this.transactions = transactions;
        this.currentCaller = currentCaller;
        this.enabled = enabled;
    }

    @POST
    @RequiresPermission(Permission.WORKLOADS_SUBMIT)
    @Operation(hidden = true)
    public Uni<Response> insertOneRow(@PathParam("tenant") String tenant) {
        if (!enabled) {
            throw ProblemException.notFound();
        }
        TenantId id = new TenantId(tenant);
        String caller = currentCaller.current().subject();
        return transactions
                .in(id, session -> session.createNativeQuery(
                                "insert into idempotency (tenant_id, caller, key, fingerprint) values (:tenant, "
                                        + ":caller, :key, '')")
                        .setParameter("tenant", id.value())
                        .setParameter("caller", caller)
                        .setParameter("key", "load-" + Ids.next())
                        .executeUpdate())
                .map(rows -> Response.status(201).build());
    }
}
