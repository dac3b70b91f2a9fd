package io.quartermaster.access.roles;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.quartermaster.access.Caller;
import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Permission;
import io.quartermaster.access.Realm;
import io.quartermaster.access.Role;
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
import org.jspecify.annotations.Nullable;

/** The caller of a request, as its token describes it. Every caller may ask; it needs no permission. */
@Path("/v1/me")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Roles")
public class MeResource {

    private final CurrentCaller currentCaller;

    MeResource(CurrentCaller currentCaller) {
        this.currentCaller = currentCaller;
    }

    /** The caller with its rights. */
    @Schema(name = "Me", description = "The caller of a request with its rights.")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record View(
            @Schema(description = "Id of the caller's tenant; absent for the operator's staff and for agents.")
            @Nullable
            String tenant,

            @Schema(description = "The realm's unchanging id of the user or service account.")
            String subject,

            @Schema(description = "Name of the user, unique in its realm.")
            String username,

            @Schema(description = "Whether the caller is a program and no person.")
            boolean serviceAccount,

            @Schema(description = "Name of the node; only for the session of a node's agent.") @Nullable
            String node,

            @Schema(description = "Paths of the caller's groups, sorted.", examples = "/research/nlp")
            List<String> groups,

            @Schema(description = "The caller's roles, sorted.", examples = "member")
            List<String> roles,

            @Schema(
                    description = "Permissions in the whole tenant, or in the operator's part of the API; sorted.",
                    examples = "workloads:submit")
            List<String> permissions,

            @Schema(
                    description =
                            "Further permissions that hold only in the caller's groups and their subgroups; sorted.",
                    examples = "policies:write")
            List<String> permissionsInGroups) {}

    @GET
    @Operation(
            operationId = "showMe",
            summary = "Shows who the caller is and what it may do",
            description = "Every caller may ask, also one without any role.")
    public View me() {
        Caller caller = currentCaller.current();
        return new View(
                caller.realm() instanceof Realm.Tenant own ? own.id().value() : null,
                caller.subject(),
                caller.username(),
                caller.isServiceAccount(),
                caller.node().orElse(null),
                caller.groupsInOrder().stream().map(GroupPath::value).toList(),
                caller.roles().stream().map(Role::word).sorted().toList(),
                permissions(caller::mayEverywhere),
                permissions(permission -> caller.may(permission) && !caller.mayEverywhere(permission)));
    }

    private static List<String> permissions(Predicate<Permission> which) {
        return Arrays.stream(Permission.values())
                .filter(which)
                .map(Permission::word)
                .sorted()
                .toList();
    }
}
