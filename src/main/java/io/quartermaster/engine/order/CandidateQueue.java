package io.quartermaster.engine.order;

import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.engine.model.ProfileOrder;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaTree;
import io.quartermaster.engine.state.ChangeLog;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.FairShareChange;
import io.quartermaster.engine.state.GroupState;
import io.quartermaster.engine.state.SchedulingClass;
import io.quartermaster.engine.state.SchedulingState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The candidates of a plan in their order: within the reservation first, then the pool's, the profile's and the tree's
 * order. The candidates are indexed in the quota trees, so that after a start only the branches above it are compared
 * again. If a pool or a profile states an order, which cuts across the trees, the remaining candidates are indexed
 * again for each query.
 */
public final class CandidateQueue {
    private final DeclaredState declaredState;
    private final boolean treesAlone;
    private final Map<SchedulingClass, Candidate> candidates = new LinkedHashMap<>();
    private TreeIndex treeIndex = new TreeIndex();
    private ViableCandidates viable = new ViableCandidates();
    private long seen = -1;

    public CandidateQueue(DeclaredState declaredState) {
        this.declaredState = declaredState;
        this.treesAlone = declaredState.pools().values().stream()
                        .allMatch(pool -> pool.profileOrder().isEmpty())
                && declaredState.profiles().stream()
                        .allMatch(profileOrder -> profileOrder.pathOrder().isEmpty());
    }

    /** Whether no pool and no profile states an order of its own. */
    public boolean ordersByTreesAlone() {
        return treesAlone;
    }

    /** Whether no candidate has an attempt left that may succeed. */
    boolean isExhausted(Source source) {
        return !viable.anyMatch(source::isViable);
    }

    /**
     * Selects again for the classes that the logged changes concern. Within a plan and from plan to plan, only changes
     * in the same branches of the trees affect what a class would try.
     */
    void refresh(SchedulingState schedulingState, Source source) {
        ChangeLog changeLog = schedulingState.changes();
        if (changeLog.covers(seen)) {
            refreshChanged(changeLog, source);
        } else {
            candidates.clear();
            viable = new ViableCandidates();
            treeIndex = new TreeIndex();
            schedulingState.schedulingClasses().forEach(schedulingClass -> refreshClass(schedulingClass, source));
        }
        seen = changeLog.takeCursor();
    }

    private void refreshChanged(ChangeLog changeLog, Source source) {
        boolean capacityPassed = false;
        for (long place = seen; place < changeLog.takeCursor(); place++) {
            switch (changeLog.get(place)) {
                case SchedulingClass schedulingClass -> {}
                case ChangeLog.AttemptChange attemptMade -> refreshClass(attemptMade.schedulingClass(), source);
                case GroupState groupState -> groupState.leaves().forEach(treeIndex::markChanged);
                case GroupState.TenantBoundsChange bounds ->
                    bounds.group().leaves().forEach(treeIndex::markChanged);
                case ChangeLog.CapacityChange passed -> capacityPassed = true;
                case FairShareChange moved -> treeIndex.markChanged(moved.node());
            }
        }
        changeLog.affectedSince(seen).forEach(schedulingClass -> refreshClass(schedulingClass, source));
        if (capacityPassed) {
            source.boundByCapacity().forEach(schedulingClass -> refreshClass(schedulingClass, source));
        }
    }

    /** Replaces the candidate of a class by its next one. */
    private void refreshClass(SchedulingClass schedulingClass, Source source) {
        Candidate before = candidates.get(schedulingClass);
        Candidate next = schedulingClass.isEmpty() ? null : source.nextCandidate(schedulingClass, before);
        if (next == before) {
            return;
        }
        if (before != null) {
            candidates.remove(schedulingClass);
            treeIndex.remove(before);
            viable.remove(before);
        }
        if (next != null) {
            candidates.put(schedulingClass, next);
            treeIndex.add(next);
            viable.add(next);
        }
    }

    /** Supplies the next candidate of each class. */
    interface Source {
        /** @param before the previous candidate of the class, to be returned if it is still valid */
        @Nullable
        Candidate nextCandidate(SchedulingClass schedulingClass, @Nullable Candidate before);

        /** Whether some attempt of the candidate may succeed, as far as is known. */
        boolean isViable(Candidate candidate);

        /** The classes whose next attempt depends on the capacity. */
        Collection<SchedulingClass> boundByCapacity();
    }

    /** The next candidate; the queue must not be empty. */
    public Candidate next() {
        return treesAlone ? treeIndex.first() : next(candidates.values());
    }

    /** The next of the given candidates, of which there must be one. They need not be in this queue. */
    Candidate next(Collection<Candidate> among) {
        return firstInTrees(finalists(among));
    }

    /** All candidates, including those whose attempt is known to fail. */
    Collection<Candidate> candidates() {
        return Collections.unmodifiableCollection(candidates.values());
    }

    /** The candidates that remain after the criteria of the reservation, the pool and the profile. */
    public List<Candidate> finalists(Collection<Candidate> among) {
        List<Candidate> left = withinReservedFirst(among);
        left = keepLowest(
                left, candidate -> candidate.poolCapacity().pool().id().value(), this::indexInPool);
        return keepLowest(
                left,
                candidate -> candidate
                        .schedulingClass()
                        .key()
                        .profile()
                        .map(ProfileId::value)
                        .orElse(""),
                this::indexInProfile);
    }

    /** The first of the given candidates by the trees alone; there must be one. */
    static Candidate firstInTrees(Collection<Candidate> among) {
        TreeIndex ofTheseOnly = new TreeIndex();
        among.forEach(ofTheseOnly::add);
        return ofTheseOnly.first();
    }

    private static List<Candidate> withinReservedFirst(Collection<Candidate> candidates) {
        List<Candidate> within = new ArrayList<>();
        for (Candidate candidate : candidates) {
            if (candidate.withinReserved()) {
                within.add(candidate);
            }
        }
        return within.isEmpty() ? List.copyOf(candidates) : within;
    }

    /** Keeps the candidates with the lowest index of each class; candidates of different classes are not compared. */
    private static List<Candidate> keepLowest(
            List<Candidate> candidates, Function<Candidate, String> classOf, ToIntFunction<Candidate> index) {
        Map<String, Integer> lowest = new HashMap<>();
        for (Candidate candidate : candidates) {
            lowest.merge(classOf.apply(candidate), index.applyAsInt(candidate), Math::min);
        }
        List<Candidate> kept = new ArrayList<>(candidates.size());
        for (Candidate candidate : candidates) {
            if (lowest.getOrDefault(classOf.apply(candidate), 0) == index.applyAsInt(candidate)) {
                kept.add(candidate);
            }
        }
        return kept;
    }

    /** The position of its profile in the pool's order; profiles that the pool does not name are last. */
    int indexInPool(Candidate candidate) {
        List<ProfileId> order = candidate.poolCapacity().pool().profileOrder();
        int index =
                candidate.schedulingClass().key().profile().map(order::indexOf).orElse(-1);
        return index < 0 ? order.size() : index;
    }

    /** The position of its path in the profile's order; paths that the profile does not name are last. */
    int indexInProfile(Candidate candidate) {
        List<QuotaPath> order = pathOrder(candidate);
        int index = order.indexOf(candidate.schedulingClass().key().path());
        return index < 0 ? order.size() : index;
    }

    /** The order that a candidate's profile states; empty if it states none. */
    List<QuotaPath> pathOrder(Candidate candidate) {
        return declaredState
                .profile(candidate.schedulingClass().key().profile())
                .map(ProfileOrder::pathOrder)
                .orElse(List.of());
    }

    /** The candidates, each at its leaf of the tree that defines the order. */
    private static final class TreeIndex {
        private final SortedMap<Scope, BranchIndex> roots = new TreeMap<>();
        private final Map<QuotaNode, BranchIndex> branches = new HashMap<>();

        void add(Candidate candidate) {
            branch(candidate.leaf()).add(candidate);
        }

        void remove(Candidate candidate) {
            branch(candidate.leaf()).remove(candidate);
        }

        private BranchIndex branch(QuotaNode node) {
            BranchIndex known = branches.get(node);
            if (known != null) {
                return known;
            }
            QuotaNode above = node.parent();
            BranchIndex branchIndex = new BranchIndex(node, above == null ? null : branch(above));
            branches.put(node, branchIndex);
            if (above == null) {
                QuotaTree tree = node.tree();
                roots.put(tree.scope(), branchIndex);
            }
            return branchIndex;
        }

        void markChanged(QuotaNode leaf) {
            for (QuotaNode node = leaf; node != null; node = node.parent()) {
                BranchIndex branchIndex = branches.get(node);
                if (branchIndex != null) {
                    branchIndex.markChanged();
                    return;
                }
            }
        }

        /** The first candidate; between trees, the one that was submitted first. */
        Candidate first() {
            for (BranchIndex.Tier tier : BranchIndex.Tier.values()) {
                Candidate first = first(tier);
                if (first != null) {
                    return first;
                }
            }
            throw new IllegalStateException("no candidate to choose from");
        }

        private @Nullable Candidate first(BranchIndex.Tier tier) {
            Candidate first = null;
            for (BranchIndex root : roots.values()) {
                Candidate candidate = root.first(tier);
                if (candidate != null
                        && (first == null
                                || SchedulingClass.FIRST_SUBMITTED.compare(candidate.head(), first.head()) < 0)) {
                    first = candidate;
                }
            }
            return first;
        }
    }
}
