package io.quartermaster.metering.audit;

import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.OperatorWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponseSchema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Audits of the ledger. */
@Path("/v1/operator/audits")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Usage")
public class AuditResource {

    private final AuditService audits;
    private final AuditOperation work;
    private final OperatorWrites writes;
    private final CurrentCaller currentCaller;

    AuditResource(AuditService audits, AuditOperation work, OperatorWrites writes, CurrentCaller currentCaller) {
        this.audits = audits;
        this.work = work;
        this.writes = writes;
        this.currentCaller = currentCaller;
    }

    @POST
    @RequiresPermission(Permission.LEDGER_AUDIT)
    @Operation(
            operationId = "auditBooks",
            summary = "Audits the stored usage",
            description = "Answers with the operation that runs the audit; its result is available under the "
                    + "operation's id. Reads usage events and segments independently of each other. "
                    + "Checks the equations of usage, gaps and overlaps, the hash chain, closed hours "
                    + "computed again, and allocations against the events that meter them. Also checks "
                    + "that no attempt is metered past its stop deadline or past its reported end, and "
                    + "the hash chains of audit entries. The audit changes nothing.")
    @RequestBody(
            description = "absent: all tenants, from the beginning up to now",
            required = false,
            content = @Content(schema = @Schema(implementation = AuditApi.Request.class)))
    @APIResponseSchema(value = io.quartermaster.platform.operations.Operation.class, responseCode = "202")
    public Uni<Response> audit(
            @BeanParam WriteParams params, @Context UriInfo uri, AuditApi.@Nullable Request request) {
        return writes.run(
                currentCaller.current().subject(),
                uri,
                params,
                request,
                connection -> audits.create(connection, request));
    }

    @GET
    @Path("{audit}")
    @RequiresPermission(Permission.LEDGER_AUDIT)
    @Operation(
            operationId = "getAudit",
            summary = "Shows the result of an audit, with its violations",
            description = "404 until the operation has succeeded.")
    public Uni<AuditApi.View> get(@PathParam("audit") UUID audit) {
        return work.findResult(audit).map(found -> found.orElseThrow(ProblemException::notFound));
    }
}
