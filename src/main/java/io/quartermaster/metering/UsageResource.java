package io.quartermaster.metering;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** The usage of a tenant. */
@Path("/v1/tenants/{tenant}/usage")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Usage")
public class UsageResource {

    private final UsageService usage;
    private final UsageExport exports;

    UsageResource(UsageService usage, UsageExport exports) {
        this.usage = usage;
        this.exports = exports;
    }

    @GET
    @RequiresPermission(Permission.USAGE_READ)
    @Operation(
            operationId = "getUsage",
            summary = "Sums the tenant's usage over a window",
            description = "Closed hours are final; open usage is counted up to asOf. Amounts are exact integers, "
                    + "and also shown as GPU-hours.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = UsageApi.View.class)))
    @APIResponse(responseCode = "422", ref = "Refused")
    public Uni<UsageApi.View> get(@PathParam("tenant") String tenant, @BeanParam UsageRequest request) {
        return usage.reportForTenant(tenantId(tenant), request);
    }

    @GET
    @Path("export")
    @Produces({"text/csv", "application/jsonl"})
    @RequiresPermission(Permission.USAGE_READ)
    @Operation(
            operationId = "exportUsage",
            summary = "Exports the tenant's usage, record by record",
            description = "Ids are stable, so a reader can recognize a record that it received twice. The "
                    + "columns are those of billing/usage-export.yaml.")
    @APIResponse(
            responseCode = "200",
            content = {
                @Content(mediaType = "text/csv", schema = @Schema(implementation = String.class)),
                @Content(mediaType = "application/jsonl", schema = @Schema(implementation = String.class))
            })
    @APIResponse(responseCode = "409", ref = "Conflict")
    public Uni<Void> export(
            @PathParam("tenant") String tenant, @BeanParam ExportRequest request, @Context RoutingContext http) {
        return exports.sendTenant(tenantId(tenant), request, http);
    }

    static TenantId tenantId(String text) {
        if (!TenantId.isValid(text)) {
            throw ProblemException.notFound();
        }
        return new TenantId(text);
    }
}
