package io.quartermaster.access.audit;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Who changed what of the operator's own. */
@Path("/v1/operator/audit-entries")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Audit entries")
public class OperatorAuditEntryResource {

    private final AuditEntryReader entries;

    OperatorAuditEntryResource(AuditEntryReader entries) {
        this.entries = entries;
    }

    @GET
    @RequiresPermission(Permission.AUDIT_READ)
    @Operation(
            operationId = "listOperatorAuditEntries",
            summary = "Lists who changed what of clusters, nodes and pools, newest first",
            description = "What was changed of a tenant, also by the operator, is among that tenant's.")
    public Uni<Page<AuditEntryApi.View>> list(@BeanParam AuditEntryApi.Query query, @BeanParam PageRequest page) {
        return entries.list(AuditLog.OPERATOR, query.checked(), page);
    }
}
