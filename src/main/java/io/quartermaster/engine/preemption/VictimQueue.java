package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.Ratio;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The possible victims of a search, in the order of choice. At each level of the tree, the branch with the greatest use
 * over fair share comes first; within a group, the order of eviction decides.
 */
final class VictimQueue {
    private static final Comparator<QuotaNode> GREATEST_SHARE_FIRST = (a, b) ->
            Ratio.compare(b.used().projected(), b.fairGpuMilli(), a.used().projected(), a.fairGpuMilli());

    private final QuotaNode root;
    private final Function<QuotaPath, @Nullable SortedSet<EvictionUnit>> unitsOf;
    private final Predicate<EvictionUnit> candidate;
    private final Map<QuotaNode, Group> groups = new IdentityHashMap<>();
    /** The branches with units, where these are known; null if all branches may have some. */
    private final @Nullable Set<QuotaNode> populated;

    private final String preemptorTenant;
    /** The first victim under each branch as far as it is known, by tenant. */
    private final Map<String, Map<QuotaNode, Optional<GroupVictim>>> first = new HashMap<>();
    /** The preemptor's rights against other tenants, as of the first victims that are known. */
    private int rights;

    /** The victims that may be chosen, given the use at the time. */
    interface Allowed {
        /** Whether some unit under a branch may be allowed; false only if every unit is refused. */
        boolean permitsBranch(QuotaNode branch);

        /** Whether the unit is allowed. The answer is the same for all units of a group that are not apart. */
        boolean permitsUnit(EvictionUnit evictionUnit);

        /** Whether the unit may be refused although others of its group are allowed. */
        default boolean isApart(EvictionUnit evictionUnit) {
            return false;
        }

        /**
         * The preemptor's side of its rights against all other tenants. While it is the same, an eviction in its own
         * tenant changes nothing for their work.
         */
        default int rightsAgainstOtherTenants() {
            return 0;
        }

        /** Allows every candidate. */
        static Allowed all() {
            return new Allowed() {
                @Override
                public boolean permitsBranch(QuotaNode branch) {
                    return true;
                }

                @Override
                public boolean permitsUnit(EvictionUnit evictionUnit) {
                    return true;
                }
            };
        }
    }

    /** The remaining candidates of one group, in the order of eviction. */
    private static final class Group {
        private final Iterator<EvictionUnit> rest;
        private final Predicate<EvictionUnit> candidate;
        /** Candidates that were visited and are not chosen yet. */
        private final List<EvictionUnit> seen = new ArrayList<>(1);

        Group(@Nullable SortedSet<EvictionUnit> evictionUnits, Predicate<EvictionUnit> candidate) {
            this.rest = evictionUnits == null ? Collections.emptyIterator() : evictionUnits.iterator();
            this.candidate = candidate;
        }

        /** The first candidate that is allowed. */
        @Nullable
        EvictionUnit first(Allowed allowed) {
            for (int i = 0; i < seen.size() || advance(); i++) {
                EvictionUnit evictionUnit = seen.get(i);
                if (allowed.permitsUnit(evictionUnit)) {
                    return evictionUnit;
                }
                if (!allowed.isApart(evictionUnit)) {
                    return null;
                }
            }
            return null;
        }

        private boolean advance() {
            while (rest.hasNext()) {
                EvictionUnit next = rest.next();
                if (candidate.test(next)) {
                    seen.add(next);
                    return true;
                }
            }
            return false;
        }

        void removeUnit(EvictionUnit evictionUnit) {
            seen.remove(evictionUnit);
        }
    }

    /**
     * @param root the root of the tree that defines the order
     * @param unitsOf the units of a group in the order of eviction; it is called only for groups that the search
     * reaches
     * @param candidate the units that may be chosen, as far as this does not depend on the use at the time
     */
    VictimQueue(
            QuotaNode root,
            String preemptorTenant,
            Function<QuotaPath, @Nullable SortedSet<EvictionUnit>> unitsOf,
            Predicate<EvictionUnit> candidate) {
        this(root, preemptorTenant, unitsOf, candidate, null);
    }

    private VictimQueue(
            QuotaNode root,
            String preemptorTenant,
            Function<QuotaPath, @Nullable SortedSet<EvictionUnit>> unitsOf,
            Predicate<EvictionUnit> candidate,
            @Nullable Set<QuotaNode> populated) {
        this.root = root;
        this.preemptorTenant = preemptorTenant;
        this.unitsOf = unitsOf;
        this.candidate = candidate;
        this.populated = populated;
    }

    /** A queue of a few groups; it does not visit the other branches of the tree. */
    static VictimQueue ofGroups(
            QuotaNode root,
            String preemptorTenant,
            SortedMap<QuotaPath, SortedSet<EvictionUnit>> units,
            Predicate<EvictionUnit> candidate) {
        Set<QuotaNode> populated = new HashSet<>();
        for (QuotaPath path : units.keySet()) {
            for (QuotaNode node = root.tree().leaf(path); node != null && populated.add(node); ) {
                node = node.parent();
            }
        }
        return new VictimQueue(root, preemptorTenant, units::get, candidate, populated);
    }

    /** The preemptible running work under a node, in every pool that counts there. */
    static VictimQueue under(
            QuotaNode node, Cluster cluster, RunningWorkIndex work, Predicate<EvictionUnit> candidate) {
        SortedMap<QuotaPath, SortedSet<EvictionUnit>> evictionUnits = new TreeMap<>();
        for (PoolCapacity poolCapacity : cluster.poolCapacities()) {
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
        return ofGroups(node.tree().root(), "", evictionUnits, candidate);
    }

    /** Whether some unit could be chosen now. */
    boolean hasVictim(Allowed allowed) {
        discardIfRightsChanged(allowed);
        return firstBelow(root, allowed).isPresent();
    }

    /**
     * Removes and returns the next victim. The caller releases it before the next call.
     *
     * <p>A victim changes the use of its own branch only, so the other branches keep their first victim. A victim of
     * the preemptor's own tenant may also give the preemptor other rights, which concern all tenants. Inside another
     * tenant, the right against all groups is the same, because it compares the tenants. It can be lost with a victim,
     * so the first of a tenant is checked again.
     */
    Optional<EvictionUnit> poll(Allowed allowed) {
        discardIfRightsChanged(allowed);
        Optional<GroupVictim> offer = firstBelow(root, allowed);
        while (offer.isPresent() && !allowed.permitsUnit(offer.get().unit)) {
            first.remove(offer.get().tenant());
            offer = firstBelow(root, allowed);
        }
        if (offer.isEmpty()) {
            return Optional.empty();
        }
        offer.get().group.removeUnit(offer.get().unit);
        if (offer.get().tenant().equals(preemptorTenant)) {
            first.remove(preemptorTenant);
        } else {
            discardAbove(offer.get());
        }
        return Optional.of(offer.get().unit);
    }

    private void discardIfRightsChanged(Allowed allowed) {
        int now = allowed.rightsAgainstOtherTenants();
        if (now != rights) {
            first.clear();
            rights = now;
        }
    }

    private void discardAbove(GroupVictim offer) {
        Map<QuotaNode, Optional<GroupVictim>> ofTenant = first.get(offer.tenant());
        for (QuotaNode node = offer.leaf; ofTenant != null && node != null && node != root; node = node.parent()) {
            ofTenant.remove(node);
        }
    }

    private record GroupVictim(QuotaNode leaf, Group group, EvictionUnit unit) {
        String tenant() {
            return leaf.path().tenant();
        }
    }

    private Optional<GroupVictim> knownFirst(QuotaNode branch, Allowed allowed) {
        Map<QuotaNode, Optional<GroupVictim>> ofTenant =
                first.computeIfAbsent(branch.path().tenant(), tenant -> new IdentityHashMap<>());
        Optional<GroupVictim> known = ofTenant.get(branch);
        if (known == null) {
            known = allowed.permitsBranch(branch) ? firstBelow(branch, allowed) : Optional.empty();
            ofTenant.put(branch, known);
        }
        return known;
    }

    private Optional<GroupVictim> firstBelow(QuotaNode node, Allowed allowed) {
        if (node.children().isEmpty()) {
            Group group = groups.computeIfAbsent(node, leaf -> new Group(unitsOf.apply(leaf.path()), candidate));
            EvictionUnit evictionUnit = group.first(allowed);
            return evictionUnit == null ? Optional.empty() : Optional.of(new GroupVictim(node, group, evictionUnit));
        }
        List<QuotaNode> greatestShareFirst = new ArrayList<>();
        for (QuotaNode child : node.children()) {
            if (populated == null || populated.contains(child)) {
                greatestShareFirst.add(child);
            }
        }
        greatestShareFirst.sort(GREATEST_SHARE_FIRST);
        GroupVictim best = null;
        QuotaNode bestBranch = node;
        for (QuotaNode child : greatestShareFirst) {
            if (best != null && GREATEST_SHARE_FIRST.compare(bestBranch, child) < 0) {
                break;
            }
            GroupVictim offer = knownFirst(child, allowed).orElse(null);
            if (offer != null && (best == null || EvictionUnit.FIRST_TO_GO.compare(offer.unit, best.unit) < 0)) {
                best = offer;
                bestBranch = child;
            }
        }
        return Optional.ofNullable(best);
    }
}
