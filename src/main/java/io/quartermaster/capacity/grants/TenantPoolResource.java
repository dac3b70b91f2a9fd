package io.quartermaster.capacity.grants;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.capacity.inventory.PoolApi;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Page;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** The pools in which a tenant has an allotment, with its own figures only. */
@Path("/v1/tenants/{tenant}/pools")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Pools")
public class TenantPoolResource {

    private final AllotmentService allotments;

    TenantPoolResource(AllotmentService allotments) {
        this.allotments = allotments;
    }

    @GET
    @RequiresPermission(Permission.POOLS_READ)
    @Operation(operationId = "listTenantPools", summary = "Lists the pools in which the tenant has an allotment")
    public Uni<Page<PoolApi.TenantView>> list(@PathParam("tenant") String tenant) {
        return allotments.poolsOf(new TenantId(tenant)).map(all -> new Page<>(all, null));
    }
}
