package io.quartermaster.engine;

import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaTree;
import java.util.ArrayList;
import java.util.Collection;
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
 * Who is tried next: reservations before borrowing, then the pool's, the profile's and the tree's order. The offers hang
 * in the quota trees, so that after a start only the branches above it are compared again. Where a pool or a profile
 * names an order of its own, which cuts across the trees, the offers that it leaves are hung up anew each time.
 */
final class Order {
    private final Facts facts;
    private final boolean treesAlone;
    private final Map<Line, Offer> offers = new LinkedHashMap<>();
    private final Hanging hanging = new Hanging();

    Order(Facts facts) {
        this.facts = facts;
        this.treesAlone = facts.pools().values().stream()
                        .allMatch(pool -> pool.profileOrder().isEmpty())
                && facts.profiles().stream()
                        .allMatch(profile -> profile.pathOrder().isEmpty());
    }

    boolean isEmpty() {
        return offers.isEmpty();
    }

    /** Puts a line's offer in the place of its last one. */
    void put(Offer offer) {
        Offer before = offers.put(offer.line(), offer);
        if (before != null && before.goesLike(offer)) {
            offers.put(offer.line(), before);
            return;
        }
        if (before != null) {
            hanging.remove(before);
        }
        hanging.add(offer);
    }

    void remove(Line line) {
        Offer before = offers.remove(line);
        if (before != null) {
            hanging.remove(before);
        }
    }

    /** What is used at a leaf is not what it was. */
    void touch(QuotaNode leaf) {
        hanging.touch(leaf);
    }

    /** The next offer among at least one. */
    Offer next() {
        return treesAlone ? hanging.first() : next(offers.values());
    }

    /** The next offer among at least one; these need not be those put here. */
    Offer next(Collection<Offer> among) {
        List<Offer> left = withinReservedFirst(among);
        left = keepLowest(left, offer -> offer.space().pool().id().value(), this::indexInPool);
        left = keepLowest(
                left,
                offer -> offer.line().key().profile().map(ProfileId::value).orElse(""),
                this::indexInProfile);
        Hanging ofTheseOnly = new Hanging();
        left.forEach(ofTheseOnly::add);
        return ofTheseOnly.first();
    }

    private static List<Offer> withinReservedFirst(Collection<Offer> offers) {
        List<Offer> within = new ArrayList<>();
        for (Offer offer : offers) {
            if (offer.within()) {
                within.add(offer);
            }
        }
        return within.isEmpty() ? List.copyOf(offers) : within;
    }

    /** Keeps of each class the offers with the lowest index; offers of different classes are not compared. */
    private static List<Offer> keepLowest(
            List<Offer> offers, Function<Offer, String> classOf, ToIntFunction<Offer> index) {
        Map<String, Integer> lowest = new HashMap<>();
        for (Offer offer : offers) {
            lowest.merge(classOf.apply(offer), index.applyAsInt(offer), Math::min);
        }
        List<Offer> kept = new ArrayList<>(offers.size());
        for (Offer offer : offers) {
            if (lowest.getOrDefault(classOf.apply(offer), 0) == index.applyAsInt(offer)) {
                kept.add(offer);
            }
        }
        return kept;
    }

    private int indexInPool(Offer offer) {
        List<ProfileId> order = offer.space().pool().profileOrder();
        int index = offer.line().key().profile().map(order::indexOf).orElse(-1);
        return index < 0 ? order.size() : index;
    }

    private int indexInProfile(Offer offer) {
        List<QuotaPath> order = facts.profile(offer.line().key().profile())
                .map(Profile::pathOrder)
                .orElse(List.of());
        int index = order.indexOf(offer.line().key().path());
        return index < 0 ? order.size() : index;
    }

    /** Offers, each at its leaf of the tree that it goes by. */
    private static final class Hanging {
        private final SortedMap<Scope, Branch> roots = new TreeMap<>();
        private final Map<QuotaNode, Branch> branches = new HashMap<>();

        void add(Offer offer) {
            branch(offer.leaf()).add(offer);
        }

        void remove(Offer offer) {
            branch(offer.leaf()).remove(offer);
        }

        private Branch branch(QuotaNode node) {
            Branch known = branches.get(node);
            if (known != null) {
                return known;
            }
            QuotaNode above = node.parent();
            Branch branch = new Branch(node, above == null ? null : branch(above));
            branches.put(node, branch);
            if (above == null) {
                QuotaTree tree = node.tree();
                roots.put(tree.scope(), branch);
            }
            return branch;
        }

        void touch(QuotaNode leaf) {
            for (QuotaNode node = leaf; node != null; node = node.parent()) {
                Branch branch = branches.get(node);
                if (branch != null) {
                    branch.touch();
                    return;
                }
            }
        }

        /** Between trees: first submitted. */
        Offer first() {
            for (Branch.Standing standing : Branch.Standing.values()) {
                Offer first = first(standing);
                if (first != null) {
                    return first;
                }
            }
            throw new IllegalStateException("no offer to choose from");
        }

        private @Nullable Offer first(Branch.Standing standing) {
            Offer first = null;
            for (Branch root : roots.values()) {
                Offer offer = root.first(standing);
                if (offer != null && (first == null || Line.FIRST_SUBMITTED.compare(offer.head(), first.head()) < 0)) {
                    first = offer;
                }
            }
            return first;
        }
    }
}
