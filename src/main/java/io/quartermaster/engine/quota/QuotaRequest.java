package io.quartermaster.engine.quota;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * A request as the quota trees see it.
 *
 * @param leaves the leaves at which it would count, in the pool's tree, in the tree over all pools, or in both (the
 * pool's first)
 * @param caps the bounds outside the trees that it would count against
 * @param gpuMilli the whole amount of the request
 * @param whole whether a whole workload starts; otherwise a running workload grows
 * @param runtimeMillis the longest time that the work runs from now; absent = unknown
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
            throw new IllegalArgumentException("a quota request needs at least one leaf");
        }
    }

    /** This request with another amount. */
    public QuotaRequest with(long otherGpuMilli) {
        return new QuotaRequest(leaves, caps, otherGpuMilli, whole, preemptible, dedicatedOnly, runtimeMillis);
    }

    /** Records the request at the nodes of its path, since it will be repeated in every plan. */
    public QuotaRequest recordAtNodes() {
        leaves.forEach(leaf -> leaf.recordRequest(gpuMilli));
        return this;
    }

    /** Whether the start keeps every node of the path within its reserved amount, in one of the trees. */
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

    /** Every node at which the request would count, without the roots, from the leaves upward. */
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
