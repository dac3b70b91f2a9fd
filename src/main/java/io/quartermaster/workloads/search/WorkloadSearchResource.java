package io.quartermaster.workloads.search;

import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.workloads.WorkloadApi;
import io.quartermaster.workloads.WorkloadResource;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The workloads of a tenant that match a filter. */
@Path("/v1/tenants/{tenant}/workloads")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Workloads")
public class WorkloadSearchResource {

    private final WorkloadSearch search;
    private final BulkCancellation cancellation;
    private final CurrentCaller currentCaller;

    WorkloadSearchResource(WorkloadSearch search, BulkCancellation cancellation, CurrentCaller currentCaller) {
        this.search = search;
        this.cancellation = cancellation;
        this.currentCaller = currentCaller;
    }

    @GET
    @RequiresPermission(Permission.WORKLOADS_READ)
    @Operation(operationId = "listWorkloads", summary = "Lists workloads")
    public Uni<Page<WorkloadApi.View>> list(
            @PathParam("tenant") String tenant,
            @BeanParam WorkloadFilterParams filter,
            @Parameter(
                            description =
                                    "The key of the order. The list by `started` has only work that has started; by "
                                            + "`ended`, only work that has ended; by `priority`, only work that has "
                                            + "not ended.",
                            schema =
                                    @Schema(
                                            type = SchemaType.STRING,
                                            enumeration = {"submitted", "started", "ended", "priority"},
                                            defaultValue = "submitted"))
                    @QueryParam("sort")
                    @Nullable
                    String sort,
            @Parameter(
                            description = "`desc`: the latest or highest first; `asc`: the other way round.",
                            schema =
                                    @Schema(
                                            type = SchemaType.STRING,
                                            enumeration = {"asc", "desc"},
                                            defaultValue = "desc"))
                    @QueryParam("order")
                    @Nullable
                    String order,
            @BeanParam PageRequest page) {
        return search.list(new TenantId(tenant), filter.filter(), WorkloadSort.of(sort, order), page);
    }

    @GET
    @Path("count")
    @RequiresPermission(Permission.WORKLOADS_READ)
    @Operation(operationId = "countWorkloads", summary = "Counts workloads, in all and by state")
    public Uni<WorkloadCount> count(@PathParam("tenant") String tenant, @BeanParam WorkloadFilterParams filter) {
        return search.count(new TenantId(tenant), filter.filter());
    }

    @POST
    @Path("cancel")
    @RequiresPermission(Permission.WORKLOADS_CANCEL)
    @Operation(
            operationId = "cancelWorkloads",
            summary = "Cancels all workloads that match a filter, up to 1,000 per call",
            description = "Needs at least one filter. It leaves out workloads that have ended or are being cancelled, "
                    + "and those that the caller may not manage. The oldest are cancelled first. While `remaining` "
                    + "is above 0, repeat the call, with another `Idempotency-Key`.")
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = BulkCancellation.Outcome.class)))
    public Uni<Response> cancel(
            @PathParam("tenant") String tenant,
            @BeanParam WorkloadFilterParams filter,
            @Parameter(
                            description = "The longest time that a running workload gets to stop, if that is shorter "
                                    + "than the grace period of its policy. With PT0S it is killed immediately.",
                            schema = @Schema(type = SchemaType.STRING, format = "duration", examples = "PT5S"))
                    @QueryParam("grace")
                    @Nullable
                    String grace,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return cancellation.cancel(
                new TenantId(tenant), currentCaller.current(), filter, WorkloadResource.parseGrace(grace), params, uri);
    }
}
