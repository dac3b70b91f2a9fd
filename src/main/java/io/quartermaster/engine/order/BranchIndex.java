package io.quartermaster.engine.order;

import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.Ratio;
import io.quartermaster.engine.state.SchedulingClass;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A node of a quota tree with the candidates below it and the one that represents it. The representative stays valid
 * until a candidate or the use below the node changes. Then only the branches above the change are compared again.
 */
final class BranchIndex {
    /** The class of a candidate: starts within the reservation go before all others. */
    enum Tier {
        WITHIN,
        BEYOND
    }

    private final QuotaNode node;
    private final @Nullable BranchIndex parent;
    private final int number;
    private final List<BranchIndex> children = new ArrayList<>();
    private final List<BranchIndex> changed = new ArrayList<>();
    private final Side within = new Side(Tier.WITHIN);
    private final Side beyond = new Side(Tier.BEYOND);
    private boolean isCurrent;

    /** The candidates of one tier, in order: those at a leaf itself, or the representatives of its children. */
    private final class Side implements WinnerTree.Duel {
        private final Tier tier;
        private final List<Candidate> own = new ArrayList<>(2);
        private final WinnerTree winnerTree = new WinnerTree(this);
        private @Nullable Candidate first;

        Side(Tier tier) {
            this.tier = tier;
        }

        private void updateFirst() {
            int winner = winnerTree.winner();
            first = !own.isEmpty() ? own.getFirst() : winner < 0 ? null : ofChild(winner);
        }

        private @Nullable Candidate ofChild(int child) {
            return children.get(child).side(tier).first;
        }

        @Override
        public boolean takesPart(int child) {
            return ofChild(child) != null;
        }

        @Override
        public boolean beats(int child, int other) {
            Candidate candidate = ofChild(child);
            Candidate ofOther = ofChild(other);
            return candidate != null
                    && ofOther != null
                    && compare(children.get(child).node, candidate, children.get(other).node, ofOther) < 0;
        }
    }

    BranchIndex(QuotaNode node, @Nullable BranchIndex parent) {
        this.node = node;
        this.parent = parent;
        this.number = parent == null ? 0 : parent.children.size();
        if (parent != null) {
            parent.children.add(this);
            parent.changed.add(this);
            parent.markChanged();
        }
    }

    void add(Candidate candidate) {
        List<Candidate> own = side(tier(candidate)).own;
        int at = Collections.binarySearch(own, candidate, Candidate.IN_GROUP);
        own.add(-at - 1, candidate);
        markChanged();
    }

    void remove(Candidate candidate) {
        List<Candidate> own = side(tier(candidate)).own;
        own.remove(Collections.binarySearch(own, candidate, Candidate.IN_GROUP));
        markChanged();
    }

    private static Tier tier(Candidate candidate) {
        return candidate.withinReserved() ? Tier.WITHIN : Tier.BEYOND;
    }

    private Side side(Tier tier) {
        return tier == Tier.WITHIN ? within : beyond;
    }

    /** Marks this branch and those above it for comparison again. */
    void markChanged() {
        for (BranchIndex branchIndex = this;
                branchIndex != null && branchIndex.isCurrent;
                branchIndex = branchIndex.parent) {
            branchIndex.isCurrent = false;
            if (branchIndex.parent != null) {
                branchIndex.parent.changed.add(branchIndex);
            }
        }
    }

    /** The candidate that represents this branch in one tier. */
    @Nullable
    Candidate first(Tier tier) {
        refresh();
        return side(tier).first;
    }

    private void refresh() {
        if (isCurrent) {
            return;
        }
        for (BranchIndex child : changed) {
            child.refresh();
            within.winnerTree.replay(child.number);
            beyond.winnerTree.replay(child.number);
        }
        changed.clear();
        within.updateFirst();
        beyond.updateFirst();
        isCurrent = true;
    }

    /** Compares by lower rank, then lower (U + request)/S, then lower U/S, then first submitted. */
    static int compare(QuotaNode a, Candidate candidateOfA, QuotaNode b, Candidate candidateOfB) {
        int byRank = Integer.compare(a.rank(), b.rank());
        if (byRank != 0) {
            return byRank;
        }
        long shareOfA = share(a, candidateOfA);
        long shareOfB = share(b, candidateOfB);
        long usedByA = a.used().projected();
        long usedByB = b.used().projected();
        int withRequest = Ratio.compare(
                usedByA + candidateOfA.quotaRequest().gpuMilli(),
                shareOfA,
                usedByB + candidateOfB.quotaRequest().gpuMilli(),
                shareOfB);
        if (withRequest != 0) {
            return withRequest;
        }
        int without = Ratio.compare(usedByA, shareOfA, usedByB, shareOfB);
        if (without != 0) {
            return without;
        }
        // Shares are whole GPUs. Where past use counts, it decides between equal shares, so that the branches
        // alternate.
        int byPast = QuotaNode.comparePast(a, b);
        return byPast != 0 ? byPast : SchedulingClass.FIRST_SUBMITTED.compare(candidateOfA.head(), candidateOfB.head());
    }

    static long share(QuotaNode node, Candidate candidate) {
        return candidate.withinReserved() ? node.reservedGpuMilli() : node.fairGpuMilli();
    }
}
