package io.quartermaster.capacity.inventory;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.Problem;
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
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Adds, changes and retires pools, in the system role. */
@ApplicationScoped
class PoolService {

    /** As many as the domains that a node may name. */
    private static final int MAX_LEVELS = NodeService.MAX_TOPOLOGY;

    private static final int MAX_PROFILES = 100;

    private static final String PATH = "/v1/operator/pools/";

    private final SystemDatabase database;
    private final PoolStore store;
    private final NodeStore nodes;
    private final NodeIsolationRule nodeIsolationRule;
    private final OperatorWriteContext action;
    private final ObjectMapper json;

    PoolService(
            SystemDatabase database,
            PoolStore store,
            NodeStore nodes,
            NodeIsolationRule nodeIsolationRule,
            OperatorWriteContext action,
            ObjectMapper json) {
        this.json = json;
        this.database = database;
        this.store = store;
        this.nodes = nodes;
        this.nodeIsolationRule = nodeIsolationRule;
        this.action = action;
    }

    Uni<Response> create(PoolApi.@Nullable Request body, WriteParams params, UriInfo uri) {
        return action.run(uri, params, body, (work, request) -> {
            var problems = new ProblemException.Invalid();
            String name = ResourceNames.check(problems, "name", request.name());
            checkLevels(problems, request.settings().topologyLevels());
            checkProfiles(problems, request.settings());
            PoolHours.check(problems, request.hours());
            request.settings().check(problems);
            problems.throwIfAny();
            return store.find(work.connection(), name, RowLock.NONE).chain(found -> {
                if (found.isPresent()) {
                    PoolApi.View view = found.get();
                    if (!view.settings().equals(request.settings())) {
                        throw OperatorWriteContext.existsWithOtherFields("pool", name);
                    }
                    return Uni.createFrom().item(WriteReply.ok(view, view.version()));
                }
                return insert(work, name, request.settings());
            });
        });
    }

    private Uni<WriteReply> insert(OperatorWriteContext.WriteContext work, String name, PoolApi.Settings settings) {
        UUID id = Ids.next();
        return store.wasUsed(work.connection(), name)
                .invoke(used -> {
                    if (used) {
                        throw ProblemException.conflict(
                                "name-was-used",
                                "a retired pool was named " + name
                                        + ", and its usage stays stored under this name; choose another name");
                    }
                })
                .chain(() -> store.insert(work.connection(), id, name, settings))
                .chain(() -> requirePool(work.connection(), name, RowLock.NONE))
                .call(view -> action.record(work, "pools:create", "pools/" + name, null, settings))
                .call(() -> action.postToInbox(work, Inbox.Kind.POOL, id))
                .map(view -> WriteReply.created(PATH + name, view, view.version()));
    }

    Uni<Page<PoolApi.View>> list(PageRequest page) {
        String after = page.after("pools").orElse("");
        int size = page.size();
        return database.on(connection -> store.list(connection, after, size + 1))
                .map(found -> Page.of(found, size, "pools", PoolApi.View::name));
    }

    Uni<Response> get(String name) {
        return database.on(connection -> requirePool(connection, name, RowLock.NONE))
                .map(view -> TenantWrites.response(WriteReply.ok(view, view.version())));
    }

    Uni<Response> update(String name, @Nullable String body, WriteParams params, UriInfo uri)
            throws JsonProcessingException {
        MergePatch patch = MergePatch.read(json, body, PoolApi.Patch.class);
        return action.run(uri, params, patch.patch(), (work, asked) -> requirePool(
                        work.connection(), name, RowLock.NO_KEY_UPDATE)
                .chain(before -> {
                    params.requireVersion(before.version());
                    PoolApi.Patch wanted =
                            patch.applyTo(PoolApi.Patch.of(before.settings()), PoolApi.Patch.class, json);
                    var problems = new ProblemException.Invalid();
                    PoolHours.check(problems, wanted.hours());
                    problems.throwIfAny();
                    PoolApi.Settings settings = wanted.settings();
                    checkLevels(problems, settings.topologyLevels());
                    checkProfiles(problems, settings);
                    settings.check(problems);
                    problems.throwIfAny();
                    if (settings.equals(before.settings())) {
                        return Uni.createFrom().item(WriteReply.ok(before, before.version()));
                    }
                    if (settings.capacity() != null && before.nodes() > 0) {
                        throw ProblemException.refused(
                                "pool-has-nodes",
                                "capacity",
                                "the pool has " + GpuFormat.count(before.nodes(), "node") + "; a plain count has none",
                                "no capacity, or a pool without nodes");
                    }
                    boolean trustEnds = before.tenantsTrustEachOther() && !settings.tenantsTrustEachOther();
                    return requireCountUnused(work.connection(), before, settings)
                            .chain(() -> requireLevelsKept(work.connection(), before, settings))
                            .chain(() -> nodeIsolationRule.lock(work.connection(), before.id()))
                            .chain(() -> trustEnds
                                    ? nodeIsolationRule.checkTrust(
                                            work.connection(), before.id(), "tenantsTrustEachOther")
                                    : Uni.createFrom().voidItem())
                            .chain(() -> store.update(work.connection(), before.id(), name, settings))
                            .call(() ->
                                    action.record(work, "pools:update", "pools/" + name, before.settings(), settings))
                            .call(() -> action.postToInbox(work, Inbox.Kind.POOL, before.id()))
                            .chain(() -> requirePool(work.connection(), name, RowLock.NONE))
                            .map(after -> WriteReply.ok(after, after.version()));
                }));
    }

    /**
     * Retires a pool that has no nodes and no allotments. Allotments are granted under the pool's lock too, so none is
     * granted between the check and the commit.
     */
    Uni<Response> retire(String name, WriteParams params, UriInfo uri) {
        return action.run(uri, params, null, (OperatorWriteContext.WriteContext work) -> requirePool(
                        work.connection(), name, RowLock.NO_KEY_UPDATE)
                .call(before -> nodeIsolationRule.lock(work.connection(), before.id()))
                .call(before -> nodes.names(work.connection(), NodeStore.ParentColumn.POOL, before.id())
                        .invoke(left -> refuseWhile("nodes", left)))
                .call(before -> store.tenants(work.connection(), before.id())
                        .invoke(left -> refuseWhile("allotments of tenants", left)))
                .call(before -> store.retire(work.connection(), before.id()))
                .call(before -> action.record(work, "pools:retire", "pools/" + name, before.settings(), null))
                .call(before -> action.postToInbox(work, Inbox.Kind.POOL, before.id()))
                .map(before -> WriteReply.noContent()));
    }

    private static void checkLevels(ProblemException.Invalid problems, List<String> levels) {
        problems.check(
                levels.size() <= MAX_LEVELS
                        && levels.stream().allMatch(ResourceNames::isName)
                        && Set.copyOf(levels).size() == levels.size(),
                "topologyLevels",
                "not accepted",
                "at most " + MAX_LEVELS + " different names, each " + ResourceNames.ACCEPTED);
    }

    /**
     * The order comes before fair shares, and tenants choose the names of their profiles. So a tenant could put its
     * work before that of others.
     */
    private static void checkProfiles(ProblemException.Invalid problems, PoolApi.Settings settings) {
        List<String> profiles = settings.profileOrder();
        problems.check(
                profiles.isEmpty() || settings.tenantsTrustEachOther(),
                "profileOrder",
                "needs a pool whose tenants trust each other, because any of them could name a profile so",
                "no order, or tenantsTrustEachOther true");
        problems.check(
                profiles.size() <= MAX_PROFILES
                        && profiles.stream().allMatch(ResourceNames::isName)
                        && Set.copyOf(profiles).size() == profiles.size(),
                "profileOrder",
                "not accepted",
                "at most " + MAX_PROFILES + " different names of profiles, each " + ResourceNames.ACCEPTED);
    }

    /** Work in a plain count holds no devices of nodes. */
    private Uni<Void> requireCountUnused(SqlConnection connection, PoolApi.View before, PoolApi.Settings after) {
        return before.capacity() == null || after.capacity() != null
                ? Uni.createFrom().voidItem()
                : store.attempts(connection, before.id())
                        .invoke(held -> {
                            if (held > 0) {
                                throw ProblemException.conflict(
                                        "in-use",
                                        "pool " + before.name() + " stays a plain count while work runs in it: "
                                                + (held == 1 ? "1 attempt holds" : held + " attempts hold")
                                                + " a part of it. Wait until the work ends, or cancel it");
                            }
                        })
                        .replaceWithVoid();
    }

    /** Work of a profile that names a level would wait forever once none of its pools has the level. */
    private Uni<Void> requireLevelsKept(SqlConnection connection, PoolApi.View before, PoolApi.Settings after) {
        List<String> dropped = new ArrayList<>(before.topologyLevels());
        dropped.removeAll(after.topologyLevels());
        return dropped.isEmpty()
                ? Uni.createFrom().voidItem()
                : store.profilesWithout(connection, before.id(), dropped)
                        .invoke(left -> {
                            if (!left.isEmpty()) {
                                throw new ProblemException(Problem.of(
                                        409,
                                        "in-use",
                                        "profiles need " + String.join(", ", dropped) + ": "
                                                + ListFilters.abbreviate(left),
                                        List.of(new Problem.Field(
                                                "topologyLevels",
                                                "profiles need " + String.join(", ", dropped),
                                                "the present levels, until those profiles name others"))));
                            }
                        })
                        .replaceWithVoid();
    }

    private static void refuseWhile(String what, List<String> left) {
        if (!left.isEmpty()) {
            throw ProblemException.conflict(
                    "in-use", "the pool has " + what + ": " + ListFilters.abbreviate(left) + "; end those first");
        }
    }

    private Uni<PoolApi.View> requirePool(SqlConnection connection, String name, RowLock rowLock) {
        return store.find(connection, name, rowLock).map(found -> found.orElseThrow(ProblemException::notFound));
    }
}
