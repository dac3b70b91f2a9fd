package io.quartermaster.capacity.inventory;

import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The rule that a node which cannot isolate tenants serves one tenant only. The operator may state that the tenants of
 * a pool trust each other; then the rule does not apply. The rule is checked whenever a pool gets a node or a tenant,
 * and at the first report of a node's agent. Each check first takes the pool's lock, so that concurrent checks cannot
 * both pass.
 *
 * <p>Only containers isolate tenants: with a user of the operating system for each tenant, devices, processes and
 * memory remain open to all of them.
 */
@ApplicationScoped
public class NodeIsolationRule {

    private static final String ACCEPTED =
            "a pool of one tenant, nodes that run work in containers, or a pool with tenantsTrustEachOther";

    private final PoolStore pools;

    NodeIsolationRule(PoolStore pools) {
        this.pools = pools;
    }

    /**
     * The statement that takes the lock of a pool until the transaction ends; its only parameter is the pool's id as
     * text.
     */
    public static String lockSql(String parameter) {
        return "select 1 from pg_advisory_xact_lock(hashtextextended('pool:' || " + parameter + ", 0))";
    }

    Uni<Void> lock(SqlConnection connection, UUID pool) {
        return connection
                .preparedQuery(lockSql("$1::text"))
                .execute(Tuple.of(pool.toString()))
                .replaceWithVoid();
    }

    /** Refuses a tenant that would share the pool with others although some of its nodes cannot isolate them. */
    public Uni<Void> checkTenant(SqlConnection connection, UUID pool, String tenant, String field) {
        return objection(connection, pool, List.of(tenant), List.of())
                .invoke(objection -> refuse(objection, field))
                .replaceWithVoid();
    }

    /** Refuses a node that cannot isolate tenants in a pool that several of them use. */
    Uni<Void> checkNode(SqlConnection connection, UUID pool, NodeApi.View node, String field) {
        NodeApi.Agent agent = node.agent();
        return agent == null || agent.isolation() == NodeIsolation.CONTAINER
                ? Uni.createFrom().voidItem()
                : objection(connection, pool, List.of(), List.of(node.name()))
                        .invoke(objection -> refuse(objection, field))
                        .replaceWithVoid();
    }

    /**
     * Refuses to withdraw the statement that tenants of a pool trust each other while nodes that cannot isolate them
     * serve several.
     */
    Uni<Void> checkTrust(SqlConnection connection, UUID pool, String field) {
        return findConflict(connection, pool, List.of(), List.of())
                .invoke(objection -> refuse(objection, field))
                .replaceWithVoid();
    }

    /**
     * Refuses the first report of an agent that cannot isolate tenants, where its node is in a pool that several
     * tenants use.
     */
    public Uni<Void> checkAgent(SqlConnection connection, UUID node) {
        return connection
                .preparedQuery("select name, pool_id from node where id = $1")
                .execute(Tuple.of(node))
                .map(rows -> rows.iterator().next())
                .call(found -> lock(connection, found.getUUID("pool_id")))
                .chain(found ->
                        objection(connection, found.getUUID("pool_id"), List.of(), List.of(found.getString("name"))))
                .invoke(objection -> objection.ifPresent(text -> {
                    throw ProblemException.conflict("not-isolated", text + "; accepted: " + ACCEPTED);
                }))
                .replaceWithVoid();
    }

    private static void refuse(Optional<String> objection, String field) {
        objection.ifPresent(text -> {
            throw ProblemException.refused("not-isolated", field, text, ACCEPTED);
        });
    }

    private Uni<Optional<String>> objection(
            SqlConnection connection, UUID pool, List<String> newTenants, List<String> newNodes) {
        return pools.tenantsTrustEachOther(connection, pool)
                .chain(trust -> trust
                        ? Uni.createFrom().item(Optional.<String>empty())
                        : findConflict(connection, pool, newTenants, newNodes));
    }

    private Uni<Optional<String>> findConflict(
            SqlConnection connection, UUID pool, List<String> newTenants, List<String> newNodes) {
        return pools.tenants(connection, pool)
                .chain(tenants -> pools.unisolatedNodes(connection, pool).map(nodes -> {
                    var allTenants = new TreeSet<>(tenants);
                    allTenants.addAll(newTenants);
                    var allNodes = new TreeSet<>(nodes);
                    allNodes.addAll(newNodes);
                    return allTenants.size() > 1 && !allNodes.isEmpty()
                            ? Optional.of("nodes that cannot isolate tenants would serve " + allTenants.size()
                                    + " tenants: " + ListFilters.abbreviate(List.copyOf(allNodes)))
                            : Optional.<String>empty();
                }));
    }
}
