package io.quartermaster.capacity.inventory;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.access.keycloak.NodeCredential;
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
import jakarta.ws.rs.QueryParam;
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

/** The operator's nodes, with the GPUs and the state that their agents report. */
@Path("/v1/operator/nodes")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Nodes")
public class NodeResource {

    private final NodeService nodes;

    NodeResource(NodeService nodes) {
        this.nodes = nodes;
    }

    @POST
    @RequiresPermission(Permission.NODES_WRITE)
    @Operation(operationId = "createNode", summary = "Adds a node; an identical repeat changes nothing and answers 200")
    @APIResponse(responseCode = "201", content = @Content(schema = @Schema(implementation = NodeApi.View.class)))
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = NodeApi.View.class)))
    public Uni<Response> create(NodeApi.@Nullable Request body, @BeanParam WriteParams params, UriInfo uri) {
        return nodes.create(body, params, uri);
    }

    @GET
    @RequiresPermission(Permission.NODES_READ)
    @Operation(operationId = "listNodes", summary = "Lists nodes by name")
    public Uni<Page<NodeApi.View>> list(
            @QueryParam("cluster") @Nullable String cluster,
            @QueryParam("pool") @Nullable String pool,
            @QueryParam("schedulable") @Nullable Boolean schedulable,
            @BeanParam PageRequest page) {
        return nodes.list(new NodeStore.Filter(cluster, pool, schedulable), page);
    }

    @GET
    @Path("{node}")
    @RequiresPermission(Permission.NODES_READ)
    @Operation(operationId = "getNode", summary = "Shows a node, its GPUs and its agent")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = NodeApi.View.class)))
    public Uni<Response> get(@PathParam("node") String node) {
        return nodes.get(node);
    }

    @PATCH
    @Path("{node}")
    @Consumes({MergePatch.MEDIA_TYPE, MediaType.APPLICATION_JSON})
    @RequiresPermission(Permission.NODES_WRITE)
    @Operation(
            operationId = "updateNode",
            summary = "Changes a node by a merge patch (RFC 7396): its pool, its labels, whether new work may "
                    + "start on it")
    @RequestBody(
            required = true,
            content = {
                @Content(mediaType = MergePatch.MEDIA_TYPE, schema = @Schema(implementation = NodeApi.Patch.class)),
                @Content(mediaType = MediaType.APPLICATION_JSON, schema = @Schema(implementation = NodeApi.Patch.class))
            })
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = NodeApi.View.class)))
    public Uni<Response> update(
            @PathParam("node") String node, @Nullable String body, @BeanParam WriteParams params, UriInfo uri)
            throws JsonProcessingException {
        return nodes.update(node, body, params, uri);
    }

    @DELETE
    @Path("{node}")
    @RequiresPermission(Permission.NODES_WRITE)
    @Operation(operationId = "retireNode", summary = "Retires a node on which no work runs")
    @APIResponse(responseCode = "204", description = "The node is retired.")
    public Uni<Response> retire(@PathParam("node") String node, @BeanParam WriteParams params, UriInfo uri) {
        return nodes.retire(node, params, uri);
    }

    @POST
    @Path("{node}/credential")
    @RequiresPermission(Permission.NODES_CREDENTIAL)
    @Operation(
            operationId = "issueNodeCredential",
            summary = "Issues the credential of the node's agent",
            description = "The answer shows the secret only once. A further call replaces it; an "
                    + "Idempotency-Key does not return it again.")
    @APIResponse(responseCode = "201", content = @Content(schema = @Schema(implementation = NodeCredential.class)))
    @APIResponse(responseCode = "502", ref = "IdentityRefused")
    public Uni<Response> credential(@PathParam("node") String node, @BeanParam WriteParams params) {
        return nodes.issueCredential(node, params);
    }
}
