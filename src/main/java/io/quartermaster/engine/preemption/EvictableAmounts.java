package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.quota.QuotaNode;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.function.Predicate;

/**
 * Upper bounds on the amounts that the victims of one preemptor could free in an area. They spare searches that must
 * fail, so they may only be too high.
 *
 * <p>A branch of the quota tree loses victims only while it is above its share, and the last of them may take it below.
 * So it loses at most what it has beyond its share, and one victim more.
 */
final class EvictableAmounts {
    private final EvictionRules rules;
    private final Preemptor preemptor;
    private final Predicate<QuotaPath> mayGive;
    private final Predicate<EvictionUnit> candidate;
    private final Map<QuotaPath, Branch> branches = new HashMap<>();
    /** The branches by their node, so that the groups of one branch share its excess. */
    private final Map<QuotaNode, Branch> byNode = new HashMap<>();

    /** A branch that is compared with the preemptor's, and what its units in the current area hold. */
    private static final class Branch {
        private final boolean mayGive;
        private final OptionalLong excessGpuMilli;
        private long unitsGpuMilli;
        private long largestGpuMilli;

        Branch(boolean mayGive, OptionalLong excessGpuMilli) {
            this.mayGive = mayGive;
            this.excessGpuMilli = excessGpuMilli;
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
     * @param mayGive the groups whose units may become victims
     * @param candidate the units that may be chosen, as far as this does not depend on the use at the time
     */
    EvictableAmounts(
            EvictionRules rules, Preemptor preemptor, Predicate<QuotaPath> mayGive, Predicate<EvictionUnit> candidate) {
        this.rules = rules;
        this.preemptor = preemptor;
        this.mayGive = mayGive;
        this.candidate = candidate;
    }

    /** Whether enough is free in an area together with all that could be evicted there. */
    boolean couldFree(SortedSet<NodeId> area, UnitsByNode units) {
        long missing = preemptor.placementRequest().leastGpuMilli();
        for (NodeId node : area) {
            missing -= preemptor.poolCapacity().freeGpuMilli(node, Availability.AFTER_RELEASES);
        }
        boolean any = false;
        Map<Branch, Boolean> there = new IdentityHashMap<>();
        for (NodeId node : area) {
            for (Map.Entry<QuotaPath, SortedSet<EvictionUnit>> ofGroup :
                    units.on(node).entrySet()) {
                Branch branch = branch(ofGroup.getKey());
                for (EvictionUnit evictionUnit :
                        branch.mayGive ? ofGroup.getValue() : Collections.<EvictionUnit>emptySortedSet()) {
                    if (candidate.test(evictionUnit)) {
                        if (there.put(branch, true) == null) {
                            branch.unitsGpuMilli = 0;
                            branch.largestGpuMilli = 0;
                        }
                        any = true;
                        missing += branch.bound();
                        branch.unitsGpuMilli += evictionUnit.gpuMilli();
                        branch.largestGpuMilli = Math.max(branch.largestGpuMilli, evictionUnit.gpuMilli());
                        missing -= branch.bound();
                        if (missing <= 0) {
                            return true;
                        }
                    }
                }
            }
        }
        return any && missing <= 0;
    }

    private Branch branch(QuotaPath path) {
        Branch known = branches.get(path);
        if (known == null) {
            known = newBranch(path);
            branches.put(path, known);
        }
        return known;
    }

    private Branch newBranch(QuotaPath path) {
        if (!mayGive.test(path)) {
            return new Branch(false, OptionalLong.empty());
        }
        if (path.equals(preemptor.path())) {
            return new Branch(true, OptionalLong.empty());
        }
        QuotaNode branch = rules.branchToCompare(preemptor, path);
        return byNode.computeIfAbsent(branch, node -> new Branch(true, rules.excessGpuMilli(node)));
    }
}
