package io.quartermaster.tenancy.origins;

import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.writes.WriteParams;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponseSchema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The origins whose pages may call the API for a tenant. */
@Path("/v1/tenants/{tenant}/allowed-origins")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Tenants")
public class AllowedOriginsResource {

    private final AllowedOriginsService service;
    private final CurrentCaller currentCaller;

    AllowedOriginsResource(AllowedOriginsService service, CurrentCaller currentCaller) {
        this.service = service;
        this.currentCaller = currentCaller;
    }

    @GET
    @RequiresPermission(Permission.TENANTS_READ)
    @Operation(
            operationId = "getAllowedOrigins",
            summary = "Shows the origins whose pages may call the API for the tenant")
    @APIResponseSchema(AllowedOrigins.class)
    public Uni<Response> get(@PathParam("tenant") TenantId tenant) {
        return service.get(tenant);
    }

    @PUT
    @RequiresPermission(Permission.ORIGINS_WRITE)
    @Operation(
            operationId = "replaceAllowedOrigins",
            summary = "Replaces the origins whose pages may call the API for the tenant",
            description =
                    "A browser lets a page of an allowed origin send requests to the paths of the tenant and read "
                            + "the answers (CORS). Such a page sends a token like every other caller: no cookies are "
                            + "read. Other replicas follow within seconds.")
    @APIResponseSchema(AllowedOrigins.class)
    public Uni<Response> replace(
            @PathParam("tenant") TenantId tenant,
            @BeanParam WriteParams params,
            @Context UriInfo uri,
            AllowedOrigins.@Nullable Request body) {
        return service.replace(tenant, currentCaller.current(), uri, params, body);
    }
}
