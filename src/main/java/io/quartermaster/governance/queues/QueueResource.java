package io.quartermaster.governance.queues;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.governance.ChangeImpact;
import io.quartermaster.governance.rules.WaitingWorkPolicy;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.writes.WriteParams;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.PUT;
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
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The queues to which a tenant's members submit. */
@Path("/v1/tenants/{tenant}/queues")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Queues")
public class QueueResource {

    private final QueueService queues;
    private final CurrentCaller currentCaller;

    QueueResource(QueueService queues, CurrentCaller currentCaller) {
        this.queues = queues;
        this.currentCaller = currentCaller;
    }

    @POST
    @RequiresPermission(Permission.QUEUES_WRITE)
    @Operation(
            operationId = "createQueue",
            summary = "Adds a profile to a policy, under a queue name of its own; an identical repeat changes nothing "
                    + "and answers 200")
    @APIResponse(responseCode = "201", content = @Content(schema = @Schema(implementation = QueueApi.View.class)))
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = QueueApi.View.class)))
    public Uni<Response> create(
            @PathParam("tenant") String tenant,
            QueueApi.@Nullable Request body,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return queues.create(new TenantId(tenant), body, params, uri);
    }

    @GET
    @RequiresPermission(Permission.QUEUES_READ)
    @Operation(operationId = "listQueues", summary = "Lists queues by name")
    public Uni<Page<QueueApi.View>> list(
            @PathParam("tenant") String tenant,
            @QueryParam("policy") @Nullable String policy,
            @QueryParam("profile") @Nullable String profile,
            @Parameter(
                            description = "`true`: only queues to which you may submit.",
                            schema = @Schema(type = SchemaType.BOOLEAN, defaultValue = "false"))
                    @QueryParam("mine")
                    @Nullable
                    String mine,
            @BeanParam PageRequest page) {
        return queues.list(
                new TenantId(tenant), currentCaller.current(), QueueService.Filter.parse(policy, profile, mine), page);
    }

    @GET
    @Path("{queue}")
    @RequiresPermission(Permission.QUEUES_READ)
    @Operation(operationId = "getQueue", summary = "Shows a queue")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = QueueApi.View.class)))
    public Uni<Response> get(@PathParam("tenant") String tenant, @PathParam("queue") String queue) {
        return queues.get(new TenantId(tenant), currentCaller.current(), queue);
    }

    @PATCH
    @Path("{queue}")
    @Consumes({MergePatch.MEDIA_TYPE, MediaType.APPLICATION_JSON})
    @RequiresPermission(Permission.QUEUES_WRITE)
    @Operation(operationId = "updateQueue", summary = "Changes a queue by a merge patch (RFC 7396)")
    @RequestBody(
            required = true,
            content = {
                @Content(mediaType = MergePatch.MEDIA_TYPE, schema = @Schema(implementation = QueueApi.Patch.class)),
                @Content(
                        mediaType = MediaType.APPLICATION_JSON,
                        schema = @Schema(implementation = QueueApi.Patch.class))
            })
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = QueueApi.View.class)))
    public Uni<Response> update(
            @PathParam("tenant") String tenant,
            @PathParam("queue") String queue,
            @Nullable String body,
            @BeanParam WriteParams params,
            UriInfo uri)
            throws JsonProcessingException {
        return queues.update(new TenantId(tenant), queue, body, params, uri);
    }

    @PUT
    @Path("{queue}/order")
    @RequiresPermission(Permission.QUEUES_WRITE)
    @Operation(
            operationId = "orderQueue",
            summary = "Sets the order of the waiting workloads of a queue; an identical repeat changes nothing",
            description =
                    "Within its priority a workload with a place goes before workloads of its group without one, and "
                            + "behind preempted ones. A workload that starts loses its place.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = QueueApi.Ordering.class)))
    @APIResponse(responseCode = "412", ref = "PreconditionFailed")
    public Uni<Response> order(
            @PathParam("tenant") String tenant,
            @PathParam("queue") String queue,
            QueueApi.@Nullable Ordering body,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return queues.order(new TenantId(tenant), queue, body, params, uri);
    }

    @DELETE
    @Path("{queue}")
    @RequiresPermission(Permission.QUEUES_WRITE)
    @Operation(
            operationId = "retireQueue",
            summary = "Retires a queue; running work continues as over-quota",
            description = "While work waits in the queue, the call must say what to do with it, or is refused (409).")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ChangeImpact.class)))
    @APIResponse(responseCode = "412", ref = "PreconditionFailed")
    public Uni<Response> retire(
            @PathParam("tenant") String tenant,
            @PathParam("queue") String queue,
            @Parameter(
                            description = WaitingWorkPolicy.DESCRIPTION,
                            schema =
                                    @Schema(
                                            type = SchemaType.STRING,
                                            enumeration = {"cancel", "move"}))
                    @QueryParam("onWaiting")
                    @Nullable
                    String onWaiting,
            @Parameter(description = WaitingWorkPolicy.MOVE_TO) @QueryParam("moveTo") @Nullable String moveTo,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return queues.retire(new TenantId(tenant), queue, params, uri, WaitingWorkPolicy.parse(onWaiting, moveTo));
    }
}
