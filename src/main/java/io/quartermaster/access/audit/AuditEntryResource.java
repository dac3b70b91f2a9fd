package io.quartermaster.access.audit;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** The audit entries of a tenant: each change with its actor. */
@Path("/v1/tenants/{tenant}/audit-entries")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Audit entries")
public class AuditEntryResource {

    private final AuditEntryReader entries;

    AuditEntryResource(AuditEntryReader entries) {
        this.entries = entries;
    }

    @GET
    @RequiresPermission(Permission.AUDIT_READ)
    @Operation(
            operationId = "listAuditEntries",
            summary = "Lists the changes in the tenant with their actors, newest first",
            description = "Each entry is sealed into the tenant's hash chain within seconds of the change.")
    public Uni<Page<AuditEntryApi.View>> list(
            @PathParam("tenant") TenantId tenant, @BeanParam AuditEntryApi.Query query, @BeanParam PageRequest page) {
        return entries.list(tenant, query.validate(), page);
    }
}
