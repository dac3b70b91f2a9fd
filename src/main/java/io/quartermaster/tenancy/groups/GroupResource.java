package io.quartermaster.tenancy.groups;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.quartermaster.tenancy.GroupList;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.extensions.Extension;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponseSchema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The groups of a tenant's realm. The realm is the source of truth; the service stores no groups. */
@Path("/v1/tenants/{tenant}/groups")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Groups")
public class GroupResource {

    /** A group, by its path. */
    public record Group(GroupPath path) {}

    /** A request for a group. */
    @Schema(name = "GroupRequest")
    public record NewGroup(@Nullable GroupPath path) {}

    /** A page of groups. */
    @Schema(name = "PageGroup")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record GroupPage(
            List<Group> items,
            @Nullable String nextPageToken,

            @Schema(
                    description = "Whether the realm has more than the 10000 groups that the list covers. A group "
                            + "beyond them is found by its path.")
            boolean truncated) {}

    private final TenantGroups groups;
    private final GroupCreation creation;
    private final TenantWrites tenantWrites;
    private final CurrentCaller currentCaller;

    GroupResource(TenantGroups groups, GroupCreation creation, TenantWrites tenantWrites, CurrentCaller currentCaller) {
        this.groups = groups;
        this.creation = creation;
        this.tenantWrites = tenantWrites;
        this.currentCaller = currentCaller;
    }

    @GET
    @RequiresPermission(Permission.GROUPS_READ)
    @Operation(operationId = "listGroups", summary = "Lists groups, in the order of their paths")
    @Extension(name = "x-problem", value = "502")
    public Uni<GroupPage> list(
            @PathParam("tenant") TenantId tenant,
            @Parameter(description = "only the group of this path", example = "/research/nlp")
                    @QueryParam("path")
                    @Nullable
                    String only,
            @BeanParam PageRequest page) {
        String scope = "tenants/" + tenant + "/groups" + (only == null ? "" : "?path=" + only);
        String after = page.after(scope).orElse("");
        int size = page.size();
        Uni<GroupList> asked = only == null ? groups.list(tenant) : findGroup(tenant, only);
        return asked.map(list -> {
            List<Group> found = list.paths().stream()
                    .sorted()
                    .filter(path -> path.value().compareTo(after) > 0)
                    .limit(size + 1L)
                    .map(Group::new)
                    .toList();
            Page<Group> some = Page.of(found, size, scope, group -> group.path().value());
            return new GroupPage(some.items(), some.nextPageToken(), list.truncated());
        });
    }

    private Uni<GroupList> findGroup(TenantId tenant, String path) {
        GroupList none = new GroupList(List.of(), false);
        if (!GroupPath.isValid(path)) {
            return Uni.createFrom().item(none);
        }
        GroupPath group = new GroupPath(path);
        return groups.exists(tenant, group).map(there -> there ? new GroupList(List.of(group), false) : none);
    }

    @POST
    @RequiresPermission(Permission.GROUPS_WRITE)
    @Operation(operationId = "createGroup", summary = "Creates a group in the tenant's realm, and those above it")
    @APIResponseSchema(value = Group.class, responseCode = "201")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = Group.class)))
    @APIResponse(responseCode = "502", ref = "IdentityRefused")
    public Uni<Response> create(
            @PathParam("tenant") TenantId tenant,
            @BeanParam WriteParams params,
            @Context UriInfo uri,
            @Nullable NewGroup body) {
        GroupPath path = body == null ? null : body.path();
        if (path == null) {
            throw ProblemException.invalid("path", "is missing", GroupPath.ACCEPTED);
        }
        return tenantWrites.runAfter(
                () -> creation.create(tenant, currentCaller.current(), path, params.mode()),
                tenant,
                currentCaller.current().subject(),
                uri,
                params,
                body,
                (session, isNew) -> Uni.createFrom()
                        .item(
                                isNew
                                        ? WriteReply.created(location(tenant, path), new Group(path))
                                        : WriteReply.ok(new Group(path))));
    }

    private static String location(TenantId tenant, GroupPath path) {
        return "/v1/tenants/" + tenant + "/groups?path=" + URLEncoder.encode(path.value(), StandardCharsets.UTF_8);
    }
}
