package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.Ratio;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
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
    private final QuotaNode root;
    private final Function<QuotaPath, @Nullable SortedSet<EvictionUnit>> unitsOf;
    private final Predicate<EvictionUnit> candidate;
    private final Map<QuotaNode, Group> groups = new HashMap<>();

    /** Who may be chosen, by what is used at the time. */
    interface Allowed {
        /** Whether anybody under a branch may be; says no only where every unit is refused. */
        boolean under(QuotaNode branch);

        /** What is allowed of one of a group is allowed of all its candidates that are not apart. */
        boolean unit(EvictionUnit evictionUnit);

        /** Whether a unit may be refused although others of its group are allowed. */
        default boolean isApart(EvictionUnit evictionUnit) {
            return false;
        }

        /** Whoever is a candidate. */
        static Allowed all() {
            return new Allowed() {
                @Override
                public boolean under(QuotaNode branch) {
                    return true;
                }

                @Override
                public boolean unit(EvictionUnit evictionUnit) {
                    return true;
                }
            };
        }
    }

    /** The candidates of one group that are left, the first to go first. */
    private static final class Group {
        private final Iterator<EvictionUnit> rest;
        private final Predicate<EvictionUnit> candidate;
        /** Candidates that were looked at and not chosen yet. */
        private final List<EvictionUnit> seen = new ArrayList<>(1);

        Group(@Nullable SortedSet<EvictionUnit> evictionUnits, Predicate<EvictionUnit> candidate) {
            this.rest = evictionUnits == null ? Collections.emptyIterator() : evictionUnits.iterator();
            this.candidate = candidate;
        }

        /** The first that is allowed. */
        @Nullable
        EvictionUnit first(Allowed allowed) {
            for (int i = 0; i < seen.size() || seeNext(); i++) {
                EvictionUnit evictionUnit = seen.get(i);
                if (allowed.unit(evictionUnit)) {
                    return evictionUnit;
                }
                if (!allowed.isApart(evictionUnit)) {
                    return null;
                }
            }
            return null;
        }

        private boolean seeNext() {
            while (rest.hasNext()) {
                EvictionUnit next = rest.next();
                if (candidate.test(next)) {
                    seen.add(next);
                    return true;
                }
            }
            return false;
        }

        void take(EvictionUnit evictionUnit) {
            seen.remove(evictionUnit);
        }
    }

    /**
     * @param root of the tree down which the order goes
     * @param unitsOf those of a group, the first to go first; asked for groups that the order comes to
     * @param candidate who may be chosen, as far as that does not depend on what is used at the time
     */
    VictimQueue(
            QuotaNode root,
            Function<QuotaPath, @Nullable SortedSet<EvictionUnit>> unitsOf,
            Predicate<EvictionUnit> candidate) {
        this.root = root;
        this.unitsOf = unitsOf;
        this.candidate = candidate;
    }

    /** Those who run under a node and can be stopped, in every pool that counts there. */
    static VictimQueue under(QuotaNode node, Cluster cluster, RunningWork work, Predicate<EvictionUnit> candidate) {
        SortedMap<QuotaPath, SortedSet<EvictionUnit>> evictionUnits = new TreeMap<>();
        for (PoolCapacity poolCapacity : cluster.spaces()) {
            PoolId pool = poolCapacity.pool().id();
            if (node.tree().counts(pool)) {
                work.running(pool).forEach((path, ofGroup) -> {
                    if (node.covers(node.tree().leaf(path))) {
                        evictionUnits
                                .computeIfAbsent(path, key -> new TreeSet<>(EvictionUnit.FIRST_TO_GO))
                                .addAll(ofGroup);
                    }
                });
            }
        }
        return new VictimQueue(node.tree().root(), evictionUnits::get, candidate);
    }

    /** Whether anybody could be chosen now. */
    boolean anybody(Allowed allowed) {
        return firstBelow(root, allowed) != null;
    }

    /** Takes out the next victim. */
    Optional<EvictionUnit> poll(Allowed allowed) {
        Offer offer = firstBelow(root, allowed);
        if (offer == null) {
            return Optional.empty();
        }
        offer.group.take(offer.unit);
        return Optional.of(offer.unit);
    }

    private record Offer(Group group, EvictionUnit unit) {}

    private @Nullable Offer firstBelow(QuotaNode node, Allowed allowed) {
        if (node.children().isEmpty()) {
            Group group = groups.computeIfAbsent(node, leaf -> new Group(unitsOf.apply(leaf.path()), candidate));
            EvictionUnit evictionUnit = group.first(allowed);
            return evictionUnit == null ? null : new Offer(group, evictionUnit);
        }
        Offer best = null;
        QuotaNode bestBranch = node;
        for (QuotaNode child : node.children()) {
            Offer offer = allowed.under(child) ? firstBelow(child, allowed) : null;
            if (offer != null && (best == null || goesBefore(child, offer, bestBranch, best))) {
                best = offer;
                bestBranch = child;
            }
        }
        return best;
    }

    private static boolean goesBefore(QuotaNode branch, Offer offer, QuotaNode other, Offer best) {
        int byShare = Ratio.compare(
                branch.used().projected(), branch.fairGpuMilli(), other.used().projected(), other.fairGpuMilli());
        return byShare != 0 ? byShare > 0 : EvictionUnit.FIRST_TO_GO.compare(offer.unit, best.unit) < 0;
    }
}
