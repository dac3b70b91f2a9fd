package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.quota.UsageView;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Places work on given nodes: on the named devices, or on the suitable devices with the lowest indexes. */
public final class FixedPlacement {
    private final SortedMap<NodeId, NodeCapacity> nodes = new TreeMap<>();

    /** @param nodes the nodes of one pool */
    public FixedPlacement(Pool pool, List<Node> nodes) {
        for (Node node : nodes) {
            this.nodes.put(node.id(), new NodeCapacity(node, 0, pool.sharing()));
        }
    }

    /**
     * Places one worker and books its devices.
     *
     * @param devices the named devices; empty = the suitable devices with the lowest indexes
     * @return empty if the node is unknown or has no room for the worker
     */
    public Optional<Allocation.Worker> placeWorker(
            int number, PoolId pool, QuotaPath path, Shape shape, NodeId on, List<Integer> devices) {
        NodeCapacity node = nodes.get(on);
        if (node == null) {
            return Optional.empty();
        }
        Optional<List<Allocation.Share>> shares = node.lowest(shape, path.tenant(), devices);
        return shares.map(taken -> {
            Allocation.Place.OnNode place = new Allocation.Place.OnNode(on, taken);
            Allocation.Worker worker = new Allocation.Worker(number, place);
            Booking booking =
                    new Booking(path, Optional.empty(), shape, true, new Allocation(pool, List.of(worker)), true);
            for (UsageView view : UsageView.values()) {
                node.add(place, booking, view);
            }
            return worker;
        });
    }
}
