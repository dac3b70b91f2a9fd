package io.quartermaster.insight;

import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Simulations of changed workloads, policies, allotments or nodes of the cell. */
@Path("/v1/operator/simulations")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Simulations")
public class OperatorSimulationResource {

    private final SimulationService simulations;
    private final CurrentCaller currentCaller;

    OperatorSimulationResource(SimulationService simulations, CurrentCaller currentCaller) {
        this.simulations = simulations;
        this.currentCaller = currentCaller;
    }

    @POST
    @RequiresPermission(Permission.SIMULATIONS_RUN)
    @Operation(
            operationId = "simulateCell",
            summary = "Simulates the cell with changed allotments, nodes, policies or workloads, and lists the effects",
            description = SimulationResource.ABOUT)
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = SimulationApi.View.class)))
    public Uni<SimulationApi.View> simulate(SimulationApi.@Nullable CellRequest body) {
        return simulations.simulateForCell(currentCaller.current(), body);
    }
}
