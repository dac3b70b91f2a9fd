package io.quartermaster.engine.preemption;

import io.quartermaster.engine.PoolId;
import io.quartermaster.engine.QuotaPath;
import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.placement.Unit;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.Ratio;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The possible victims of a search, in the order in which they are chosen: down the tree, at each level the branch that
 * uses most of its fair share now, then the group's first to go.
 */
final class VictimQueue {
    private final Map<QuotaNode, Group> groups = new HashMap<>();
    private @Nullable QuotaNode root;

    /** The candidates of one group that are left, the first to go first. */
    private static final class Group {
        private final Iterator<Unit> rest;
        private final Predicate<Unit> candidate;
        private @Nullable Unit first;

        Group(SortedSet<Unit> units, Predicate<Unit> candidate) {
            this.rest = units.iterator();
            this.candidate = candidate;
            advance();
        }

        void advance() {
            first = null;
            while (first == null && rest.hasNext()) {
                Unit next = rest.next();
                first = candidate.test(next) ? next : null;
            }
        }
    }

    /** @param candidate who may be chosen, as far as that does not depend on what is used at the time */
    VictimQueue(Cluster cluster, SortedMap<QuotaPath, SortedSet<Unit>> units, Predicate<Unit> candidate) {
        units.forEach((path, ofGroup) -> put(new Group(ofGroup, candidate), first -> cluster.leaves(
                        first.holder().allocation().pool(), path)
                .getFirst()));
    }

    private VictimQueue() {}

    /** Those who run under a node and can be stopped, in every pool that counts there. */
    static VictimQueue under(QuotaNode node, Cluster cluster, Predicate<Unit> candidate) {
        SortedMap<QuotaPath, SortedSet<Unit>> units = new TreeMap<>();
        for (Space space : cluster.spaces()) {
            PoolId pool = space.pool().id();
            if (node.tree().counts(pool)) {
                cluster.running(pool).forEach((path, ofGroup) -> {
                    if (node.covers(node.tree().leaf(path))) {
                        units.computeIfAbsent(path, key -> new TreeSet<>(Unit.FIRST_TO_GO))
                                .addAll(ofGroup);
                    }
                });
            }
        }
        VictimQueue queue = new VictimQueue();
        units.forEach((path, ofGroup) ->
                queue.put(new Group(ofGroup, candidate), first -> node.tree().leaf(path)));
        return queue;
    }

    private void put(Group group, Function<Unit, QuotaNode> leafOf) {
        if (group.first != null) {
            QuotaNode leaf = leafOf.apply(group.first);
            groups.put(leaf, group);
            root = leaf.tree().root();
        }
    }

    /** Whether anybody could be chosen now. What is allowed of one of a group is allowed of all its candidates. */
    boolean anybody(Predicate<Unit> allowed) {
        return root != null && firstBelow(root, allowed) != null;
    }

    /** Takes out the next victim. */
    Optional<Unit> poll(Predicate<Unit> allowed) {
        Offer offer = root == null ? null : firstBelow(root, allowed);
        if (offer == null) {
            return Optional.empty();
        }
        offer.group.advance();
        return Optional.of(offer.unit);
    }

    private record Offer(Group group, Unit unit) {}

    private @Nullable Offer firstBelow(QuotaNode node, Predicate<Unit> allowed) {
        if (node.children().isEmpty()) {
            Group group = groups.get(node);
            Unit unit = group == null ? null : group.first;
            return group != null && unit != null && allowed.test(unit) ? new Offer(group, unit) : null;
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
