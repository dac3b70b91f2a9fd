package io.quartermaster.engine.quota;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * A request as the quota trees see it.
 *
 * @param leaves where it would count: in the pool's tree, in the tree over all pools, or in both, the pool's first
 * @param ceilings bounds beside the trees that it would count against
 * @param gpuMilli all that is asked for
 * @param whole whether a workload starts; else one that runs grows
 * @param runtimeMillis when it is over at the latest, from now on; absent = nobody knows
 */
public record QuotaRequest(
        List<QuotaNode> leaves,
        List<Cap> caps,
        long gpuMilli,
        boolean whole,
        boolean preemptible,
        boolean dedicatedOnly,
        OptionalLong runtimeMillis) {

    public QuotaRequest {
        leaves = List.copyOf(leaves);
        caps = List.copyOf(caps);
        if (leaves.isEmpty()) {
            throw new IllegalArgumentException("a request counts in at least one tree");
        }
    }

    /** The same for another amount. */
    public QuotaRequest with(long otherGpuMilli) {
        return new QuotaRequest(leaves, caps, otherGpuMilli, whole, preemptible, dedicatedOnly, runtimeMillis);
    }

    /** Has the nodes of its path take note of it, which goes on asking from plan to plan. */
    public QuotaRequest noted() {
        leaves.forEach(leaf -> leaf.asked(gpuMilli));
        return this;
    }

    /** Whether the start keeps every node of the path within what is reserved, in one of the trees. */
    public boolean withinReserved() {
        for (QuotaNode leaf : leaves) {
            if (within(leaf)) {
                return true;
            }
        }
        return false;
    }

    private boolean within(QuotaNode leaf) {
        for (QuotaNode node : leaf.belowRoot()) {
            if (node.used().projected() + gpuMilli > node.reservedGpuMilli()) {
                return false;
            }
        }
        return true;
    }

    /** Every node that it would count at, without the roots, from the leaves upward. */
    public List<QuotaNode> path() {
        if (leaves.size() == 1) {
            return leaves.getFirst().belowRoot();
        }
        List<QuotaNode> nodes = new ArrayList<>();
        for (QuotaNode leaf : leaves) {
            nodes.addAll(leaf.belowRoot());
        }
        return nodes;
    }
}
