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

/** The audit entries of the operator's own resources. */
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
            summary = "Lists the changes of clusters, nodes and pools with their actors, newest first",
            description = "Changes in a tenant, including those by the operator, are among that tenant's entries.")
    public Uni<Page<AuditEntryApi.View>> list(@BeanParam AuditEntryApi.Query query, @BeanParam PageRequest page) {
        return entries.list(AuditLog.OPERATOR, query.validate(), page);
    }
}
