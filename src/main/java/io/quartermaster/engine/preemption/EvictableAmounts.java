package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.placement.FreeDevices;
import io.quartermaster.engine.quota.QuotaAdmission;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaTree;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Upper bounds on the amounts that the victims of one preemptor could free. They spare searches that must fail, so they
 * may only be too high.
 *
 * <p>A branch of the quota tree loses victims only while it is above its share, and the last of them may take it below.
 * So it loses at most what it has beyond its share, and one victim more. Where a limit would be exceeded, victims must
 * leave under that limit. A node must get enough free devices, processors and memory.
 *
 * <p>An eviction only weakens the right against its own branch, so what is not permitted at first never will be. The
 * exception is an eviction in the preemptor's own tenant: it lowers the use on the preemptor's path, which may grant a
 * right against all others.
 */
final class EvictableAmounts {
    private final EvictionRules rules;
    private final Preemptor preemptor;
    private final Predicate<QuotaPath> mayGiveFirst;
    /** Whether an eviction could give the preemptor another right against groups of its tenant. */
    private final boolean canGainInside;
    /** Whether evictions in its tenant could give it another right against other tenants. */
    private final boolean canGainOutside;

    private final Predicate<EvictionUnit> candidate;
    private static final Branch NO_BRANCH = new Branch(OptionalLong.of(0));

    /** The limits that the start would exceed. */
    private final List<QuotaAdmission.Excess> excesses;

    private final Map<QuotaPath, Group> groups = new HashMap<>();
    /** The branches by their node, so that the groups of one branch share its excess. */
    private final Map<QuotaNode, Branch> byNode = new HashMap<>();

    /** A branch that is compared with the preemptor's, and what its units in the current area hold. */
    private static final class Branch {
        private final OptionalLong excessGpuMilli;
        private long unitsGpuMilli;
        private long largestGpuMilli;

        Branch(OptionalLong excessGpuMilli) {
            this.excessGpuMilli = excessGpuMilli;
        }

        void clear() {
            unitsGpuMilli = 0;
            largestGpuMilli = 0;
        }

        void add(EvictionUnit evictionUnit) {
            unitsGpuMilli += evictionUnit.gpuMilli();
            largestGpuMilli = Math.max(largestGpuMilli, evictionUnit.gpuMilli());
        }

        long bound() {
            if (excessGpuMilli.isEmpty()) {
                return unitsGpuMilli;
            }
            long excess = excessGpuMilli.getAsLong();
            return excess == 0 ? 0 : Math.min(unitsGpuMilli, excess + largestGpuMilli);
        }
    }

    /**
     * @param mayGiveFirst the groups of which some unit is permitted as the first victim
     * @param ofItsTenant the units of the preemptor's tenant from which a search may choose, by group
     * @param candidate the units that may be chosen, as far as this does not depend on the use at the time
     */
    EvictableAmounts(
            EvictionRules rules,
            Preemptor preemptor,
            Predicate<QuotaPath> mayGiveFirst,
            SortedMap<QuotaPath, SortedSet<EvictionUnit>> ofItsTenant,
            Predicate<EvictionUnit> candidate) {
        this.rules = rules;
        this.preemptor = preemptor;
        this.mayGiveFirst = mayGiveFirst;
        this.candidate = candidate;
        this.excesses = QuotaAdmission.excesses(preemptor.quotaRequest());
        this.canGainInside = ofItsTenant.keySet().stream().anyMatch(path -> group(path).givesFirst);
        this.canGainOutside = canGainInside && couldGainOutside(ofItsTenant);
    }

    /** The bound for a second tree is that of the whole tenant, because its branches may be others. */
    private boolean couldGainOutside(SortedMap<QuotaPath, SortedSet<EvictionUnit>> ofItsTenant) {
        Map<Group, Branch> ofGroups = new LinkedHashMap<>();
        Set<Branch> visited = Collections.newSetFromMap(new IdentityHashMap<>());
        ofItsTenant.forEach((path, evictionUnits) -> {
            Group group = group(path);
            Branch branch = group.branch();
            if (visited.add(branch)) {
                branch.clear();
            }
            ofGroups.put(group, branch);
            evictionUnits.stream().filter(candidate).forEach(branch::add);
        });
        QuotaTree ordering = preemptor.quotaRequest().leaves().getFirst().tree();
        return rules.couldGainAgainstOtherTenants(preemptor, node -> {
            Set<Branch> counted = Collections.newSetFromMap(new IdentityHashMap<>());
            long leaving = 0;
            for (Map.Entry<Group, Branch> ofGroup : ofGroups.entrySet()) {
                boolean isBelow = node.tree() != ordering || node.covers(ordering.leaf(ofGroup.getKey().path));
                leaving += isBelow && counted.add(ofGroup.getValue())
                        ? ofGroup.getValue().bound()
                        : 0;
            }
            return leaving;
        });
    }

    private boolean mayGive(Group group, boolean afterItsTenant) {
        return group.givesFirst
                || afterItsTenant
                        && (group.path.tenant().equals(preemptor.path().tenant()) ? canGainInside : canGainOutside);
    }

    /**
     * Whether enough units exist under each limit that the start would exceed.
     *
     * @param units the units that a search may choose from, by group
     */
    boolean couldAdmit(SortedMap<QuotaPath, SortedSet<EvictionUnit>> units) {
        if (excesses.isEmpty()) {
            return true;
        }
        long[] remaining = remainingExcesses();
        for (Map.Entry<QuotaPath, SortedSet<EvictionUnit>> ofGroup : units.entrySet()) {
            if (isUnderExceededLimit(ofGroup.getKey()) && mayGive(group(ofGroup.getKey()), true)) {
                for (EvictionUnit evictionUnit : ofGroup.getValue()) {
                    if (candidate.test(evictionUnit)) {
                        subtract(evictionUnit, ofGroup.getKey(), remaining);
                    }
                }
                if (isAdmitted(remaining)) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean isUnderExceededLimit(QuotaPath path) {
        for (QuotaAdmission.Excess excess : excesses) {
            if (excess.covers(path)) {
                return true;
            }
        }
        return false;
    }

    private long[] remainingExcesses() {
        long[] remaining = new long[excesses.size()];
        for (int i = 0; i < remaining.length; i++) {
            remaining[i] = excesses.get(i).gpuMilli();
        }
        return remaining;
    }

    private void subtract(EvictionUnit evictionUnit, QuotaPath path, long[] remaining) {
        for (int i = 0; i < remaining.length; i++) {
            remaining[i] -= excesses.get(i).covers(path) ? evictionUnit.gpuMilli() : 0;
        }
    }

    private static boolean isAdmitted(long[] remaining) {
        for (long left : remaining) {
            if (left > 0) {
                return false;
            }
        }
        return true;
    }

    /** Whether enough is free in an area together with all that could be evicted there. */
    boolean couldFree(SortedSet<NodeId> area, UnitsByNode units) {
        long missing = preemptor.placementRequest().leastGpuMilli();
        for (NodeId node : area) {
            missing -= preemptor.poolCapacity().freeGpuMilli(node, Availability.AFTER_RELEASES);
        }
        boolean any = false;
        boolean afterItsTenant = canGainInside && givesOfItsTenant(area, units);
        long[] remaining = remainingExcesses();
        Map<Branch, Boolean> there = new IdentityHashMap<>();
        for (NodeId node : area) {
            for (Map.Entry<QuotaPath, SortedSet<EvictionUnit>> ofGroup :
                    units.on(node).entrySet()) {
                QuotaPath path = ofGroup.getKey();
                Group group = group(path);
                boolean mayGive = mayGive(group, afterItsTenant);
                Branch branch = mayGive ? group.branch() : NO_BRANCH;
                for (EvictionUnit evictionUnit :
                        mayGive ? ofGroup.getValue() : Collections.<EvictionUnit>emptySortedSet()) {
                    if (candidate.test(evictionUnit)) {
                        if (there.put(branch, true) == null) {
                            branch.clear();
                        }
                        any = true;
                        missing += branch.bound();
                        branch.add(evictionUnit);
                        missing -= branch.bound();
                        subtract(evictionUnit, path, remaining);
                        if (missing <= 0 && isAdmitted(remaining)) {
                            return true;
                        }
                    }
                }
            }
        }
        return any && missing <= 0 && isAdmitted(remaining);
    }

    /** Whether a node could hold the only worker of the preemptor after all possible victims there have left. */
    boolean couldHold(NodeId node, UnitsByNode units) {
        Optional<FreeDevices> free = preemptor.poolCapacity().freeDevices(node);
        if (free.isEmpty()) {
            return false;
        }
        FreedNode freedNode =
                new FreedNode(free.get(), preemptor.placementRequest().shapeOfFirst());
        if (freedNode.fits()) {
            return true;
        }
        Map<Branch, Boolean> there = new IdentityHashMap<>();
        long evictable = 0;
        for (Map.Entry<QuotaPath, SortedSet<EvictionUnit>> ofGroup :
                units.on(node).entrySet()) {
            Group group = group(ofGroup.getKey());
            boolean mayGive = mayGive(group, true);
            Branch branch = mayGive ? group.branch() : NO_BRANCH;
            for (EvictionUnit evictionUnit :
                    mayGive ? ofGroup.getValue() : Collections.<EvictionUnit>emptySortedSet()) {
                if (candidate.test(evictionUnit)) {
                    if (there.put(branch, true) == null) {
                        branch.clear();
                    }
                    evictable -= branch.bound();
                    branch.add(evictionUnit);
                    evictable += branch.bound();
                    freedNode.release(evictionUnit);
                    if (freedNode.mayFit(evictable) && freedNode.fits()) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /** Whether some unit in an area is permitted as the first victim and is of the preemptor's own tenant. */
    private boolean givesOfItsTenant(SortedSet<NodeId> area, UnitsByNode units) {
        String tenant = preemptor.path().tenant();
        for (NodeId node : area) {
            for (QuotaPath path : units.on(node).keySet()) {
                if (path.tenant().equals(tenant) && group(path).givesFirst) {
                    return true;
                }
            }
        }
        return false;
    }

    private Group group(QuotaPath path) {
        Group known = groups.get(path);
        if (known == null) {
            known = new Group(path, mayGiveFirst.test(path));
            groups.put(path, known);
        }
        return known;
    }

    /** A group with running work. */
    private final class Group {
        private final QuotaPath path;
        private final boolean givesFirst;
        private @Nullable Branch branch;

        Group(QuotaPath path, boolean givesFirst) {
            this.path = path;
            this.givesFirst = givesFirst;
        }

        /** The branch that is compared with the preemptor's; unlimited for its own group. */
        Branch branch() {
            Branch known = branch;
            if (known == null) {
                known = path.equals(preemptor.path())
                        ? new Branch(OptionalLong.empty())
                        : byNode.computeIfAbsent(
                                rules.branchToCompare(preemptor, path), node -> new Branch(rules.excessGpuMilli(node)));
                branch = known;
            }
            return known;
        }
    }
}
