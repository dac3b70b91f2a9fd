package io.quartermaster.insight.fleet;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** What waits, of all tenants, by reason. */
@Path("/v1/operator/waiting")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Fleet")
public class WaitingWorkResource {

    private final FleetStore store;

    WaitingWorkResource(FleetStore store) {
        this.store = store;
    }

    @GET
    @RequiresPermission(Permission.WORKLOADS_READ)
    @Operation(operationId = "listWaitingWork", summary = "Counts what waits, of all tenants, by reason")
    public Uni<FleetApi.WaitingList> waiting(
            @Parameter(description = "Only workloads of this tenant.") @QueryParam("tenant") @Nullable String tenant,
            @Parameter(description = "Only workloads that may start in this pool.") @QueryParam("pool") @Nullable
                    String pool) {
        return store.waiting(tenant, pool).map(FleetApi.WaitingList::new);
    }
}
