package io.quartermaster.metering.settings;

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
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponseSchema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** What a tenant states about its usage. */
@Path("/v1/tenants/{tenant}/usage-settings")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Usage")
public class UsageSettingsResource {

    private final UsageSettingsService service;
    private final CurrentCaller currentCaller;

    UsageSettingsResource(UsageSettingsService service, CurrentCaller currentCaller) {
        this.service = service;
        this.currentCaller = currentCaller;
    }

    @GET
    @RequiresPermission(Permission.USAGE_READ)
    @Operation(
            operationId = "getUsageSettings",
            summary = "Shows the label keys and the time zone of the tenant's usage")
    @APIResponseSchema(UsageSettings.class)
    public Uni<Response> get(@PathParam("tenant") TenantId tenant) {
        return service.get(tenant);
    }

    @PUT
    @RequiresPermission(Permission.USAGE_SETTINGS_WRITE)
    @Operation(
            operationId = "replaceUsageSettings",
            summary = "Replaces the label keys and the time zone of the tenant's usage",
            description = "A key counts for allocations that begin after its declaration: the values of the workload's "
                    + "labels at that moment stay with the usage, whatever happens to the labels later. "
                    + "Usage before the declaration is reported as `undeclared`. The time zone counts "
                    + "immediately, also for earlier usage.")
    @APIResponseSchema(UsageSettings.class)
    @APIResponse(responseCode = "422", ref = "Refused")
    public Uni<Response> replace(
            @PathParam("tenant") TenantId tenant,
            @BeanParam WriteParams params,
            @Context UriInfo uri,
            UsageSettings.@Nullable Request body) {
        return service.replace(tenant, currentCaller.current(), uri, params, body);
    }
}
