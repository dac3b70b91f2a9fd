package io.quartermaster.engine;

import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.Ratio;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Who is tried next: reservations before borrowing, then the pool's, the profile's and the tree's order. */
final class Order {
    private final Facts facts;

    Order(Facts facts) {
        this.facts = facts;
    }

    /** The next offer among at least one. */
    Offer next(Collection<Offer> offers) {
        List<Offer> left = withinReservedFirst(offers);
        left = keepLowest(left, offer -> offer.space().pool().id().value(), this::indexInPool);
        left = keepLowest(
                left,
                offer -> offer.line().key().profile().map(ProfileId::value).orElse(""),
                this::indexInProfile);
        return downTheTrees(left);
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

    private static Offer downTheTrees(List<Offer> offers) {
        SortedMap<Scope, QuotaNode> roots = new TreeMap<>();
        SortedMap<Scope, Map<QuotaNode, Offer>> firstOfLeaf = new TreeMap<>();
        for (Offer offer : offers) {
            roots.put(offer.leaf().tree().scope(), offer.leaf().tree().root());
            firstOfLeaf
                    .computeIfAbsent(offer.leaf().tree().scope(), scope -> new HashMap<>())
                    .merge(offer.leaf(), offer, (a, b) -> Offer.IN_GROUP.compare(a, b) <= 0 ? a : b);
        }
        Offer first = null;
        for (Map.Entry<Scope, QuotaNode> root : roots.entrySet()) {
            Offer offer = firstBelow(root.getValue(), firstOfLeaf.getOrDefault(root.getKey(), new HashMap<>()));
            if (offer != null && (first == null || Line.FIRST_SUBMITTED.compare(offer.head(), first.head()) < 0)) {
                first = offer;
            }
        }
        return first == null ? offers.getFirst() : first;
    }

    private static @Nullable Offer firstBelow(QuotaNode node, Map<QuotaNode, Offer> firstOfLeaf) {
        if (node.children().isEmpty()) {
            return firstOfLeaf.get(node);
        }
        Offer first = null;
        QuotaNode branch = node;
        for (QuotaNode child : node.children()) {
            Offer offer = firstBelow(child, firstOfLeaf);
            if (offer != null && (first == null || compare(child, offer, branch, first) < 0)) {
                first = offer;
                branch = child;
            }
        }
        return first;
    }

    private static int compare(QuotaNode a, Offer offerOfA, QuotaNode b, Offer offerOfB) {
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
