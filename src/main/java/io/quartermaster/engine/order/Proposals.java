package io.quartermaster.engine.order;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.state.Books;
import io.quartermaster.engine.state.Facts;
import io.quartermaster.engine.state.FairShareMoved;
import io.quartermaster.engine.state.Group;
import io.quartermaster.engine.state.Line;
import io.quartermaster.engine.state.Touches;
import io.quartermaster.engine.state.Wish;
import io.quartermaster.engine.state.Wishes;

import io.quartermaster.engine.placement.Kind;
import io.quartermaster.engine.preemption.Hope;
import io.quartermaster.engine.preemption.RoomMaker;
import io.quartermaster.engine.quota.Admission;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What each line would try next in a plan: a start in free room, else to have room made; nothing once it has tried all.
 *
 * <p>A line of one pool whose kind is known not to fit, and for which it can be told at once that no room can be made,
 * has its turn, and with it its effect on the order, but is not tried. A line of several pools tries them as if nothing
 * were known, as its turn depends on the pool that it tries next; so do all where places are kept for others.
 */
public final class Proposals {
    private final Settings settings;
    private final Facts facts;
    private final Books books;
    private final Wishes wishes;
    private final RoomMaker roomMaker;
    private final Set<Line> blocked = new LinkedHashSet<>();
    private final Map<Line, Set<PoolId>> withoutFreeRoom = new HashMap<>();
    private final Map<Line, Set<PoolId>> withoutAnyRoom = new HashMap<>();
    private final Map<Line, Set<PoolId>> withoutAnythingToTakeBack = new HashMap<>();
    private final Set<Line> noted = new LinkedHashSet<>();
    private final Map<Line, @Nullable Offer> unhurried = new HashMap<>();
    private final Order.Source source = new Order.Source() {
        @Override
        public @Nullable Offer offer(Line line, @Nullable Offer before) {
            return next(line, before);
        }

        @Override
        public Collection<Line> boundByCapacity() {
            return Proposals.this.boundByCapacity();
        }
    };
    private boolean placesAreKept;
    private long seen;

    public Proposals(Settings settings, Facts facts, Books books, Wishes wishes, RoomMaker roomMaker) {
        this.settings = settings;
        this.facts = facts;
        this.books = books;
        this.wishes = wishes;
        this.roomMaker = roomMaker;
    }

    /**
     * The order of what is proposed.
     *
     * @param kept from plan to plan, for as long as no places are kept
     * @param keptForOthers whether some of what is free is kept for somebody
     */
    public Order begin(Order kept, boolean keptForOthers) {
        placesAreKept = keptForOthers;
        for (Line line : keptForOthers ? books.lines() : books.linesNotPlain()) {
            unhurried.put(line, untold(line, null));
            books.touches().add(line);
        }
        seen = books.touches().end();
        Order order = keptForOthers ? new Order(facts) : kept;
        bringUpToDate(order);
        return order;
    }

    /** Has the order follow what was decided. */
    public void bringUpToDate(Order order) {
        followUnhurried();
        order.follow(books, source);
    }

    /** Lets those propose again at whose tenant something changed. */
    private void followUnhurried() {
        Touches touches = books.touches();
        if (!touches.knowsSince(seen)) {
            List.copyOf(books.lines()).forEach(this::renewUnhurried);
        } else {
            for (long place = seen; place < touches.end(); place++) {
                switch (touches.get(place)) {
                    case Line line -> renewUnhurried(line);
                    case Touches.Tried tried -> renewUnhurried(tried.line());
                    case Group group -> renewUnhurried(group.lines());
                    case Group.TenantBounds bounds ->
                        renewUnhurried(bounds.group().tenant());
                    case Touches.Capacity passed ->
                        List.copyOf(boundByCapacity()).forEach(this::renewUnhurried);
                    case FairShareMoved moved -> {}
                }
            }
        }
        seen = touches.end();
    }

    /** What there is at all bounds those of one pool by what is known of their kinds, unless places are kept. */
    private Collection<Line> boundByCapacity() {
        return placesAreKept ? books.lines() : books.linesNotPlain();
    }

    private void renewUnhurried(List<Line> lines) {
        if (placesAreKept || !unhurried.isEmpty()) {
            lines.forEach(this::renewUnhurried);
        }
    }

    private void renewUnhurried(Line line) {
        if (!line.isEmpty() && (placesAreKept || !line.isPlain())) {
            unhurried.put(line, blocked.contains(line) ? null : untold(line, unhurried.get(line)));
        }
    }

    /** Ends the plan: what was tried in vain may be tried in the next. */
    public void end() {
        blocked.forEach(this::touch);
        noted.forEach(this::touch);
    }

    /** There is no free room for an offer. */
    public void noFreeRoom(Offer offer) {
        note(withoutFreeRoom, offer);
    }

    /** Nor can any be made there without borrowing. */
    public void nothingToTakeBack(Offer offer) {
        note(withoutAnythingToTakeBack, offer);
    }

    /** Nor can any be made in that pool. */
    public void noRoomAtAll(Offer offer) {
        note(withoutAnyRoom, offer);
    }

    private void note(Map<Line, Set<PoolId>> notes, Offer offer) {
        notes.computeIfAbsent(offer.line(), line -> new HashSet<>())
                .add(offer.wish().pool());
        noted.add(offer.line());
        touch(offer.line());
    }

    /** The line has nothing left to try in this plan. */
    public void block(Line line) {
        blocked.add(line);
        touch(line);
    }

    private void touch(Line line) {
        books.touches().add(line.tried());
    }

    /** Whether a line whose turn is not worked out ahead has tried all pools. */
    public boolean hasTriedAll(Line line) {
        return untold(line, null) == null;
    }

    private static boolean has(Map<Line, Set<PoolId>> notes, Line line, Wish wish) {
        return !notes.isEmpty() && notes.getOrDefault(line, Set.of()).contains(wish.pool());
    }

    private @Nullable Offer next(Line line, @Nullable Offer before) {
        if (!blocked.isEmpty() && blocked.contains(line)) {
            return null;
        }
        if (placesAreKept || !line.isPlain()) {
            return unhurried.get(line);
        }
        return facts.standing(line.key().path()) == Change.Standing.GOOD ? told(line, before) : null;
    }

    /** What a line of one pool would try, with what is known. */
    private @Nullable Offer told(Line line, @Nullable Offer before) {
        if (!line.isTurn()) {
            return null;
        }
        List<Wish> only = wishes.of(line);
        if (only.isEmpty() || !only.getFirst().mayStart() || has(withoutAnyRoom, line, only.getFirst())) {
            return null;
        }
        Wish wish = only.getFirst();
        boolean free = !has(withoutFreeRoom, line, wish)
                && Admission.ofTenantAtOnce(wish.ask()).isEmpty();
        Kind kind = wish.kind().orElse(null);
        Hope hope = kind == null ? Hope.PERHAPS : hope(line, wish);
        return Offer.of(line, wish, attempt(free), hope, kind, before);
    }

    private Hope hope(Line line, Wish wish) {
        return wishes.couldEver(line, wish)
                ? roomMaker.hope(wish.ask(), line.key().priority(), wish.ofGroup())
                : Hope.NONE;
    }

    private static Offer.Attempt attempt(boolean free) {
        return free ? Offer.Attempt.START : Offer.Attempt.MAKE_ROOM;
    }

    /** What the line's head would try next, whatever is known; empty when there is nothing left to try. */
    private @Nullable Offer untold(Line line, @Nullable Offer before) {
        if (!line.isTurn() || facts.standing(line.key().path()) != Change.Standing.GOOD) {
            return null;
        }
        List<Wish> all = wishes.of(line);
        if (settings.borrow() == Settings.Borrow.AFTER_RECLAIMING && all.size() > 1) {
            Offer offer = withoutBorrowing(line, all, before);
            if (offer != null) {
                return offer;
            }
        }
        List<Offer> lastResorts = new ArrayList<>();
        for (Wish wish : all) {
            boolean mayStart = wish.mayStart();
            if ((mayStart || wishes.least(line, wish).mayStart()) && !has(withoutAnyRoom, line, wish)) {
                boolean free = mayStart
                        && !has(withoutFreeRoom, line, wish)
                        && Admission.atOnce(wish.ask()).isEmpty();
                Offer offer = Offer.of(line, wish, attempt(free), before);
                if (free || settings.spill() == Settings.Spill.AFTER_PREEMPTING) {
                    return offer;
                }
                lastResorts.add(offer);
            }
        }
        for (Offer offer : lastResorts) {
            if (offer.within()) {
                return offer;
            }
        }
        return lastResorts.isEmpty() ? null : lastResorts.getFirst();
    }

    /** In the pools in which the line's head stays within what is reserved: free room in any of them, then room that others give back. */
    private @Nullable Offer withoutBorrowing(Line line, List<Wish> all, @Nullable Offer before) {
        Wish takeBack = null;
        for (Wish wish : all) {
            if (wish.mayStart() && wish.ask().withinReserved()) {
                if (!has(withoutFreeRoom, line, wish)
                        && Admission.atOnce(wish.ask()).isEmpty()) {
                    return Offer.of(line, wish, Offer.Attempt.START, before);
                }
                if (takeBack == null && !has(withoutAnythingToTakeBack, line, wish)) {
                    takeBack = wish;
                }
            }
        }
        return takeBack == null ? null : Offer.of(line, takeBack, Offer.Attempt.TAKE_BACK, before);
    }
}
