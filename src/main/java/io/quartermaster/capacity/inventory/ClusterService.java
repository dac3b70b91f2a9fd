package io.quartermaster.capacity.inventory;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Adds, changes and retires clusters, in the system role. The leader does not use clusters, so it receives no notice of
 * changes.
 */
@ApplicationScoped
class ClusterService {

    private static final int MAX_REGION = 63;
    private static final String ACCEPTED_REGION = "1 to " + MAX_REGION + " characters";

    private final SystemDatabase database;
    private final ClusterStore store;
    private final NodeStore nodes;
    private final OperatorWriteContext action;
    private final ObjectMapper json;

    ClusterService(
            SystemDatabase database,
            ClusterStore store,
            NodeStore nodes,
            OperatorWriteContext action,
            ObjectMapper json) {
        this.json = json;
        this.database = database;
        this.store = store;
        this.nodes = nodes;
        this.action = action;
    }

    Uni<Response> create(ClusterApi.@Nullable Request body, WriteParams params, UriInfo uri) {
        return action.run(uri, params, body, (work, request) -> {
            var problems = new ProblemException.Invalid();
            String name = ResourceNames.check(problems, "name", request.name());
            ClusterKind kind = request.kind();
            problems.check(kind != null, "kind", "is missing", EnumNames.accepted(ClusterKind.class));
            String region = request.region();
            checkRegion(problems, region);
            problems.throwIfAny();
            return store.find(work.connection(), name, RowLock.FOR_CHANGE).chain(found -> {
                if (found.isPresent()) {
                    ClusterApi.View view = found.get();
                    if (!view.matches(request)) {
                        throw OperatorWriteContext.existsWithOtherFields("cluster", name);
                    }
                    return Uni.createFrom().item(WriteReply.ok(view, view.version()));
                }
                return insert(work, name, kind, region);
            });
        });
    }

    @SuppressWarnings("NullAway") // kind and region were checked above
    private Uni<WriteReply> insert(
            OperatorWriteContext.WriteContext work, String name, @Nullable ClusterKind kind, @Nullable String region) {
        return store.insert(work.connection(), Ids.next(), name, kind, region)
                .call(view -> action.record(work, "clusters:create", "clusters/" + name, null, view))
                .map(view -> view.with(view.kind().warnings(name)))
                .map(view -> WriteReply.created("/v1/operator/clusters/" + name, view, view.version()));
    }

    Uni<Page<ClusterApi.View>> list(@Nullable String kind, @Nullable String region, PageRequest page) {
        ClusterKind wanted = ListFilters.parse(ClusterKind.class, "kind", kind);
        String scope = "clusters " + kind + " " + region;
        String after = page.after(scope).orElse("");
        int size = page.size();
        return database.on(connection -> store.list(connection, wanted, region, after, size + 1))
                .map(found -> Page.of(found, size, scope, ClusterApi.View::name));
    }

    Uni<Response> get(String name) {
        return database.on(connection -> requireCluster(connection, name, RowLock.NONE))
                .map(view -> TenantWrites.response(WriteReply.ok(view, view.version())));
    }

    Uni<Response> update(String name, @Nullable String body, WriteParams params, UriInfo uri)
            throws JsonProcessingException {
        MergePatch merge = MergePatch.read(json, body, ClusterApi.Patch.class);
        merge.requireValue("region", ACCEPTED_REGION);
        ClusterApi.Patch patch = merge.applyTo(new ClusterApi.Patch(null), ClusterApi.Patch.class, json);
        return action.run(uri, params, merge.patch(), (work, asked) -> {
            var problems = new ProblemException.Invalid();
            if (patch.region() != null) {
                checkRegion(problems, patch.region());
            }
            problems.throwIfAny();
            return requireCluster(work.connection(), name, RowLock.FOR_CHANGE).chain(before -> {
                params.requireVersion(before.version());
                String region = patch.region() == null ? before.region() : patch.region();
                if (region.equals(before.region())) {
                    return Uni.createFrom().item(WriteReply.ok(before, before.version()));
                }
                return store.update(work.connection(), before.id(), region)
                        .call(after -> action.record(work, "clusters:update", "clusters/" + name, before, after))
                        .map(after -> WriteReply.ok(after, after.version()));
            });
        });
    }

    Uni<Response> retire(String name, WriteParams params, UriInfo uri) {
        return action.run(uri, params, null, (OperatorWriteContext.WriteContext work) -> requireCluster(
                        work.connection(), name, RowLock.FOR_CHANGE)
                .call(before -> nodes.names(work.connection(), NodeStore.ParentColumn.CLUSTER, before.id())
                        .invoke(left -> refuseWhile(left)))
                .call(before -> store.retire(work.connection(), before.id()))
                .call(before -> action.record(work, "clusters:retire", "clusters/" + name, before, null))
                .map(before -> WriteReply.noContent()));
    }

    private static void refuseWhile(List<String> nodes) {
        if (!nodes.isEmpty()) {
            throw ProblemException.conflict(
                    "in-use", "the cluster has nodes: " + ListFilters.abbreviate(nodes) + "; retire them first");
        }
    }

    private Uni<ClusterApi.View> requireCluster(SqlConnection connection, String name, RowLock rowLock) {
        return store.find(connection, name, rowLock).map(found -> found.orElseThrow(ProblemException::notFound));
    }

    private static void checkRegion(ProblemException.Invalid problems, @Nullable String region) {
        problems.check(
                region != null && !region.isBlank() && region.length() <= MAX_REGION,
                "region",
                "is missing",
                ACCEPTED_REGION);
    }
}
