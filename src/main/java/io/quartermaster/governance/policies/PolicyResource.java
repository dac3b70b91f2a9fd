package io.quartermaster.governance.policies;

import com.fasterxml.jackson.core.JsonProcessingException;
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

/** The grants of a tenant's admins to groups. */
@Path("/v1/tenants/{tenant}/policies")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Policies")
public class PolicyResource {

    private final PolicyService policies;

    PolicyResource(PolicyService policies) {
        this.policies = policies;
    }

    @POST
    @RequiresPermission(Permission.POLICIES_WRITE)
    @Operation(
            operationId = "createPolicy",
            summary = "Grants a group quotas and profiles, and creates its queues; an identical repeat "
                    + "changes nothing and answers 200")
    @APIResponse(responseCode = "201", content = @Content(schema = @Schema(implementation = PolicyApi.View.class)))
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = PolicyApi.View.class)))
    public Uni<Response> create(
            @PathParam("tenant") String tenant,
            PolicyApi.@Nullable Request body,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return policies.create(new TenantId(tenant), body, params, uri);
    }

    @GET
    @RequiresPermission(Permission.POLICIES_READ)
    @Operation(operationId = "listPolicies", summary = "Lists policies by name")
    public Uni<Page<PolicyApi.View>> list(
            @PathParam("tenant") String tenant,
            @QueryParam("group") @Nullable String group,
            @QueryParam("profile") @Nullable String profile,
            @BeanParam PageRequest page) {
        return policies.list(new TenantId(tenant), new PolicyService.Filter(group, profile), page);
    }

    @GET
    @Path("{policy}")
    @RequiresPermission(Permission.POLICIES_READ)
    @Operation(operationId = "getPolicy", summary = "Shows a policy")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = PolicyApi.View.class)))
    public Uni<Response> get(@PathParam("tenant") String tenant, @PathParam("policy") String policy) {
        return policies.get(new TenantId(tenant), policy);
    }

    @PUT
    @Path("{policy}")
    @RequiresPermission(Permission.POLICIES_WRITE)
    @Operation(
            operationId = "updatePolicy",
            summary = "Replaces a policy; creates queues for added profiles, and retires the queues of removed ones",
            description =
                    "A cut of the reservation or the limit stops no work: excess work continues as over-quota. The "
                            + "answer contains the number of such workloads.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = PolicyApi.View.class)))
    public Uni<Response> update(
            @PathParam("tenant") String tenant,
            @PathParam("policy") String policy,
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
            PolicyApi.@Nullable Request body,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return policies.update(
                new TenantId(tenant), policy, body, params, uri, WaitingWorkPolicy.parse(onWaiting, moveTo));
    }

    @PATCH
    @Path("{policy}")
    @Consumes({MergePatch.MEDIA_TYPE, MediaType.APPLICATION_JSON})
    @RequiresPermission(Permission.POLICIES_WRITE)
    @Operation(
            operationId = "patchPolicy",
            summary = "Changes some fields of a policy, by a merge patch (RFC 7396)",
            description = "An absent field stays unchanged, null returns a field to its default, lists are "
                    + "replaced; quotas are an object by name of the pool. A patch that changes nothing "
                    + "leaves the version as it is.")
    @RequestBody(
            required = true,
            content = {
                @Content(mediaType = MergePatch.MEDIA_TYPE, schema = @Schema(implementation = PolicyApi.Patch.class)),
                @Content(
                        mediaType = MediaType.APPLICATION_JSON,
                        schema = @Schema(implementation = PolicyApi.Patch.class))
            })
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = PolicyApi.View.class)))
    public Uni<Response> patch(
            @PathParam("tenant") String tenant,
            @PathParam("policy") String policy,
            @Parameter(description = WaitingWorkPolicy.DESCRIPTION) @QueryParam("onWaiting") @Nullable String onWaiting,
            @Parameter(description = WaitingWorkPolicy.MOVE_TO) @QueryParam("moveTo") @Nullable String moveTo,
            @Nullable String body,
            @BeanParam WriteParams params,
            UriInfo uri)
            throws JsonProcessingException {
        return policies.patch(
                new TenantId(tenant), policy, body, params, uri, WaitingWorkPolicy.parse(onWaiting, moveTo));
    }

    @DELETE
    @Path("{policy}")
    @RequiresPermission(Permission.POLICIES_WRITE)
    @Operation(
            operationId = "retirePolicy",
            summary = "Retires a policy and its queues; running work continues as over-quota",
            description =
                    "While work waits in a queue that the call retires, the call must say what to do with it, or is "
                            + "refused (409).")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ChangeImpact.class)))
    @APIResponse(responseCode = "412", ref = "PreconditionFailed")
    public Uni<Response> retire(
            @PathParam("tenant") String tenant,
            @PathParam("policy") String policy,
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
        return policies.retire(new TenantId(tenant), policy, params, uri, WaitingWorkPolicy.parse(onWaiting, moveTo));
    }
}
