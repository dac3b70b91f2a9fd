package io.quartermaster.capacity.inventory;

import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.placement.ShapeFit;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import io.vertx.core.json.JsonObject;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Compares shapes with the nodes of a tenant's pools. It hides the nodes from the tenant: a {@link ShapeFit} reports
 * only which needs of a shape no node meets.
 */
@ApplicationScoped
public class NodeShapes {

    /**
     * By pool, for pools in which the tenant has an allotment and that have nodes; a plain count has none. Unhealthy
     * GPUs count too. A pool with a node that has never reported its GPUs is absent.
     */
    public Uni<Map<PoolId, ShapeFit>> readFits(Mutiny.Session session, TenantId tenant) {
        // Row-level security shows the tenant its own pools.
        return session.createNativeQuery("""
                        select p.id, array_to_string(p.topology_levels, ','), s.shape, s.nodes
                          from allotment a join pool p on p.id = a.pool_id cross join lateral node_shapes(p.id) s
                         where a.tenant_id = :tenant and p.capacity_milli is null order by p.id, s.shape
                        """, Object[].class)
                .setParameter("tenant", tenant.value())
                .getResultList()
                .map(NodeShapes::fits);
    }

    private static Map<PoolId, ShapeFit> fits(List<Object[]> rows) {
        Map<PoolId, Pool> pools = new TreeMap<>();
        Map<PoolId, List<Node>> nodes = new TreeMap<>();
        for (Object[] row : rows) {
            PoolId id = new PoolId(((UUID) row[0]).toString());
            String levels = (String) row[1];
            pools.put(
                    id,
                    new Pool(
                            id,
                            Pool.ofNodes(id).capacity(),
                            Pool.Placement.PACK,
                            Pool.Sharing.TENANT,
                            List.of(),
                            levels.isEmpty() ? List.of() : Arrays.asList(levels.split(",")),
                            true));
            List<Node> alike = nodes.computeIfAbsent(id, key -> new ArrayList<>());
            alike.addAll(Collections.nCopies(
                    Math.toIntExact(((Number) row[3]).longValue()), node(id, new JsonObject((String) row[2]))));
        }
        Map<PoolId, ShapeFit> fits = new TreeMap<>();
        pools.forEach((id, pool) -> fits.put(id, new ShapeFit(pool, nodes.getOrDefault(id, List.of()))));
        return fits;
    }

    private static Node node(PoolId pool, JsonObject shape) {
        SortedMap<String, String> labels = new TreeMap<>();
        shape.getJsonObject("labels").forEach(entry -> labels.put(entry.getKey(), String.valueOf(entry.getValue())));
        List<Node.Device> devices = new ArrayList<>();
        shape.getJsonArray("gpus").forEach(gpu -> {
            JsonObject of = (JsonObject) gpu;
            devices.add(new Node.Device(devices.size(), "", of.getLong("memoryMiB"), of.getBoolean("mig")));
        });
        return new Node(
                new NodeId("alike"),
                pool,
                true,
                true,
                devices,
                amount(shape.getLong("cpuMilli")),
                amount(shape.getLong("memoryMiB")),
                labels,
                List.of());
    }

    private static OptionalLong amount(@Nullable Long stated) {
        return stated == null ? OptionalLong.empty() : OptionalLong.of(stated);
    }
}
