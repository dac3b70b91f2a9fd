package io.quartermaster.engine.order;

import io.quartermaster.engine.state.Line;

import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.Ratio;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A node of a quota tree with the offers below it, and which of them it stands for. What it stands for is kept until an
 * offer below it or what is used below it changes; then only the branches above that are compared again.
 */
final class Branch {
    /** Those whose start stays within what is reserved go before all others. */
    enum Standing {
        WITHIN,
        BEYOND
    }

    private final QuotaNode node;
    private final @Nullable Branch parent;
    private final int number;
    private final List<Branch> children = new ArrayList<>();
    private final List<Branch> changed = new ArrayList<>();
    private final Side within = new Side(Standing.WITHIN);
    private final Side beyond = new Side(Standing.BEYOND);
    private boolean fresh;

    /** The offers of one standing, in order: its own, if it is a leaf, or those that its children stand for. */
    private final class Side implements Tournament.Duel {
        private final Standing standing;
        private final List<Offer> own = new ArrayList<>(2);
        private final Tournament tournament = new Tournament(this);
        private @Nullable Offer first;

        Side(Standing standing) {
            this.standing = standing;
        }

        private void settle() {
            int winner = tournament.winner();
            first = !own.isEmpty() ? own.getFirst() : winner < 0 ? null : ofChild(winner);
        }

        private @Nullable Offer ofChild(int child) {
            return children.get(child).side(standing).first;
        }

        @Override
        public boolean takesPart(int child) {
            return ofChild(child) != null;
        }

        @Override
        public boolean beats(int child, int other) {
            Offer offer = ofChild(child);
            Offer ofOther = ofChild(other);
            return offer != null
                    && ofOther != null
                    && compare(children.get(child).node, offer, children.get(other).node, ofOther) < 0;
        }
    }

    Branch(QuotaNode node, @Nullable Branch parent) {
        this.node = node;
        this.parent = parent;
        this.number = parent == null ? 0 : parent.children.size();
        if (parent != null) {
            parent.children.add(this);
            parent.changed.add(this);
            parent.touch();
        }
    }

    void add(Offer offer) {
        List<Offer> own = side(standing(offer)).own;
        int at = Collections.binarySearch(own, offer, Offer.IN_GROUP);
        own.add(-at - 1, offer);
        touch();
    }

    void remove(Offer offer) {
        List<Offer> own = side(standing(offer)).own;
        own.remove(Collections.binarySearch(own, offer, Offer.IN_GROUP));
        touch();
    }

    private static Standing standing(Offer offer) {
        return offer.within() ? Standing.WITHIN : Standing.BEYOND;
    }

    private Side side(Standing standing) {
        return standing == Standing.WITHIN ? within : beyond;
    }

    /** What is known of this branch and those above it holds no longer. */
    void touch() {
        for (Branch branch = this; branch != null && branch.fresh; branch = branch.parent) {
            branch.fresh = false;
            if (branch.parent != null) {
                branch.parent.changed.add(branch);
            }
        }
    }

    /** The offer that this branch stands for among those of one standing. */
    @Nullable
    Offer first(Standing standing) {
        refresh();
        return side(standing).first;
    }

    private void refresh() {
        if (fresh) {
            return;
        }
        for (Branch child : changed) {
            child.refresh();
            within.tournament.replay(child.number);
            beyond.tournament.replay(child.number);
        }
        changed.clear();
        within.settle();
        beyond.settle();
        fresh = true;
    }

    /** Lower rank, then lower (U + request)/S, then lower U/S, then first submitted. */
    static int compare(QuotaNode a, Offer offerOfA, QuotaNode b, Offer offerOfB) {
        int byRank = Integer.compare(a.rank(), b.rank());
        if (byRank != 0) {
            return byRank;
        }
        long shareOfA = share(a, offerOfA);
        long shareOfB = share(b, offerOfB);
        long usedByA = a.used().next();
        long usedByB = b.used().next();
        int withRequest = Ratio.compare(
                usedByA + offerOfA.ask().gpuMilli(),
                shareOfA,
                usedByB + offerOfB.ask().gpuMilli(),
                shareOfB);
        if (withRequest != 0) {
            return withRequest;
        }
        int without = Ratio.compare(usedByA, shareOfA, usedByB, shareOfB);
        if (without != 0) {
            return without;
        }
        // Shares are whole GPUs; where the past counts, it also decides between equal ones, so that turns are taken.
        int byPast = QuotaNode.comparePast(a, b);
        return byPast != 0 ? byPast : Line.FIRST_SUBMITTED.compare(offerOfA.head(), offerOfB.head());
    }

    static long share(QuotaNode node, Offer offer) {
        return offer.within() ? node.reservedGpuMilli() : node.fairGpuMilli();
    }
}
