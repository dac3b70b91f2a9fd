package io.quartermaster.capacity.inventory;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.keycloak.NodeCredentialIssuer;
import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.PrintableText;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.inbox.Inbox;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Adds, changes, cordons and retires nodes, in the system role. */
@ApplicationScoped
class NodeService {

    private static final String PATH = "/v1/operator/nodes/";
    static final int MAX_TOPOLOGY = 8;
    private static final int MAX_TEXT = 63;
    private static final long MAX_AMOUNT = 1_000_000_000L;

    private final SystemDatabase database;
    private final NodeStore store;
    private final ClusterStore clusters;
    private final PoolStore pools;
    private final NodeIsolationRule nodeIsolationRule;
    private final OperatorWriteContext action;
    private final NodeCredentialIssuer credentials;
    private final ObjectMapper json;

    NodeService(
            SystemDatabase database,
            NodeStore store,
            ClusterStore clusters,
            PoolStore pools,
            NodeIsolationRule nodeIsolationRule,
            OperatorWriteContext action,
            NodeCredentialIssuer credentials,
            ObjectMapper json) {
        this.json = json;
        this.database = database;
        this.store = store;
        this.clusters = clusters;
        this.pools = pools;
        this.nodeIsolationRule = nodeIsolationRule;
        this.action = action;
        this.credentials = credentials;
    }

    Uni<Response> create(NodeApi.@Nullable Request body, WriteParams params, UriInfo uri) {
        return action.run(uri, params, body, (work, request) -> {
            var problems = new ProblemException.Invalid();
            String name = ResourceNames.checkNode(problems, "name", request.name());
            String cluster = ResourceNames.check(problems, "cluster", request.cluster());
            String pool = ResourceNames.check(problems, "pool", request.pool());
            NodeApi.Settings settings = NodeApi.Settings.of(request, pool);
            check(problems, settings);
            NodeLabels.check(problems, "labels", settings.labels());
            problems.throwIfAny();
            return store.find(work.connection(), name, RowLock.NONE).chain(found -> {
                if (found.isPresent()) {
                    NodeApi.View view = found.get();
                    if (!view.matches(request, pool)) {
                        throw OperatorWriteContext.existsWithOtherFields("node", name);
                    }
                    return Uni.createFrom().item(WriteReply.ok(view, view.version()));
                }
                return insert(work, name, cluster, settings);
            });
        });
    }

    private Uni<WriteReply> insert(
            OperatorWriteContext.WriteContext work, String name, String cluster, NodeApi.Settings settings) {
        UUID id = Ids.next();
        SqlConnection connection = work.connection();
        return clusters.find(connection, cluster, RowLock.FOR_CHANGE)
                .map(found -> found.orElseThrow(() -> unknown("cluster", cluster)))
                .chain(in -> nodePool(connection, settings.pool())
                        .call(pool -> store.insert(connection, id, name, in.id(), pool.id(), settings))
                        .map(pool -> warnings(in, pool, settings)))
                .call(() -> action.record(work, "nodes:create", "nodes/" + name, null, settings))
                .call(() -> action.postToInbox(work, Inbox.Kind.NODE, id))
                .chain(warnings -> requireNode(connection, name, RowLock.NONE).map(view -> view.with(warnings)))
                .map(view -> WriteReply.created(PATH + name, view, view.version()));
    }

    private static List<String> warnings(ClusterApi.View cluster, PoolApi.View pool, NodeApi.Settings settings) {
        List<String> warnings = new ArrayList<>(cluster.kind().warnings(cluster.name()));
        warnings.addAll(topologyWarnings(pool, settings));
        return warnings;
    }

    private static List<String> topologyWarnings(PoolApi.View pool, NodeApi.Settings settings) {
        int levels = pool.topologyLevels().size();
        int domains = settings.topology().size();
        return domains <= levels
                ? List.of()
                : List.of("the node names " + domains + (domains == 1 ? " domain" : " domains")
                        + " of a topology, and pool " + pool.name() + " has "
                        + (levels == 0 ? "no topology levels" : levels + " of its topologyLevels")
                        + ": the other domains have no effect. Set topologyLevels of the pool");
    }

    Uni<Page<NodeApi.View>> list(NodeStore.Filter filter, PageRequest page) {
        String scope = "nodes " + filter;
        String after = page.after(scope).orElse("");
        int size = page.size();
        return database.on(connection -> store.list(connection, filter, after, size + 1))
                .map(found -> Page.of(found, size, scope, NodeApi.View::name));
    }

    Uni<Response> get(String name) {
        return database.on(connection -> requireNode(connection, name, RowLock.NONE))
                .map(view -> TenantWrites.response(WriteReply.ok(view, view.version())));
    }

    Uni<Response> update(String name, @Nullable String body, WriteParams params, UriInfo uri)
            throws JsonProcessingException {
        MergePatch patch = MergePatch.read(json, body, NodeApi.Patch.class);
        patch.requireValue("pool", "the name of a pool");
        return action.run(
                uri, params, patch.patch(), (work, asked) -> requireNode(work.connection(), name, RowLock.FOR_CHANGE)
                        .chain(before -> {
                            params.requireVersion(before.version());
                            NodeApi.Settings settings = patch.applyTo(
                                            NodeApi.Patch.of(before.settings()), NodeApi.Patch.class, json)
                                    .settings();
                            var problems = new ProblemException.Invalid();
                            check(problems, settings);
                            // Labels that an older version accepted do not block other changes.
                            if (!settings.labels().equals(before.labels())) {
                                NodeLabels.check(problems, "labels", settings.labels());
                            }
                            problems.throwIfAny();
                            return settings.equals(before.settings())
                                    ? Uni.createFrom().item(WriteReply.ok(before, before.version()))
                                    : change(work, before, settings);
                        }));
    }

    private Uni<WriteReply> change(
            OperatorWriteContext.WriteContext work, NodeApi.View before, NodeApi.Settings settings) {
        SqlConnection connection = work.connection();
        boolean moves = !settings.pool().equals(before.pool());
        return nodePool(connection, settings.pool())
                .call(pool -> moves
                        ? checkMove(connection, before, pool)
                        : Uni.createFrom().voidItem())
                .call(pool -> store.update(connection, before.id(), pool.id(), settings))
                .call(() -> action.record(work, "nodes:update", "nodes/" + before.name(), before.settings(), settings))
                .call(() -> action.postToInbox(work, Inbox.Kind.NODE, before.id()))
                .chain(pool -> requireNode(connection, before.name(), RowLock.NONE)
                        .map(after -> after.with(topologyWarnings(pool, settings))))
                .map(after -> WriteReply.ok(after, after.version()));
    }

    private Uni<Void> checkMove(SqlConnection connection, NodeApi.View node, PoolApi.View pool) {
        return refuseWhileHeld(connection, node)
                .chain(() -> nodeIsolationRule.lock(connection, pool.id()))
                .chain(() -> nodeIsolationRule.checkNode(connection, pool.id(), node, "pool"));
    }

    /**
     * Retires a node only when it holds no attempt. The credential is revoked after the commit, and stays when Keycloak
     * is unavailable; a repeated call for a retired node revokes it then.
     */
    Uni<Response> retire(String name, WriteParams params, UriInfo uri) {
        return action.run(uri, params, null, (OperatorWriteContext.WriteContext work) -> store.find(
                                work.connection(), name, RowLock.FOR_CHANGE)
                        .chain(found ->
                                found.isPresent() ? retire(work, found.get()) : requireRetired(work.connection(), name))
                        .replaceWith(WriteReply.noContent()))
                .call(() -> params.mode() == WriteMode.COMMIT
                        ? credentials.revoke(name)
                        : Uni.createFrom().voidItem());
    }

    private Uni<Void> retire(OperatorWriteContext.WriteContext work, NodeApi.View node) {
        return refuseWhileHeld(work.connection(), node)
                .chain(() -> store.retire(work.connection(), node.id()))
                .call(() -> action.record(work, "nodes:retire", "nodes/" + node.name(), node.settings(), null))
                .call(() -> action.postToInbox(work, Inbox.Kind.NODE, node.id()));
    }

    private Uni<Void> requireRetired(SqlConnection connection, String name) {
        return store.wasRetired(connection, name)
                .invoke(was -> {
                    if (!was) {
                        throw ProblemException.notFound();
                    }
                })
                .replaceWithVoid();
    }

    /** The answer is not kept for a repeated key, as other answers are, because a secret is stored nowhere. */
    Uni<Response> issueCredential(String name, WriteParams params) {
        return action.runUnstored(params.mode(), work -> requireNode(work.connection(), name, RowLock.NONE)
                        .call(() -> action.record(work, "nodes:credential", "nodes/" + name, null, null)))
                .chain(node -> params.mode() == WriteMode.DRY_RUN
                        ? Uni.createFrom()
                                .item(action.unstored(
                                        params.mode(), new WriteReply(201, Map.of("node", name), Map.of())))
                        : credentials
                                .issue(node.name())
                                .map(made -> action.unstored(params.mode(), new WriteReply(201, made, Map.of()))));
    }

    private Uni<Void> refuseWhileHeld(SqlConnection connection, NodeApi.View node) {
        return store.holders(connection, node.id())
                .invoke(holders -> {
                    if (holders > 0) {
                        throw ProblemException.conflict(
                                "in-use",
                                GpuFormat.count(holders, "attempt", "hold")
                                        + " devices of the node; set schedulable to false and wait for "
                                        + (holders == 1 ? "it" : "them"));
                    }
                })
                .replaceWithVoid();
    }

    /** The pool of a node, which must not be a plain count. The pool stays locked against changes. */
    private Uni<PoolApi.View> nodePool(SqlConnection connection, String name) {
        return pools.find(connection, name, RowLock.NO_KEY_UPDATE).map(found -> {
            PoolApi.View pool = found.orElseThrow(() -> unknown("pool", name));
            if (pool.capacity() != null) {
                throw ProblemException.refused(
                        "pool-is-a-count", "pool", "pool " + name + " is a plain count", "a pool made of nodes");
            }
            return pool;
        });
    }

    private Uni<NodeApi.View> requireNode(SqlConnection connection, String name, RowLock rowLock) {
        return store.find(connection, name, rowLock).map(found -> found.orElseThrow(ProblemException::notFound));
    }

    private static ProblemException unknown(String field, String name) {
        return ProblemException.invalid(field, "there is no " + field + " " + name, "the name of a " + field);
    }

    private static void check(ProblemException.Invalid problems, NodeApi.Settings settings) {
        checkAmount(problems, "cpuMilli", settings.cpuMilli());
        checkAmount(problems, "memoryMiB", settings.memoryMiB());
        problems.check(
                settings.topology().size() <= MAX_TOPOLOGY
                        && settings.topology().stream().allMatch(NodeService::isWord),
                "topology",
                "is not a list of domains",
                "at most " + MAX_TOPOLOGY + " names of 1 to " + MAX_TEXT + " printable characters");
    }

    private static void checkAmount(ProblemException.Invalid problems, String field, @Nullable Long amount) {
        problems.check(
                amount == null || amount >= 0 && amount <= MAX_AMOUNT, field, "out of range", "0 to " + MAX_AMOUNT);
    }

    private static boolean isWord(@Nullable String text) {
        return text != null && !text.isBlank() && text.length() <= MAX_TEXT && PrintableText.isPrintable(text);
    }
}
