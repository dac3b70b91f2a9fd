package io.quartermaster.metering;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.extensions.Extension;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The usage of every tenant, for the operator. */
@Path("/v1/operator/usage")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Usage")
public class OperatorUsageResource {

    private final UsageService usage;
    private final UsageExport exports;

    OperatorUsageResource(UsageService usage, UsageExport exports) {
        this.usage = usage;
        this.exports = exports;
    }

    @GET
    @RequiresPermission(Permission.USAGE_READ)
    @Operation(
            operationId = "listUsage",
            summary = "Sums usage over a window, tenant by tenant",
            description =
                    "Contains the sums of each tenant, as that tenant's own usage answer has them, ordered by tenant.")
    @Extension(name = "x-problem", value = "422")
    public Uni<Page<UsageApi.View>> list(
            @QueryParam("tenant") @Nullable String tenant,
            @BeanParam UsageRequest request,
            @BeanParam PageRequest page) {
        return usage.reportForTenants(filter(tenant), request, page);
    }

    @GET
    @Path("export")
    @Produces({"text/csv", "application/jsonl"})
    @RequiresPermission(Permission.USAGE_READ)
    @Operation(
            operationId = "exportAllUsage",
            summary = "Exports the usage of all tenants, or of one, record by record",
            description =
                    "The records and columns are those of a tenant's own export, one tenant after the other by id.")
    @APIResponse(
            responseCode = "200",
            content = {
                @Content(mediaType = "text/csv", schema = @Schema(implementation = String.class)),
                @Content(mediaType = "application/jsonl", schema = @Schema(implementation = String.class))
            })
    @APIResponse(responseCode = "409", ref = "Conflict")
    public Uni<Void> export(
            @QueryParam("tenant") @Nullable String tenant,
            @BeanParam ExportRequest request,
            @Context RoutingContext http) {
        return exports.sendTenants(filter(tenant), request, http);
    }

    static Optional<TenantId> filter(@Nullable String tenant) {
        if (tenant == null) {
            return Optional.empty();
        }
        if (!TenantId.isValid(tenant)) {
            throw ProblemException.invalid("tenant", "is not the id of a tenant", "such as acme");
        }
        return Optional.of(new TenantId(tenant));
    }
}
