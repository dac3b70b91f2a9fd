package io.quartermaster.governance.queues;

import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.WriteParams;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/**
 * The access rules of a queue. A queue begins with one rule, for the group of its policy; a queue without rules admits
 * no caller.
 */
@Path("/v1/tenants/{tenant}/queues/{queue}/access-rules")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Queues")
public class AccessRuleResource {

    private final QueueService queues;
    private final CurrentCaller currentCaller;

    AccessRuleResource(QueueService queues, CurrentCaller currentCaller) {
        this.queues = queues;
        this.currentCaller = currentCaller;
    }

    @GET
    @RequiresPermission(Permission.ACCESS_RULES_READ)
    @Operation(operationId = "listAccessRules", summary = "Lists the access rules of a queue")
    public Uni<Page<QueueApi.RuleView>> list(@PathParam("tenant") String tenant, @PathParam("queue") String queue) {
        return queues.rules(new TenantId(tenant), queue, currentCaller.current());
    }

    @GET
    @Path("{rule}")
    @RequiresPermission(Permission.ACCESS_RULES_READ)
    @Operation(operationId = "getAccessRule", summary = "Shows an access rule")
    public Uni<QueueApi.RuleView> get(
            @PathParam("tenant") String tenant, @PathParam("queue") String queue, @PathParam("rule") String rule) {
        return queues.rule(new TenantId(tenant), queue, id(rule), currentCaller.current());
    }

    @POST
    @RequiresPermission(Permission.ACCESS_RULES_WRITE)
    @Operation(
            operationId = "createAccessRule",
            summary = "Admits a group, a user or a service account to a queue; an identical repeat answers 200")
    @APIResponse(responseCode = "201", content = @Content(schema = @Schema(implementation = QueueApi.RuleView.class)))
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = QueueApi.RuleView.class)))
    public Uni<Response> create(
            @PathParam("tenant") String tenant,
            @PathParam("queue") String queue,
            QueueApi.@Nullable RuleRequest body,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return queues.addRule(new TenantId(tenant), queue, body, params, uri);
    }

    @DELETE
    @Path("{rule}")
    @RequiresPermission(Permission.ACCESS_RULES_WRITE)
    @Operation(operationId = "deleteAccessRule", summary = "Deletes an access rule; work submitted under it continues")
    @APIResponse(responseCode = "204", description = "The access rule is deleted.")
    public Uni<Response> delete(
            @PathParam("tenant") String tenant,
            @PathParam("queue") String queue,
            @PathParam("rule") String rule,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return queues.removeRule(new TenantId(tenant), queue, id(rule), params, uri);
    }

    private static UUID id(String text) {
        try {
            return UUID.fromString(text);
        } catch (IllegalArgumentException e) {
            throw ProblemException.notFound();
        }
    }
}
