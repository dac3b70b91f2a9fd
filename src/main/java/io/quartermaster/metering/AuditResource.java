package io.quartermaster.metering;

import io.quartermaster.access.Needs;
import io.quartermaster.access.Permission;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Audits of the books. */
@Path("/v1/operator/audits")
@Tag(name = "Usage")
public class AuditResource {

    private final AuditService audits;

    AuditResource(AuditService audits) {
        this.audits = audits;
    }

    @POST
    @Blocking
    @Needs(Permission.LEDGER_AUDIT)
    @Operation(
            operationId = "auditBooks",
            summary = "Checks the stored books and says what does not hold",
            description =
                    "Reads usage events and segments independently of each other: the equations of usage, no gap and no overlap, the hash "
                            + "chain, closed hours counted anew, and allocations against the events that meter them. Changes nothing.")
    @RequestBody(
            description = "absent: all tenants, from the beginning up to now",
            required = false,
            content = @Content(schema = @Schema(implementation = AuditApi.Request.class)))
    public AuditApi.View audit(AuditApi.@Nullable Request request) {
        return audits.audit(request);
    }
}
