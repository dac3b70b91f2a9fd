package io.quartermaster.engine;

import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.Ratio;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A node of a quota tree with the offers below it, and which of them it stands for. What it stands for is kept until an
 * offer below it or what is used below it changes.
 */
final class Branch {
    /** Those whose start stays within what is reserved go before all others. */
    enum Standing {
        WITHIN,
        BEYOND
    }

    private final QuotaNode node;
    private final @Nullable Branch parent;
    private final List<Branch> children = new ArrayList<>();
    private final Map<Standing, NavigableSet<Offer>> own = new EnumMap<>(Standing.class);
    private final Map<Standing, Offer> first = new EnumMap<>(Standing.class);
    private boolean fresh;

    Branch(QuotaNode node, @Nullable Branch parent) {
        this.node = node;
        this.parent = parent;
        for (Standing standing : Standing.values()) {
            own.put(standing, new TreeSet<>(Offer.IN_GROUP));
        }
        if (parent != null) {
            parent.children.add(this);
        }
    }

    static Standing standing(Offer offer) {
        return offer.within() ? Standing.WITHIN : Standing.BEYOND;
    }

    void add(Offer offer) {
        own(standing(offer)).add(offer);
        touch();
    }

    void remove(Offer offer) {
        own(standing(offer)).remove(offer);
        touch();
    }

    private NavigableSet<Offer> own(Standing standing) {
        return Objects.requireNonNull(own.get(standing));
    }

    /** What is known of this branch and those above it holds no longer. */
    void touch() {
        for (Branch branch = this; branch != null; branch = branch.parent) {
            branch.fresh = false;
        }
    }

    /** The offer that this branch stands for among those of one standing. */
    @Nullable
    Offer first(Standing standing) {
        if (!fresh) {
            first.clear();
            for (Standing each : Standing.values()) {
                Offer best = choose(each);
                if (best != null) {
                    first.put(each, best);
                }
            }
            fresh = true;
        }
        return first.get(standing);
    }

    private @Nullable Offer choose(Standing standing) {
        Offer best = own(standing).isEmpty() ? null : own(standing).first();
        QuotaNode branch = node;
        for (Branch child : children) {
            Offer offer = child.first(standing);
            if (offer != null && (best == null || compare(child.node, offer, branch, best) < 0)) {
                best = offer;
                branch = child.node;
            }
        }
        return best;
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

    private static long share(QuotaNode node, Offer offer) {
        return offer.within() ? node.reservedGpuMilli() : node.fairGpuMilli();
    }
}
