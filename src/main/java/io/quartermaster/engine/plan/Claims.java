package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.order.Offer;
import io.quartermaster.engine.order.Order;
import io.quartermaster.engine.state.Books;
import io.quartermaster.engine.state.Facts;
import io.quartermaster.engine.state.Line;
import io.quartermaster.engine.state.Wish;
import io.quartermaster.engine.state.Wishes;

import io.quartermaster.engine.placement.Horizon;
import io.quartermaster.engine.placement.Request;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.placement.Tenure;
import io.quartermaster.engine.quota.Admission;
import io.quartermaster.engine.quota.Ask;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.When;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The backfill reservations of one plan: for work that has waited for fit alone longer than the patience, and whose group is below its share
 * without it, the place that comes free earliest, as far as running work says when it ends. Nothing but its free part is held; only work that
 * surely ends before all of it is free may use that part meanwhile (EASY backfill: Lifka, JSSPP 1995). A reservation is worked
 * out anew in each plan from what runs and what waits, so there is nothing to store.
 *
 * <p>A reservation does not bind work that could evict its holder as soon as that ran: work of higher priority in its group, and
 * work of other groups within their reservation where its holder is beyond its own.
 */
public final class Claims {
    private static final Comparator<Offer> LONGEST_WAITING = Comparator.<Offer>comparingLong(
                    offer -> offer.head().submittedMillis())
            .thenComparingLong(offer -> offer.head().sequence())
            .thenComparing(offer -> offer.head().id());

    private final Settings settings;
    private final Facts facts;
    private final Books books;
    private final Wishes wishes;
    private final long nowMillis;
    private final List<Claim> claims = new ArrayList<>();

    Claims(Settings settings, Facts facts, Books books, Wishes wishes, long nowMillis) {
        this.settings = settings;
        this.facts = facts;
        this.books = books;
        this.wishes = wishes;
        this.nowMillis = nowMillis;
    }

    /** When a line's head has waited long enough for a claim; empty if it never gets one. */
    public static OptionalLong dueMillis(Settings settings, Line line) {
        return settings.patienceMillis().isPresent() && !line.surplus()
                ? OptionalLong.of(waitsSince(line) + settings.patienceMillis().getAsLong())
                : OptionalLong.empty();
    }

    /** Since when the one that waits longest does, as far as victims, which are at the head, and the first behind them tell. */
    private static long waitsSince(Line line) {
        long since = Long.MAX_VALUE;
        for (Workload member : line.members()) {
            since = Math.min(since, member.waitsSinceMillis());
            if (!Line.isAtHead(member)) {
                break;
            }
        }
        return since;
    }

    /** One claim; {@code held} is the part of its place that is held now. */
    private static final class Claim {
        private final Offer offer;
        private final Tenure place;
        private final long freeAtMillis;
        private Optional<Tenure> held = Optional.empty();

        Claim(Offer offer, Tenure place, long freeAtMillis) {
            this.offer = offer;
            this.place = place;
            this.freeAtMillis = freeAtMillis;
        }

        void hold(Horizon horizon) {
            held = offer.space().freePart(place, horizon);
            held.ifPresent(part -> offer.space().add(part, When.NEXT));
        }

        void release() {
            held.ifPresent(part -> offer.space().remove(part, When.NEXT));
            held = Optional.empty();
        }
    }

    /** The reservations of all that are due, in their order. */
    void make() {
        List<Line> due = new ArrayList<>();
        for (Line line : settings.patienceMillis().isPresent() ? books.lines() : List.<Line>of()) {
            OptionalLong from = dueMillis(settings, line);
            boolean may = line.isTurn() && facts.standing(line.key().path()) == Change.Standing.GOOD;
            if (may && from.isPresent() && from.getAsLong() <= nowMillis) {
                due.add(line);
            }
        }
        Map<Line, Offer> withoutRequest = new LinkedHashMap<>();
        for (Line line : due) {
            eligible(line).stream().findFirst().ifPresent(offer -> withoutRequest.put(line, withoutRequest(offer)));
        }
        Order order = new Order(facts);
        while (!withoutRequest.isEmpty() && claims.size() < settings.backfillReservations()) {
            Line next = first(withoutRequest.values(), order);
            withoutRequest.remove(next);
            earliest(next).ifPresent(claim -> {
                claim.hold(Horizon.AT_ONCE);
                claims.add(claim);
            });
        }
    }

    /** The pools in which nothing but fit is in the line's way. */
    private List<Offer> eligible(Line line) {
        List<Offer> offers = new ArrayList<>();
        for (Wish wish : wishes.of(line)) {
            if (wish.mayStart() && wishes.couldEver(line, wish)) {
                Ask ask = wish.ask();
                Optional<Admission.Hit> hit = Admission.atOnce(ask);
                boolean onlyFit = hit.isEmpty() || hit.get().bound() == Admission.Bound.CAPACITY;
                if (onlyFit && isBelowItsShare(ask)) {
                    offers.add(Offer.of(line, wish, Offer.Attempt.START, null));
                }
            }
        }
        return offers;
    }

    /** Without what is asked for: workloads are indivisible, so their start may take a group above its share. */
    private static boolean isBelowItsShare(Ask ask) {
        for (QuotaNode node : ask.path()) {
            if (node.used().next() >= node.entitledGpuMilli()) {
                return false;
            }
        }
        return true;
    }

    private static Offer withoutRequest(Offer offer) {
        return Offer.of(offer.line(), offer.wish().with(offer.ask().with(1)), Offer.Attempt.START, null);
    }

    /**
     * The line whose reservation is made next: in the order of start without what is asked for, by which the group is entitled, too. Between
     * groups the one that waits longest is first. Their shares change with all that ends, so that by these another group would overtake at
     * the very moment at which all that is kept is free.
     *
     * @param offers at least one, without what is asked for
     */
    private static Line first(Collection<Offer> offers, Order order) {
        List<Offer> contenders = order.contenders(offers);
        Offer oldest = Collections.min(contenders, LONGEST_WAITING);
        return contenders.stream()
                .filter(offer ->
                        offer.line().key().path().equals(oldest.line().key().path()))
                .min(Offer.IN_GROUP)
                .orElse(oldest)
                .line();
    }

    private Optional<Claim> earliest(Line line) {
        Claim best = null;
        for (Offer offer : eligible(line)) {
            Request request = wishes.request(line);
            Optional<Allocation> now = offer.space().place(request, Horizon.AT_ONCE);
            if (now.isPresent()) {
                return Optional.of(new Claim(offer, tenure(offer, now.get()), nowMillis));
            }
            Optional<Claim> later = afterOthersEnd(offer, request);
            if (later.isPresent() && (best == null || later.get().freeAtMillis < best.freeAtMillis)) {
                best = later.get();
            }
        }
        return Optional.ofNullable(best);
    }

    private static Tenure tenure(Offer offer, Allocation place) {
        return Books.tenure(offer.head(), place);
    }

    /** Lets running work end in the order in which it says it will, until there is a place. */
    private Optional<Claim> afterOthersEnd(Offer offer, Request request) {
        Space space = offer.space();
        List<Endings.Ending> gone = new ArrayList<>();
        Optional<Allocation> place = space.place(request, Horizon.LATER);
        Endings endings = Endings.of(facts, space.pool().id(), nowMillis);
        long freeAt = endings.lastLeavesMillis();
        for (Endings.Ending ending : endings.inOrder()) {
            if (place.isPresent()) {
                break;
            }
            space.remove(ending.tenure(), When.NEXT);
            gone.add(ending);
            freeAt = Math.max(freeAt, ending.atMillis());
            claims.forEach(earlier -> {
                earlier.release();
                earlier.hold(Horizon.LATER);
            });
            place = space.freeGpuMilli(Horizon.LATER) >= request.leastGpuMilli()
                    ? space.place(request, Horizon.LATER)
                    : Optional.empty();
        }
        if (!gone.isEmpty()) {
            claims.reversed().forEach(Claim::release);
            gone.reversed().forEach(ending -> space.add(ending.tenure(), When.NEXT));
            standAgain();
        }
        long free = freeAt;
        return place.map(found -> new Claim(offer, tenure(offer, found), free));
    }

    /** Whether there are any. */
    boolean any() {
        return !claims.isEmpty();
    }

    /** Whether a line's head has one. */
    boolean has(Line line) {
        return claims.stream().anyMatch(claim -> claim.offer.line() == line);
    }

    /**
     * Lets go, until {@link #standAgain}, of what is no obstacle to an offer.
     *
     * @param backfill also of what the offer's head would have left again before the claimant needs it
     */
    void stepAside(Offer offer, boolean backfill) {
        for (Claim claim : claims) {
            if (!binds(claim, offer) || (backfill && endsBefore(claim, offer.head()))) {
                claim.release();
            }
        }
    }

    /** Whether an offer in the claim's pool may take nothing back from the claimant because of a fence around itself. */
    private static boolean isFenced(Claim claim, Offer offer) {
        List<QuotaNode> mine = offer.ask().leaves();
        List<QuotaNode> claimants = claim.offer.ask().leaves();
        boolean fenced = false;
        for (int i = 0; i < Math.min(mine.size(), claimants.size()) && claim.offer.space() == offer.space(); i++) {
            fenced |= mine.get(i).fenceAgainst(claimants.get(i)).isPresent();
        }
        return fenced;
    }

    private static boolean binds(Claim claim, Offer offer) {
        boolean own = claim.offer.line() == offer.line();
        boolean sameGroup =
                claim.offer.line().key().path().equals(offer.line().key().path());
        boolean mayPreempt =
                sameGroup && offer.head().priority() > claim.offer.head().priority();
        boolean mayReclaim = !sameGroup && offer.within() && !claim.offer.within() && !isFenced(claim, offer);
        return !own && !mayPreempt && !mayReclaim;
    }

    private boolean endsBefore(Claim claim, Workload workload) {
        return workload.maxRuntimeMillis().isPresent()
                && claim.freeAtMillis != Endings.NEVER
                && nowMillis + workload.maxRuntimeMillis().getAsLong() <= claim.freeAtMillis;
    }

    /** Holds again what others left of each claim. */
    void standAgain() {
        for (Claim claim : claims) {
            claim.release();
            claim.hold(Horizon.AT_ONCE);
        }
    }

    /** The line's head starts, or has a place kept in another way. */
    void settle(Line line) {
        for (Claim claim : List.copyOf(claims)) {
            if (claim.offer.line() == line) {
                claim.release();
                claims.remove(claim);
            }
        }
    }

    /** Leaves no trace in the books. */
    void release() {
        claims.reversed().forEach(Claim::release);
        claims.clear();
    }
}
