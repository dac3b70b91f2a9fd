package io.quartermaster.insight;

import io.quartermaster.dispatch.read.CellSnapshot;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The capacity of a cell's pools, with the present nodes or with changed ones. */
final class PoolAmounts {

    private static final long GPU = 1_000;

    private PoolAmounts() {}

    /** The thousandths of GPUs that are up, by pool. */
    static Map<PoolId, Long> of(CellSnapshot snapshot, List<Change> changes) {
        Map<NodeId, Node> nodes = new TreeMap<>();
        snapshot.nodes().values().forEach(node -> nodes.put(node.id(), node));
        for (Change change : changes) {
            if (change instanceof Change.NodeSet(Node node)) {
                nodes.put(node.id(), node);
            } else if (change instanceof Change.NodeRemoved(NodeId removed)) {
                nodes.remove(removed);
            }
        }
        Map<PoolId, Long> capacity = new TreeMap<>();
        for (Pool pool : snapshot.pools().values()) {
            capacity.put(
                    pool.id(),
                    switch (pool.capacity()) {
                        case Pool.Capacity.Count count -> count.gpuMilli();
                        case Pool.Capacity.Nodes capped ->
                            Math.min(capped.maxGpuMilli().orElse(Long.MAX_VALUE), capacityUp(nodes, pool.id()));
                    });
        }
        return capacity;
    }

    private static long capacityUp(Map<NodeId, Node> nodes, PoolId pool) {
        return nodes.values().stream()
                .filter(node -> node.up() && node.pool().equals(pool))
                .mapToLong(node -> node.devices().size() * GPU)
                .sum();
    }
}
