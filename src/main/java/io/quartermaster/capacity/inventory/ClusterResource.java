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
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The operator's clusters. */
@Path("/v1/operator/clusters")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Clusters")
public class ClusterResource {

    private final ClusterService clusters;

    ClusterResource(ClusterService clusters) {
        this.clusters = clusters;
    }

    @POST
    @RequiresPermission(Permission.CLUSTERS_WRITE)
    @Operation(
            operationId = "createCluster",
            summary = "Adds a cluster; an identical repeat changes nothing and answers 200")
    @APIResponse(responseCode = "201", content = @Content(schema = @Schema(implementation = ClusterApi.View.class)))
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ClusterApi.View.class)))
    public Uni<Response> create(ClusterApi.@Nullable Request body, @BeanParam WriteParams params, UriInfo uri) {
        return clusters.create(body, params, uri);
    }

    @GET
    @RequiresPermission(Permission.CLUSTERS_READ)
    @Operation(operationId = "listClusters", summary = "Lists clusters by name")
    public Uni<Page<ClusterApi.View>> list(
            @Parameter(
                            description = "Only clusters of this kind.",
                            schema = @Schema(implementation = ClusterKind.class))
                    @QueryParam("kind")
                    @Nullable
                    String kind,
            @QueryParam("region") @Nullable String region,
            @BeanParam PageRequest page) {
        return clusters.list(kind, region, page);
    }

    @GET
    @Path("{cluster}")
    @RequiresPermission(Permission.CLUSTERS_READ)
    @Operation(operationId = "getCluster", summary = "Shows a cluster")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ClusterApi.View.class)))
    public Uni<Response> get(@PathParam("cluster") String cluster) {
        return clusters.get(cluster);
    }

    @PATCH
    @Path("{cluster}")
    @Consumes({MergePatch.MEDIA_TYPE, MediaType.APPLICATION_JSON})
    @RequiresPermission(Permission.CLUSTERS_WRITE)
    @Operation(operationId = "updateCluster", summary = "Changes a cluster by a merge patch (RFC 7396)")
    @RequestBody(
            required = true,
            content = {
                @Content(mediaType = MergePatch.MEDIA_TYPE, schema = @Schema(implementation = ClusterApi.Patch.class)),
                @Content(
                        mediaType = MediaType.APPLICATION_JSON,
                        schema = @Schema(implementation = ClusterApi.Patch.class))
            })
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ClusterApi.View.class)))
    public Uni<Response> update(
            @PathParam("cluster") String cluster, @Nullable String body, @BeanParam WriteParams params, UriInfo uri)
            throws JsonProcessingException {
        return clusters.update(cluster, body, params, uri);
    }

    @DELETE
    @Path("{cluster}")
    @RequiresPermission(Permission.CLUSTERS_WRITE)
    @Operation(operationId = "retireCluster", summary = "Retires a cluster that has no nodes")
    @APIResponse(responseCode = "204", description = "The cluster is retired.")
    public Uni<Response> retire(@PathParam("cluster") String cluster, @BeanParam WriteParams params, UriInfo uri) {
        return clusters.retire(cluster, params, uri);
    }
}
