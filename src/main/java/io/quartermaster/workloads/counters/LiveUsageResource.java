package io.quartermaster.workloads.counters;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** The current usage of a tenant. */
@Path("/v1/tenants/{tenant}/usage/live")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Usage")
public class LiveUsageResource {

    private final LiveUsage usage;

    LiveUsageResource(LiveUsage usage) {
        this.usage = usage;
    }

    @GET
    @RequiresPermission(Permission.USAGE_READ)
    @Operation(operationId = "showLiveUsage", summary = "Shows waiting and used GPUs now, by pool and policy")
    public Uni<LiveUsageApi.Live> live(@PathParam("tenant") String tenant) {
        return usage.currentUsage(new TenantId(tenant));
    }
}
