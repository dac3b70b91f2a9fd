package io.quartermaster.engine.order;

import io.quartermaster.engine.model.Profile;
import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.state.Books;
import io.quartermaster.engine.state.Facts;
import io.quartermaster.engine.state.FairShareMoved;
import io.quartermaster.engine.state.Group;
import io.quartermaster.engine.state.Line;
import io.quartermaster.engine.state.Touches;

import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaTree;
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
 * Who is tried next: reservations before borrowing, then the pool's, the profile's and the tree's order. The offers hang
 * in the quota trees, so that after a start only the branches above it are compared again. Where a pool or a profile
 * names an order of its own, which cuts across the trees, the offers that it leaves are hung up anew each time.
 */
public final class Order {
    private final Facts facts;
    private final boolean treesAlone;
    private final Map<Line, Offer> offers = new LinkedHashMap<>();
    private Hanging hanging = new Hanging();
    private Worthwhile worthwhile = new Worthwhile();
    private long seen = -1;

    public Order(Facts facts) {
        this.facts = facts;
        this.treesAlone = facts.pools().values().stream()
                        .allMatch(pool -> pool.profileOrder().isEmpty())
                && facts.profiles().stream()
                        .allMatch(profile -> profile.pathOrder().isEmpty());
    }

    /** Whether no offer is worth its turn. */
    public boolean isVain() {
        return !worthwhile.any();
    }

    /**
     * Asks those lines again that are concerned by what changed since it was told last: within a plan and from plan to
     * plan, only what counts in the same branches of the trees changes what a line would try.
     */
    void follow(Books books, Source source) {
        Touches touches = books.touches();
        if (touches.knowsSince(seen)) {
            renewTouched(touches, source);
        } else {
            offers.clear();
            worthwhile = new Worthwhile();
            hanging = new Hanging();
            books.lines().forEach(line -> renew(line, source));
        }
        seen = touches.end();
    }

    private void renewTouched(Touches touches, Source source) {
        boolean capacityPassed = false;
        for (long place = seen; place < touches.end(); place++) {
            switch (touches.get(place)) {
                case Line line -> {}
                case Touches.Tried tried -> renew(tried.line(), source);
                case Group group -> group.leaves().forEach(hanging::touch);
                case Group.TenantBounds bounds -> bounds.group().leaves().forEach(hanging::touch);
                case Touches.Capacity passed -> capacityPassed = true;
                case FairShareMoved moved -> hanging.touch(moved.node());
            }
        }
        touches.concernedSince(seen).forEach(line -> renew(line, source));
        if (capacityPassed) {
            source.boundByCapacity().forEach(line -> renew(line, source));
        }
    }

    /** Puts what a line would try next in the place of what it tried last. */
    private void renew(Line line, Source source) {
        Offer before = offers.get(line);
        Offer next = line.isEmpty() ? null : source.offer(line, before);
        if (next == before) {
            return;
        }
        if (before != null) {
            offers.remove(line);
            hanging.remove(before);
            worthwhile.remove(before);
        }
        if (next != null) {
            offers.put(line, next);
            hanging.add(next);
            worthwhile.add(next);
        }
    }

    /** Says what lines would try next. */
    interface Source {
        /** @param before what it would have tried, as it was known last; to be returned if that is still so */
        @Nullable
        Offer offer(Line line, @Nullable Offer before);

        /** Those whose next try depends on how much there is at all. */
        Collection<Line> boundByCapacity();
    }

    /** The next offer among at least one. */
    public Offer next() {
        return treesAlone ? hanging.first() : next(offers.values());
    }

    /** The next offer among at least one; these need not be those put here. */
    Offer next(Collection<Offer> among) {
        return firstByTrees(contenders(among));
    }

    /** All that is offered, also where it is known to be in vain. */
    Collection<Offer> offers() {
        return Collections.unmodifiableCollection(offers.values());
    }

    /** Those whom class and the orders of pools and profiles leave. */
    public List<Offer> contenders(Collection<Offer> among) {
        List<Offer> left = withinReservedFirst(among);
        left = keepLowest(left, offer -> offer.space().pool().id().value(), this::indexInPool);
        return keepLowest(
                left,
                offer -> offer.line().key().profile().map(ProfileId::value).orElse(""),
                this::indexInProfile);
    }

    /** The first of at least one, as the trees alone have it. */
    static Offer firstByTrees(Collection<Offer> among) {
        Hanging ofTheseOnly = new Hanging();
        among.forEach(ofTheseOnly::add);
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

    /** Its profile's place in the pool's order; after all that are named there where it is not. */
    int indexInPool(Offer offer) {
        List<ProfileId> order = offer.space().pool().profileOrder();
        int index = offer.line().key().profile().map(order::indexOf).orElse(-1);
        return index < 0 ? order.size() : index;
    }

    /** Its path's place in the profile's order, likewise. */
    int indexInProfile(Offer offer) {
        List<QuotaPath> order = pathOrder(offer);
        int index = order.indexOf(offer.line().key().path());
        return index < 0 ? order.size() : index;
    }

    /** The order that an offer's profile names; empty where it names none. */
    List<QuotaPath> pathOrder(Offer offer) {
        return facts.profile(offer.line().key().profile())
                .map(Profile::pathOrder)
                .orElse(List.of());
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
