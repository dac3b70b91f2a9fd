package io.quartermaster.access.roles;

import io.quartermaster.access.Permission;
import io.quartermaster.access.Realm;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.access.Role;
import io.quartermaster.platform.TenantId;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** The roles of the service with their permissions. They are the same in every deployment of a version. */
@Path("/v1/operator/roles")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Roles")
public class RoleResource {

    /** A role with its permissions. */
    @Schema(name = "Role", description = "A role of the service: a set of permissions.")
    public record View(
            @Schema(description = "Name of the role, which is that of the realm's role.", examples = "member")
            String name,

            @Schema(description = "Whether users of a tenant's realm can have it.")
            boolean ofTenants,

            @Schema(description = "Whether users of the operator's realm can have it.")
            boolean ofOperator,

            @Schema(description = "Whether its rights to write end at the caller's groups and their subgroups.")
            boolean boundToGroups,

            @Schema(description = "Its permissions, sorted.", examples = "workloads:read")
            List<String> permissions) {}

    @Schema(name = "RoleList", description = "Roles, in the order of their names.")
    public record Roles(@Schema(description = "The roles.") List<View> items) {}

    @GET
    @RequiresPermission(Permission.TENANTS_READ)
    @Operation(operationId = "listRoles", summary = "Lists all roles with their permissions")
    public Roles all() {
        return roles(role -> true);
    }

    static Roles roles(Predicate<Role> which) {
        return new Roles(Arrays.stream(Role.values())
                .filter(which)
                .map(RoleResource::view)
                .sorted((one, other) -> one.name().compareTo(other.name()))
                .toList());
    }

    private static View view(Role role) {
        return new View(
                role.word(),
                role.belongsTo(new Realm.Tenant(new TenantId("any"))),
                role.belongsTo(new Realm.Operator()),
                role.isBoundToGroups(),
                role.permissions().stream().map(Permission::word).sorted().toList());
    }
}
