package io.quartermaster.access.roles;

import io.quartermaster.access.Permission;
import io.quartermaster.access.Realm;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** The roles that users of a tenant can have. */
@Path("/v1/tenants/{tenant}/roles")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Roles")
public class TenantRoleResource {

    @GET
    @RequiresPermission(Permission.TENANTS_READ)
    @Operation(operationId = "listTenantRoles", summary = "Lists the roles that users of the tenant can have")
    public RoleResource.Roles list(@PathParam("tenant") TenantId tenant) {
        return RoleResource.roles(role -> role.belongsTo(new Realm.Tenant(tenant)));
    }
}
