package io.quartermaster.tenancy;

import io.quartermaster.access.AuditLog;
import io.quartermaster.access.Callers;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Needs;
import io.quartermaster.access.Permission;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.platform.Page;
import io.quartermaster.platform.PageRequest;
import io.quartermaster.platform.PrintableText;
import io.quartermaster.platform.ProblemException;
import io.quartermaster.platform.Reply;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.TenantTransactions;
import io.quartermaster.platform.WriteMode;
import io.quartermaster.platform.WriteParams;
import io.quartermaster.platform.Writes;
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
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/** The groups of a tenant's realm. The realm has the truth; nothing of them is stored here. */
@Path("/v1/tenants/{tenant}/groups")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Groups")
public class GroupResource {

    /** A group, by its path. */
    public record Group(GroupPath path) {}

    /** A group as asked for. */
    @Schema(name = "GroupRequest")
    public record NewGroup(@Nullable GroupPath path) {}

    private final KeycloakAdmin admin;
    private final Blueprints blueprints;
    private final TenantGroups groups;
    private final TenantTransactions transactions;
    private final Writes writes;
    private final AuditLog audit;
    private final Callers callers;

    GroupResource(
            KeycloakAdmin admin,
            Blueprints blueprints,
            TenantGroups groups,
            TenantTransactions transactions,
            Writes writes,
            AuditLog audit,
            Callers callers) {
        this.admin = admin;
        this.blueprints = blueprints;
        this.groups = groups;
        this.transactions = transactions;
        this.writes = writes;
        this.audit = audit;
        this.callers = callers;
    }

    @GET
    @Needs(Permission.GROUPS_READ)
    @Operation(operationId = "listGroups", summary = "Lists groups, in the order of their paths")
    @Extension(name = "x-problem", value = "502")
    public Uni<Page<Group>> list(
            @PathParam("tenant") TenantId tenant,
            @Parameter(description = "only the group of this path", example = "/research/nlp")
                    @QueryParam("path")
                    @Nullable
                    String only,
            @BeanParam PageRequest page) {
        String scope = "tenants/" + tenant + "/groups" + (only == null ? "" : "?path=" + only);
        String after = page.after(scope).orElse("");
        int size = page.size();
        Uni<List<GroupPath>> asked = only == null ? groups.all(tenant) : one(tenant, only);
        return asked.map(all -> all.stream()
                        .sorted()
                        .filter(path -> path.value().compareTo(after) > 0)
                        .limit(size + 1L)
                        .map(Group::new)
                        .toList())
                .map(found -> Page.of(found, size, scope, group -> group.path().value()));
    }

    private Uni<List<GroupPath>> one(TenantId tenant, String path) {
        if (!GroupPath.isValid(path)) {
            return Uni.createFrom().item(List.of());
        }
        GroupPath group = new GroupPath(path);
        if (group.hasDotSteps()) {
            return Uni.createFrom().item(List.of());
        }
        return groups.has(tenant, group).map(there -> there ? List.of(group) : List.of());
    }

    @POST
    @Needs(Permission.GROUPS_WRITE)
    @Operation(operationId = "createGroup", summary = "Makes a group in the tenant's realm, and those above it")
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
        if (!PrintableText.isPrintable(path.value())) {
            throw ProblemException.invalid(
                    "path", "holds characters that cannot be seen", GroupPath.ACCEPTED + ", of printable characters");
        }
        if (path.hasDotSteps()) {
            throw ProblemException.invalid(
                    "path", "has a step that is . or ..", GroupPath.ACCEPTED + ", without steps that are . or ..");
        }
        return writes.runAfter(
                () -> create(tenant, path, params.mode()),
                tenant,
                callers.current().subject(),
                uri,
                params,
                body,
                (session, isNew) -> Uni.createFrom()
                        .item(
                                isNew
                                        ? Reply.created(location(tenant, path), new Group(path))
                                        : Reply.ok(new Group(path))));
    }

    /**
     * Whether it was not there yet. The audit entries are committed before Keycloak is told, so that no group is made of which there is
     * none, whatever fails afterwards.
     */
    private Uni<Boolean> create(TenantId tenant, GroupPath path, WriteMode mode) {
        return groups.lacking(tenant, path)
                .chain(lacking -> lacking.missing().isEmpty()
                        ? Uni.createFrom().item(false)
                        : transactions
                                .in(tenant, mode, session -> begin(session, tenant, lacking))
                                .chain(() -> make(tenant, path, mode))
                                .replaceWith(true));
    }

    private Uni<Void> begin(Mutiny.Session session, TenantId tenant, TenantGroups.Lacking lacking) {
        return most(session, tenant).chain(most -> {
            requireRoom(lacking, most);
            Uni<Void> chain = Uni.createFrom().voidItem();
            for (GroupPath one : lacking.missing()) {
                chain = chain.chain(() -> audit.record(
                        session,
                        tenant,
                        callers.current(),
                        new AuditLog.Change("groups:create", "groups" + one, null, new Group(one))));
            }
            return chain;
        });
    }

    private static String location(TenantId tenant, GroupPath path) {
        return "/v1/tenants/" + tenant + "/groups?path=" + URLEncoder.encode(path.value(), StandardCharsets.UTF_8);
    }

    private Uni<Integer> most(Mutiny.Session session, TenantId tenant) {
        return session.createNativeQuery("select plan from tenant where id = :tenant", String.class)
                .setParameter("tenant", tenant.value())
                .getSingleResultOrNull()
                .onItem()
                .ifNull()
                .failWith(ProblemException::notFound)
                .map(plan -> blueprints
                        .find(plan)
                        .orElseThrow(() -> ProblemException.conflict(
                                "no-such-plan",
                                "there is no plan " + plan + " any more, which says how many groups tenant " + tenant
                                        + " may have. Ask the operator to bring the plan back"))
                        .maxGroups());
    }

    private static void requireRoom(TenantGroups.Lacking lacking, int most) {
        if (lacking.groups() + lacking.missing().size() > most) {
            throw ProblemException.refused(
                    "too-many-groups",
                    "path",
                    "the realm has " + lacking.groups() + " groups, and the path adds "
                            + lacking.missing().size(),
                    "groups that together are at most " + most + ", which the plan allows");
        }
    }

    private Uni<Void> make(TenantId tenant, GroupPath path, WriteMode mode) {
        return switch (mode) {
            case DRY_RUN -> Uni.createFrom().voidItem();
            case COMMIT ->
                admin.call(keycloak -> Realms.ensureGroup(keycloak.realm(tenant.value()), path))
                        .replaceWithVoid();
        };
    }
}
