package io.quartermaster.capacity;

import io.quartermaster.platform.ProblemException;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The rule that a node which cannot keep tenants apart serves one tenant only. It is asked whenever a pool gets a node or a tenant; both
 * first take the pool's lock, so that the two cannot pass each other.
 */
@ApplicationScoped
class Tenancies {

    private final PoolStore pools;
    private final CapacityConfig config;

    Tenancies(PoolStore pools, CapacityConfig config) {
        this.pools = pools;
        this.config = config;
    }

    /** The statement that takes the lock of a pool until the transaction ends; its one parameter is the pool's id as text. */
    static String lockSql(String parameter) {
        return "select 1 from pg_advisory_xact_lock(hashtextextended('pool:' || " + parameter + ", 0))";
    }

    Uni<Void> lock(SqlConnection connection, UUID pool) {
        return connection
                .preparedQuery(lockSql("$1::text"))
                .execute(Tuple.of(pool.toString()))
                .replaceWithVoid();
    }

    /** Refuses a tenant that would share the pool with others although some of its nodes cannot keep them apart. */
    Uni<Void> checkTenant(SqlConnection connection, UUID pool, String tenant, String field) {
        return check(connection, pool, List.of(tenant), List.of(), field);
    }

    /** Refuses a node that cannot keep tenants apart in a pool that several of them use. */
    Uni<Void> checkNode(SqlConnection connection, UUID pool, NodeApi.View node, String field) {
        NodeApi.Agent agent = node.agent();
        return agent == null || agent.isolation() != Isolation.NONE
                ? Uni.createFrom().voidItem()
                : check(connection, pool, List.of(), List.of(node.name()), field);
    }

    private Uni<Void> check(
            SqlConnection connection, UUID pool, List<String> newTenants, List<String> newNodes, String field) {
        if (config.trustUnisolatedNodes()) {
            return Uni.createFrom().voidItem();
        }
        return pools.tenants(connection, pool)
                .chain(tenants -> pools.unisolatedNodes(connection, pool).invoke(nodes -> {
                    var allTenants = new TreeSet<>(tenants);
                    allTenants.addAll(newTenants);
                    var allNodes = new TreeSet<>(nodes);
                    allNodes.addAll(newNodes);
                    if (allTenants.size() > 1 && !allNodes.isEmpty()) {
                        throw ProblemException.refused(
                                "not-isolated",
                                field,
                                "nodes that cannot keep tenants apart would serve " + allTenants.size() + " tenants: "
                                        + Filters.some(List.copyOf(allNodes)),
                                "a pool of one tenant, or nodes that run work in containers or as an OS user per tenant");
                    }
                }))
                .replaceWithVoid();
    }
}
