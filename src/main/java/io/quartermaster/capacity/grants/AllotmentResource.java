package io.quartermaster.capacity.grants;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.WriteParams;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The operator's grants to a tenant, pool by pool. */
@Path("/v1/operator/tenants/{tenant}/allotments")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Allotments")
public class AllotmentResource {

    private final AllotmentService allotments;

    AllotmentResource(AllotmentService allotments) {
        this.allotments = allotments;
    }

    @GET
    @RequiresPermission(Permission.ALLOTMENTS_READ)
    @Operation(operationId = "listAllotments", summary = "Lists the allotments of a tenant, by pool")
    public Uni<Page<AllotmentApi.View>> list(@PathParam("tenant") String tenant) {
        return allotments.list(tenantId(tenant)).map(all -> new Page<>(all, null));
    }

    @GET
    @Path("{pool}")
    @RequiresPermission(Permission.ALLOTMENTS_READ)
    @Operation(operationId = "getAllotment", summary = "Shows the allotment of a tenant in a pool")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = AllotmentApi.View.class)))
    public Uni<Response> get(@PathParam("tenant") String tenant, @PathParam("pool") String pool) {
        return allotments.get(tenantId(tenant), pool);
    }

    @PUT
    @Path("{pool}")
    @RequiresPermission(Permission.ALLOTMENTS_WRITE)
    @Operation(
            operationId = "putAllotment",
            summary = "Creates or replaces the allotment of a tenant in a pool",
            description = "A change of an existing allotment needs If-Match; an identical repeat does not. "
                    + "The reservations of all tenants may add up to more than the pool has: the answer "
                    + "then contains a warning.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = AllotmentApi.View.class)))
    @APIResponse(responseCode = "201", content = @Content(schema = @Schema(implementation = AllotmentApi.View.class)))
    @APIResponse(responseCode = "412", ref = "PreconditionFailed")
    @APIResponse(responseCode = "428", ref = "PreconditionRequired")
    public Uni<Response> put(
            @PathParam("tenant") String tenant,
            @PathParam("pool") String pool,
            AllotmentApi.@Nullable Request body,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return allotments.put(tenantId(tenant), pool, body, params, uri);
    }

    @PATCH
    @Path("{pool}")
    @Consumes({MergePatch.MEDIA_TYPE, MediaType.APPLICATION_JSON})
    @RequiresPermission(Permission.ALLOTMENTS_WRITE)
    @Operation(
            operationId = "patchAllotment",
            summary = "Changes some fields of an allotment, by a merge patch (RFC 7396)",
            description = "An absent field stays unchanged, null returns a field to its default, lists are "
                    + "replaced. A patch that changes nothing leaves the version as it is.")
    @RequestBody(
            required = true,
            content = {
                @Content(
                        mediaType = MergePatch.MEDIA_TYPE,
                        schema = @Schema(implementation = AllotmentApi.Request.class)),
                @Content(
                        mediaType = MediaType.APPLICATION_JSON,
                        schema = @Schema(implementation = AllotmentApi.Request.class))
            })
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = AllotmentApi.View.class)))
    public Uni<Response> patch(
            @PathParam("tenant") String tenant,
            @PathParam("pool") String pool,
            @Nullable String body,
            @BeanParam WriteParams params,
            UriInfo uri)
            throws JsonProcessingException {
        return allotments.patch(tenantId(tenant), pool, body, params, uri);
    }

    @DELETE
    @Path("{pool}")
    @RequiresPermission(Permission.ALLOTMENTS_WRITE)
    @Operation(
            operationId = "deleteAllotment",
            summary = "Deletes the allotment of a tenant in a pool and ends its capacity reservations "
                    + "there; running work continues as over-quota")
    @APIResponse(responseCode = "204", description = "The allotment is deleted.")
    @APIResponse(responseCode = "412", ref = "PreconditionFailed")
    public Uni<Response> delete(
            @PathParam("tenant") String tenant,
            @PathParam("pool") String pool,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return allotments.delete(tenantId(tenant), pool, params, uri);
    }

    private static TenantId tenantId(String text) {
        if (!TenantId.isValid(text)) {
            throw ProblemException.notFound();
        }
        return new TenantId(text);
    }
}
