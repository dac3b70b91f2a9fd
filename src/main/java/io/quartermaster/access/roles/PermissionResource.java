package io.quartermaster.access.roles;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.access.Role;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.Arrays;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** The permissions of the service with the roles that grant them. */
@Path("/v1/operator/permissions")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Roles")
public class PermissionResource {

    /** A permission with the roles that grant it. */
    @Schema(name = "Permission", description = "A right to act on a kind of resource.")
    public record PermissionView(
            @Schema(description = "`resource:verb`.", examples = "workloads:read")
            String name,

            @Schema(description = "The roles that grant it, sorted.")
            List<String> roles) {}

    @Schema(name = "PermissionList", description = "Permissions, in the order of their names.")
    public record Permissions(
            @Schema(description = "The permissions.") List<PermissionView> items) {}

    @GET
    @RequiresPermission(Permission.TENANTS_READ)
    @Operation(operationId = "listPermissions", summary = "Lists all permissions with the roles that grant them")
    public Permissions list() {
        return new Permissions(Arrays.stream(Permission.values())
                .map(permission -> new PermissionView(
                        permission.word(),
                        Arrays.stream(Role.values())
                                .filter(role -> role.permissions().contains(permission))
                                .map(Role::word)
                                .sorted()
                                .toList()))
                .sorted((one, other) -> one.name().compareTo(other.name()))
                .toList());
    }
}
