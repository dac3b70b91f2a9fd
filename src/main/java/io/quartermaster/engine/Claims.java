package io.quartermaster.engine;

import io.quartermaster.engine.placement.Horizon;
import io.quartermaster.engine.placement.Request;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.placement.Tenure;
import io.quartermaster.engine.quota.Admission;
import io.quartermaster.engine.quota.Ask;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.When;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What is kept, for the length of one plan, for those who waited longer than the patience for fit alone: the place that
 * comes free earliest, as far as running work says when it ends. Nothing but its free part is held; only work that
 * surely ends before all of it is free may use that part meanwhile (EASY backfill: Lifka, JSSPP 1995). A claim is worked
 * out anew in each plan from who runs and who waits, so there is nothing to store.
 *
 * <p>A claim does not bind whoever could make the claimant give way as soon as it ran: higher priority in its group, and
 * work within its reservation where the claimant is beyond its own. No one claims who is above its share already.
 */
final class Claims {
    /** More claims than this at a time would keep nothing free for anybody. */
    private static final int MOST = 64;

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
    static OptionalLong dueMillis(Settings settings, Line line) {
        return settings.patienceMillis().isPresent() && !line.surplus()
                ? OptionalLong.of(line.head().submittedMillis()
                        + settings.patienceMillis().getAsLong())
                : OptionalLong.empty();
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

    /** Makes the claims of all who are due, in the order in which they would be tried. */
    void make() {
        List<Line> due = new ArrayList<>();
        for (Line line : settings.patienceMillis().isPresent() ? books.lines() : List.<Line>of()) {
            OptionalLong from = dueMillis(settings, line);
            boolean may = line.isTurn() && facts.standing(line.key().path()) == Change.Standing.GOOD;
            if (may && from.isPresent() && from.getAsLong() <= nowMillis) {
                due.add(line);
            }
        }
        List<Offer> offers = new ArrayList<>();
        for (Line line : due) {
            eligible(line).stream().findFirst().ifPresent(offers::add);
        }
        Order order = new Order(facts);
        while (!offers.isEmpty() && claims.size() < MOST) {
            Offer next = order.next(offers);
            offers.remove(next);
            earliest(next.line()).ifPresent(claim -> {
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
                if (onlyFit && notAboveItsShare(ask)) {
                    offers.add(Offer.of(line, wish, Offer.Attempt.START, null));
                }
            }
        }
        return offers;
    }

    private static boolean notAboveItsShare(Ask ask) {
        for (QuotaNode node : ask.path()) {
            if (node.used().next() > node.entitledGpuMilli()) {
                return false;
            }
        }
        return true;
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
        for (int i = 0; i < mine.size() && claim.offer.space() == offer.space(); i++) {
            fenced |= mine.get(i).fenceAgainst(claimants.get(i)).isPresent();
        }
        return fenced;
    }

    private static boolean binds(Claim claim, Offer offer) {
        boolean own = claim.offer.line() == offer.line();
        boolean mayPreempt =
                claim.offer.line().key().path().equals(offer.line().key().path())
                        && offer.head().priority() > claim.offer.head().priority();
        boolean mayReclaim = offer.within() && !claim.offer.within() && !isFenced(claim, offer);
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
