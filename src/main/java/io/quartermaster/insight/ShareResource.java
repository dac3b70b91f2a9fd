package io.quartermaster.insight;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Explanations of fair shares. */
@Path("/v1/tenants/{tenant}/share")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Usage")
public class ShareResource {

    private final ShareService shares;

    ShareResource(ShareService shares) {
        this.shares = shares;
    }

    @GET
    @RequiresPermission(Permission.POLICIES_READ)
    @Operation(
            operationId = "explainShare",
            summary = "Explains the fair share of a group",
            description = "Shows each division from the tenant down to the group, with the numbers that decide it. It "
                    + "shows nothing of other tenants.")
    public Uni<ShareApi.View> explain(
            @PathParam("tenant") String tenant,
            @Parameter(description = "Path of the group; absent: the tenant itself.", example = "/research/nlp")
                    @QueryParam("group")
                    @Nullable
                    String group,
            @Parameter(description = "Only this pool; absent: all pools.") @QueryParam("pool") @Nullable String pool) {
        return shares.explain(new TenantId(tenant), group, pool);
    }
}
