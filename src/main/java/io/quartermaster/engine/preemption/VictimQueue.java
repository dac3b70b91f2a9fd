package io.quartermaster.engine.preemption;

import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.Ratio;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The possible victims of a search, in the order in which they are chosen: down the tree, at each level the branch that
 * uses most of its fair share now, then the group's first to go.
 */
final class VictimQueue {
    private final Map<QuotaNode, Deque<Unit>> byLeaf = new HashMap<>();
    private @Nullable QuotaNode root;

    VictimQueue(Cluster cluster, Collection<Unit> units) {
        for (Unit unit : units.stream().sorted(Unit.FIRST_TO_GO).toList()) {
            QuotaNode leaf = cluster.leaves(
                            unit.holder().allocation().pool(),
                            unit.holder().tenure().path())
                    .getFirst();
            byLeaf.computeIfAbsent(leaf, key -> new ArrayDeque<>()).add(unit);
            root = leaf.tree().root();
        }
    }

    /** Takes out the next victim. What is allowed of one unit of a group is taken to be allowed of all that are here. */
    Optional<Unit> poll(Predicate<Unit> allowed) {
        if (root == null) {
            return Optional.empty();
        }
        Offer first = firstBelow(root, allowed);
        if (first == null) {
            return Optional.empty();
        }
        Deque<Unit> units = byLeaf.get(first.leaf);
        return units == null ? Optional.empty() : Optional.ofNullable(units.poll());
    }

    private record Offer(QuotaNode leaf, Unit unit) {}

    private @Nullable Offer firstBelow(QuotaNode node, Predicate<Unit> allowed) {
        Deque<Unit> units = byLeaf.get(node);
        if (units != null) {
            Unit unit = units.peek();
            return unit != null && allowed.test(unit) ? new Offer(node, unit) : null;
        }
        Offer best = null;
        QuotaNode bestBranch = node;
        for (QuotaNode child : node.children()) {
            Offer offer = firstBelow(child, allowed);
            if (offer != null && (best == null || goesBefore(child, offer, bestBranch, best))) {
                best = offer;
                bestBranch = child;
            }
        }
        return best;
    }

    private static boolean goesBefore(QuotaNode branch, Offer offer, QuotaNode other, Offer best) {
        int byShare = Ratio.compare(
                branch.used().next(), branch.fairGpuMilli(), other.used().next(), other.fairGpuMilli());
        return byShare != 0 ? byShare > 0 : Unit.FIRST_TO_GO.compare(offer.unit, best.unit) < 0;
    }
}
