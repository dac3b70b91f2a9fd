package io.quartermaster.insight.fleet;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** What runs on which node and GPU, of all tenants. */
@Path("/v1/operator/fleet")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Fleet")
public class FleetResource {

    private final FleetStore store;

    FleetResource(FleetStore store) {
        this.store = store;
    }

    @GET
    @RequiresPermission(Permission.WORKLOADS_READ)
    @Operation(operationId = "listFleet", summary = "Shows what runs on which node and GPU, node by node")
    public Uni<Page<FleetApi.Node>> fleet(
            @Parameter(description = "Only nodes of this pool.") @QueryParam("pool") @Nullable String pool,
            @Parameter(description = "Only nodes of this cluster.") @QueryParam("cluster") @Nullable String cluster,
            @Parameter(description = "Only nodes on which this tenant holds something.") @QueryParam("tenant") @Nullable
                    String tenant,
            @BeanParam PageRequest page) {
        FleetStore.NodeFilter filter = new FleetStore.NodeFilter(pool, cluster, tenant);
        String scope = "fleet:" + filter;
        String after = page.after(scope).orElse("");
        int size = page.size();
        return store.nodes(filter, after, size + 1).map(found -> Page.of(found, size, scope, FleetApi.Node::node));
    }
}
