package io.quartermaster.capacity.inventory;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
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

/** The operator's pools, with their present capacity. */
@Path("/v1/operator/pools")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Pools")
public class PoolResource {

    private final PoolService pools;

    PoolResource(PoolService pools) {
        this.pools = pools;
    }

    @POST
    @RequiresPermission(Permission.POOLS_WRITE)
    @Operation(operationId = "createPool", summary = "Adds a pool; an identical repeat changes nothing and answers 200")
    @APIResponse(responseCode = "201", content = @Content(schema = @Schema(implementation = PoolApi.View.class)))
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = PoolApi.View.class)))
    public Uni<Response> create(PoolApi.@Nullable Request body, @BeanParam WriteParams params, UriInfo uri) {
        return pools.create(body, params, uri);
    }

    @GET
    @RequiresPermission(Permission.POOLS_READ)
    @Operation(operationId = "listPools", summary = "Lists pools by name")
    public Uni<Page<PoolApi.View>> list(@BeanParam PageRequest page) {
        return pools.list(page);
    }

    @GET
    @Path("{pool}")
    @RequiresPermission(Permission.POOLS_READ)
    @Operation(operationId = "getPool", summary = "Shows a pool and its present capacity")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = PoolApi.View.class)))
    public Uni<Response> get(@PathParam("pool") String pool) {
        return pools.get(pool);
    }

    @PATCH
    @Path("{pool}")
    @Consumes({MergePatch.MEDIA_TYPE, MediaType.APPLICATION_JSON})
    @RequiresPermission(Permission.POOLS_WRITE)
    @Operation(operationId = "updatePool", summary = "Changes a pool by a merge patch (RFC 7396)")
    @RequestBody(
            required = true,
            content = {
                @Content(mediaType = MergePatch.MEDIA_TYPE, schema = @Schema(implementation = PoolApi.Patch.class)),
                @Content(mediaType = MediaType.APPLICATION_JSON, schema = @Schema(implementation = PoolApi.Patch.class))
            })
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = PoolApi.View.class)))
    public Uni<Response> update(
            @PathParam("pool") String pool, @Nullable String body, @BeanParam WriteParams params, UriInfo uri)
            throws JsonProcessingException {
        return pools.update(pool, body, params, uri);
    }

    @DELETE
    @Path("{pool}")
    @RequiresPermission(Permission.POOLS_WRITE)
    @Operation(operationId = "retirePool", summary = "Retires a pool that has no nodes and no allotments")
    @APIResponse(responseCode = "204", description = "The pool is retired.")
    public Uni<Response> retire(@PathParam("pool") String pool, @BeanParam WriteParams params, UriInfo uri) {
        return pools.retire(pool, params, uri);
    }
}
