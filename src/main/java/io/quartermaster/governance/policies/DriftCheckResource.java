package io.quartermaster.governance.policies;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.writes.WriteParams;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/**
 * Comparisons of a tenant's policies with the groups of its realm. The service also runs them periodically, every few
 * minutes by default.
 */
@Path("/v1/tenants/{tenant}/drift-checks")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Policies")
public class DriftCheckResource {

    private final GroupDrift drift;

    DriftCheckResource(GroupDrift drift) {
        this.drift = drift;
    }

    @POST
    @RequiresPermission(Permission.POLICIES_WRITE)
    @Operation(
            operationId = "checkDrift",
            summary = "Compares policies with the realm's groups",
            description = "The check suspends a policy whose group is gone: its waiting work shows SUSPENDED, "
                    + "its running work continues. The check resumes the policy when the group is back.")
    @APIResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = PolicyApi.DriftChecked.class)))
    @APIResponse(responseCode = "502", ref = "IdentityRefused")
    public Uni<Response> check(@PathParam("tenant") String tenant, @BeanParam WriteParams params, UriInfo uri) {
        return drift.check(new TenantId(tenant), params, uri);
    }
}
