package io.quartermaster.insight;

import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Simulations of a tenant. */
@Path("/v1/tenants/{tenant}/simulations")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Simulations")
public class SimulationResource {

    static final String ABOUT =
            "Begins with the present state of the cell. Running workloads end at their maximum run time, and no "
                    + "workloads arrive except the simulated ones. "
                    + "A simulation writes nothing. Each replica accepts a few simulations at a time, and fewer per "
                    + "tenant. Above the tenant's limit the service answers 429, "
                    + "above the limit for all 503, both with Retry-After.";

    private final SimulationService simulations;
    private final CurrentCaller currentCaller;

    SimulationResource(SimulationService simulations, CurrentCaller currentCaller) {
        this.simulations = simulations;
        this.currentCaller = currentCaller;
    }

    @POST
    @RequiresPermission(Permission.SIMULATIONS_RUN)
    @Operation(
            operationId = "simulate",
            summary = "Simulates new workloads and changed policies, and lists the effects on the tenant's workloads",
            description = ABOUT)
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = SimulationApi.View.class)))
    public Uni<SimulationApi.View> simulate(@PathParam("tenant") String tenant, SimulationApi.@Nullable Request body) {
        return simulations.simulateForTenant(new TenantId(tenant), currentCaller.current(), body);
    }
}
