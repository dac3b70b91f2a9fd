package io.quartermaster.insight.fleet;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.workloads.search.WorkloadFilterParams;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.util.Optional;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.Explode;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The workloads of all tenants. */
@Path("/v1/operator/workloads")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Fleet")
public class FleetWorkloadResource {

    private final FleetStore store;

    FleetWorkloadResource(FleetStore store) {
        this.store = store;
    }

    @GET
    @RequiresPermission(Permission.WORKLOADS_READ)
    @Operation(operationId = "listFleetWorkloads", summary = "Lists workloads of all tenants, newest first")
    public Uni<Page<FleetApi.Workload>> workloads(
            @Parameter(description = "Only workloads of this tenant.") @QueryParam("tenant") @Nullable String tenant,
            @Parameter(
                            description = "One or more states, separated by commas. Absent: all.",
                            explode = Explode.FALSE,
                            schema = @Schema(ref = "WorkloadStates"))
                    @QueryParam("state")
                    @Nullable
                    String state,
            @Parameter(
                            description = "Only workloads that wait for one of these reasons, separated by commas.",
                            explode = Explode.FALSE,
                            schema = @Schema(ref = "WaitReasonCodes"))
                    @QueryParam("reason")
                    @Nullable
                    String reason,
            @Parameter(
                            description =
                                    "Only workloads that may start in this pool, and those whose newest attempt is or was in it.")
                    @QueryParam("pool")
                    @Nullable
                    String pool,
            @BeanParam PageRequest page) {
        WorkloadFilterParams.Words words = WorkloadFilterParams.words(state, reason);
        FleetStore.WorkloadFilter filter = new FleetStore.WorkloadFilter(tenant, words.states(), words.reasons(), pool);
        String scope = "fleet-workloads:" + filter;
        Optional<UUID> after = page.afterId(scope);
        int size = page.size();
        return store.workloads(filter, after, size + 1)
                .map(found ->
                        Page.of(found, size, scope, workload -> workload.id().toString()));
    }
}
