package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.GivenUp;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadState;
import io.quartermaster.engine.order.Offer;
import io.quartermaster.engine.order.Order;
import io.quartermaster.engine.order.Proposals;
import io.quartermaster.engine.state.Books;
import io.quartermaster.engine.state.Facts;
import io.quartermaster.engine.state.Line;
import io.quartermaster.engine.state.Wish;
import io.quartermaster.engine.state.Wishes;

import io.quartermaster.engine.placement.Horizon;
import io.quartermaster.engine.placement.Kind;
import io.quartermaster.engine.placement.Request;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.placement.Tenure;
import io.quartermaster.engine.preemption.Claimant;
import io.quartermaster.engine.preemption.Room;
import io.quartermaster.engine.preemption.RoomMaker;
import io.quartermaster.engine.preemption.Stops;
import io.quartermaster.engine.quota.Admission;
import io.quartermaster.engine.quota.Budgets;
import io.quartermaster.engine.quota.PastUse;
import io.quartermaster.engine.quota.QuotaTree;
import io.quartermaster.engine.quota.When;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Makes one plan: fixes the fair shares, starts those for whom a place was kept, then tries the waiting one after the
 * other in their order, each placed, given room, or blocked until the next plan. Takes every decision as done at once.
 */
public final class Planner {
    private final Settings settings;
    private final Facts facts;
    private final Books books;
    private final Demand demand;
    private final Order candidates;
    private final Wishes wishes;
    private final Claims claims;
    private final RoomMaker roomMaker;
    private final Proposals proposals;
    private final Lapses lapses;
    private final Stops stops;
    private final Optional<PastUse> past;
    private final Budgets budgets;
    private final long nowMillis;
    private final Recorder recorder;
    private final Decisions decisions;
    private final Unclaimed unclaimed;
    /** For what these want no room could be made in this plan; what was started of them since has fewer. */
    private final Set<Line> startingWithFewer = new HashSet<>();

    public Planner(
            Settings settings,
            Facts facts,
            Books books,
            Demand demand,
            Order candidates,
            Stops stops,
            Optional<PastUse> past,
            Budgets budgets,
            long nowMillis,
            Recorder recorder) {
        this.recorder = recorder;
        this.budgets = budgets;
        this.past = past;
        this.settings = settings;
        this.facts = facts;
        this.books = books;
        this.demand = demand;
        this.candidates = candidates;
        this.wishes = new Wishes(facts, books);
        this.claims = new Claims(settings, facts, books, wishes, nowMillis);
        this.roomMaker = new RoomMaker(settings, books.cluster(), books.running(), stops, nowMillis);
        this.proposals = new Proposals(settings, facts, books, wishes, roomMaker);
        this.lapses = new Lapses(facts, books);
        this.stops = stops;
        this.nowMillis = nowMillis;
        this.decisions = new Decisions(settings, facts, books, roomMaker, stops, past, nowMillis, recorder);
        this.unclaimed = new Unclaimed(settings, facts, books, budgets, decisions, nowMillis);
    }

    public List<Decision> decide() {
        fixShares();
        recorder.begins(facts, books);
        settleNominations();
        unclaimed.stop();
        claims.make();
        Order order = proposals.begin(candidates, claims.any());
        while (!order.isVain()) {
            Offer offer = order.next();
            recorder.turn(offer, order);
            tryOffer(offer);
            proposals.bringUpToDate(order);
        }
        moveBack();
        proposals.end();
        claims.release();
        return decisions.all();
    }

    /** Whether an eviction was left to the next plan, which has to follow at once. */
    public boolean hasPostponed() {
        return decisions.hasPostponed();
    }

    /** Moves work to pools that it prefers, where nobody who waits could start in what is free there. */
    private void moveBack() {
        for (Workload workload : Line.inTurn(books.away())) {
            if (facts.standing(workload.path()) == Change.Standing.GOOD) {
                wishes.back(workload, roomMaker, settings.graceMillis())
                        .filter(eviction -> decisions.mayEvict(workload.id()))
                        .ifPresent(eviction -> {
                            stops.loses(workload.id());
                            decisions.evict(eviction, Optional.empty());
                        });
            }
        }
    }

    private void fixShares() {
        books.comeTo(nowMillis);
        budgets.tell(books.cluster().meters());
        demand.count();
        for (QuotaTree tree : books.cluster().trees()) {
            long up = 0;
            long heldBeyond =
                    tree.scope().equals(Scope.ALL_POOLS) ? books.cluster().heldInUnknownPoolsGpuMilli() : 0;
            for (Space space : books.cluster().spaces()) {
                if (tree.counts(space.pool().id())) {
                    up += space.capacityGpuMilli();
                    heldBeyond += space.heldBeyondCapacityGpuMilli();
                }
            }
            if (tree.capacityGpuMilli() != up + heldBeyond) {
                // Also by places that were kept on a lost node and are given up.
                tree.capacityGpuMilli(up + heldBeyond);
                books.touches().forgetAll();
            }
            tree.nowMillis(nowMillis);
            past.ifPresent(kept -> kept.tell(tree));
            tree.divide(up, books::fairShareMoved);
        }
        if (past.isPresent() || !budgets.isEmpty()) {
            books.touches().forgetAll();
        }
    }

    /** Starts those whose kept place is free now, and takes back places that are no longer of use. */
    private void settleNominations() {
        unclaimed.giveUpWhatIsToBeDrained();
        for (Workload workload : Line.inTurn(books.nominated())) {
            Allocation place = workload.nomination().orElseThrow();
            Tenure tenure = Books.tenure(workload, place);
            Optional<Space> space = wishes.space(place.pool());
            Optional<GivenUp> lapse =
                    space.map(there -> lapses.of(workload, tenure, there)).orElse(Optional.of(GivenUp.NO_POOL));
            if (lapse.isPresent()) {
                decisions.giveUp(workload, lapse.get());
            } else if (isFreeToStart(workload)
                    && space.get().fits(tenure, Horizon.IGNORING_PROMISES)
                    && Admission.ofPromised(lapses.askOf(workload, place), When.NOW)
                            .isEmpty()) {
                decisions.start(workload, place, Decision.Rule.NOMINATED);
            }
        }
    }

    private static boolean isFreeToStart(Workload workload) {
        return switch (workload.state()) {
            case WorkloadState.Waiting waiting -> true;
            case WorkloadState.Holding holding -> holding.phase().isStaying();
        };
    }

    private void tryOffer(Offer offer) {
        switch (offer.attempt()) {
            case START -> tryToStart(offer);
            case TAKE_BACK -> tryToTakeBack(offer);
            case MAKE_ROOM -> tryToMakeRoom(offer);
            case NONE -> giveUp(offer.line());
        }
    }

    private void tryToStart(Offer offer) {
        Optional<Allocation> place = freePlace(offer, false);
        if (place.isEmpty() && claims.any()) {
            place = freePlace(offer, true);
        }
        if (place.isPresent()) {
            decisions.start(offer.line(), place.get(), rule(offer), claims.has(offer.line()));
            claims.settle(offer.line());
        } else {
            proposals.noFreeRoom(offer);
        }
        claims.standAgain();
    }

    private void tryToTakeBack(Offer offer) {
        if (startingWithFewer.contains(offer.line())) {
            proposals.nothingToTakeBack(offer);
            return;
        }
        switch (makeRoom(offer, offer.wish(), Claimant.Means.TAKING_BACK_RESERVED)) {
            case MADE -> {}
            case POSTPONED -> proposals.block(offer.line());
            case NONE -> proposals.nothingToTakeBack(offer);
        }
    }

    private void tryToMakeRoom(Offer offer) {
        if (startingWithFewer.contains(offer.line())) {
            giveUp(offer.line());
            return;
        }
        if (settings.spill() == Settings.Spill.AFTER_PREEMPTING) {
            switch (makeRoom(offer, offer.wish(), Claimant.Means.STOPPING)) {
                case MADE -> {}
                case POSTPONED -> proposals.block(offer.line());
                case NONE -> {
                    proposals.noRoomAtAll(offer);
                    if (offer.line().takesFewer() && proposals.hasTriedAll(offer.line())) {
                        giveUp(offer.line());
                    }
                }
            }
            return;
        }
        MadeRoom made = MadeRoom.NONE;
        for (Wish wish : wishes.of(offer.line())) {
            if (made == MadeRoom.NONE && wish.mayStart()) {
                made = makeRoom(offer, wish, Claimant.Means.STOPPING);
            }
        }
        switch (made) {
            case MADE -> {}
            case POSTPONED -> proposals.block(offer.line());
            case NONE -> giveUp(offer.line());
        }
    }

    /** What came of an attempt to make room. */
    private enum MadeRoom {
        MADE,
        /** A victim was started by this plan: the next plan, which follows at once, makes the room. */
        POSTPONED,
        NONE
    }

    /** There is no way to what a line asks for: it starts with fewer GPUs, if it takes fewer and they are free, or is blocked. */
    private void giveUp(Line line) {
        for (Wish wish : line.takesFewer() ? wishes.of(line) : List.<Wish>of()) {
            if (startWithFewer(line, wish)) {
                startingWithFewer.add(line);
                return;
            }
        }
        proposals.block(line);
    }

    /** Starts a line's head with as many GPUs as can be had of the pool at once; false if it is none that it takes. */
    private boolean startWithFewer(Line line, Wish wish) {
        Optional<Fewer> best = Optional.empty();
        int low = ((GpuRequest.Whole) line.key().shape().gpus()).fewest();
        int high = ((GpuRequest.Whole) wishes.asked(line).gpus()).count() - 1;
        // Where so many fit and are allowed, fewer are too.
        while (low <= high) {
            int gpus = best.isEmpty() ? low : (low + high + 1) / 2;
            Optional<Fewer> found = fewer(line, wish, gpus);
            if (found.isPresent()) {
                best = found;
                low = gpus + 1;
            } else if (best.isEmpty()) {
                return false;
            } else {
                high = gpus - 1;
            }
        }
        best.ifPresent(found -> {
            decisions.start(line, found.place(), rule(found.offer()), false);
            claims.settle(line);
            claims.standAgain();
        });
        return best.isPresent();
    }

    /** A start with fewer GPUs than asked for. */
    private record Fewer(Offer offer, Allocation place) {}

    private Optional<Fewer> fewer(Line line, Wish wanted, int gpus) {
        Wish wish = wishes.fewer(line, wanted, gpus);
        if (!wish.mayStart() || Admission.atOnce(wish.ask()).isPresent()) {
            return Optional.empty();
        }
        Offer offer = Offer.of(line, wish, Offer.Attempt.START, null);
        claims.stepAside(offer, false);
        Optional<Allocation> place = wish.space().place(wishes.fewer(line, gpus), Horizon.AT_ONCE);
        claims.standAgain();
        return place.map(found -> new Fewer(offer, found));
    }

    /** Where the offer's head would start at once, beside what is claimed or, to backfill, before it is needed. */
    private Optional<Allocation> freePlace(Offer offer, boolean backfill) {
        if (Admission.atOnce(offer.ask()).isPresent()) {
            return Optional.empty();
        }
        claims.stepAside(offer, backfill);
        Optional<Allocation> place = offer.space().place(wishes.request(offer.line()), Horizon.AT_ONCE);
        if (place.isEmpty() && !claims.any()) {
            offer.wish().kind().ifPresent(Kind::didNotFitAtOnce);
        }
        return place;
    }

    private static Decision.Rule rule(Offer offer) {
        if (offer.leaf().tree().isOpen()) {
            return Decision.Rule.OPEN;
        }
        return offer.within() ? Decision.Rule.WITHIN_RESERVED : Decision.Rule.OVER_QUOTA;
    }

    /** Tells victims to stop and keeps the place for the line's head; none when no room can be made, or it would come too late. */
    private MadeRoom makeRoom(Offer offer, Wish wish, Claimant.Means asked) {
        Line line = offer.line();
        if (!wishes.couldEver(line, wish) || !wish.mayStartIn(settings.graceMillis())) {
            return MadeRoom.NONE;
        }
        claims.stepAside(offer, false);
        Workload head = line.head();
        Request request = wishes.request(line);
        Optional<Room> room = roomMaker.makeRoom(
                wish.claimant(head, request, means(head, wish.space().pool(), asked)),
                claims.any() || line.surplus() ? Optional.empty() : wish.kind());
        MadeRoom made = room.map(found -> take(found, head)).orElse(MadeRoom.NONE);
        if (made == MadeRoom.MADE) {
            claims.settle(line);
        }
        claims.standAgain();
        return made;
    }

    private MadeRoom take(Room room, Workload head) {
        boolean now = room.evictions().stream()
                .allMatch(eviction -> decisions.mayEvict(eviction.holder().id()));
        if (!now) {
            return MadeRoom.POSTPONED;
        }
        room.evictions().forEach(eviction -> decisions.evict(eviction, Optional.of(head.id())));
        decisions.keep(head, room.place());
        return MadeRoom.MADE;
    }

    /** What is asked for, unless the pool waits before it stops anything. */
    private Claimant.Means means(Workload claimant, Pool pool, Claimant.Means asked) {
        return pool.waitBeforePreemptingMillis() > 0
                        && nowMillis - claimant.waitsSinceMillis() < pool.waitBeforePreemptingMillis()
                ? Claimant.Means.MOVING_ONLY
                : asked;
    }
}
