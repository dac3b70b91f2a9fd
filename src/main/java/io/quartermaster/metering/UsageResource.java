package io.quartermaster.metering;

import io.quartermaster.access.Needs;
import io.quartermaster.access.Permission;
import io.quartermaster.platform.ProblemException;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** What a tenant used. */
@Path("/v1/tenants/{tenant}/usage")
@Tag(name = "Usage")
public class UsageResource {

    private final UsageService usage;

    UsageResource(UsageService usage) {
        this.usage = usage;
    }

    @GET
    @Needs(Permission.USAGE_READ)
    @Operation(
            operationId = "getUsage",
            summary = "Sums the tenant's usage over a window",
            description =
                    "Closed hours are final; what is open is counted up to asOf. Amounts are exact integers, shown beside as GPU-hours.")
    public Uni<UsageApi.View> get(@PathParam("tenant") String tenant, @BeanParam UsageRequest request) {
        return usage.ofTenant(tenantId(tenant), request);
    }

    static TenantId tenantId(String text) {
        if (!TenantId.isValid(text)) {
            throw ProblemException.notFound();
        }
        return new TenantId(text);
    }
}
