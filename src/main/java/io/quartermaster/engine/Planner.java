package io.quartermaster.engine;

import io.quartermaster.engine.placement.Horizon;
import io.quartermaster.engine.placement.Kind;
import io.quartermaster.engine.placement.Request;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.placement.Tenure;
import io.quartermaster.engine.preemption.Claimant;
import io.quartermaster.engine.preemption.Excess;
import io.quartermaster.engine.preemption.Room;
import io.quartermaster.engine.preemption.RoomMaker;
import io.quartermaster.engine.preemption.Stops;
import io.quartermaster.engine.quota.Admission;
import io.quartermaster.engine.quota.Budgets;
import io.quartermaster.engine.quota.Meter;
import io.quartermaster.engine.quota.PastUse;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaTree;
import io.quartermaster.engine.quota.When;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/**
 * Makes one plan: fixes the fair shares, starts those for whom a place was kept, then tries the waiting one after the
 * other in their order, each placed, given room, or blocked until the next plan. Takes every decision as done at once.
 */
final class Planner {
    private final Settings settings;
    private final Facts facts;
    private final Books books;
    private final Memory memory;
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
    private final List<Decision> decisions = new ArrayList<>();
    private final Set<WorkloadId> told = new HashSet<>();
    /** For what these want no room could be made in this plan; what was started of them since has fewer. */
    private final Set<Line> startingWithFewer = new HashSet<>();

    Planner(
            Settings settings,
            Facts facts,
            Books books,
            Memory memory,
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
        this.memory = memory;
        this.wishes = new Wishes(facts, books);
        this.claims = new Claims(settings, facts, books, wishes, nowMillis);
        this.roomMaker = new RoomMaker(settings, books.cluster(), stops, nowMillis);
        this.proposals = new Proposals(settings, facts, books, wishes, roomMaker);
        this.lapses = new Lapses(facts, books);
        this.stops = stops;
        this.nowMillis = nowMillis;
    }

    List<Decision> decide() {
        fixShares();
        recorder.begins(facts, books);
        settleNominations();
        stopIncomplete();
        drain();
        close();
        endBudgets();
        claims.make();
        Order order = proposals.begin(memory.orders(), claims.any());
        while (!order.isVain()) {
            Offer offer = order.next();
            recorder.turn(offer, order);
            tryOffer(offer);
            order = proposals.order(memory.orders());
        }
        moveBack();
        proposals.end();
        claims.release();
        return decisions;
    }

    /** Moves work to pools that it prefers, where nobody who waits could start in what is free there. */
    private void moveBack() {
        List<Workload> away = new ArrayList<>(books.away());
        away.sort(Comparator.comparingInt((Workload workload) -> -workload.priority())
                .thenComparing(Line.FIRST_SUBMITTED));
        for (Workload workload : away) {
            if (facts.standing(workload.path()) == Change.Standing.GOOD) {
                wishes.back(workload, roomMaker).ifPresent(eviction -> {
                    stops.add(workload.id());
                    evict(eviction, Optional.empty());
                });
            }
        }
    }

    private void fixShares() {
        books.comeTo(nowMillis);
        budgets.tell(books.cluster().meters());
        memory.demand().count();
        for (QuotaTree tree : books.cluster().trees()) {
            long up = 0;
            long onLostNodes = 0;
            for (Space space : books.cluster().spaces()) {
                if (tree.counts(space.pool().id())) {
                    up += space.capacityGpuMilli();
                    onLostNodes += space.heldOnLostGpuMilli();
                }
            }
            if (tree.capacityGpuMilli() != up + onLostNodes) {
                // Also by places that were kept on a lost node and are given up.
                tree.capacityGpuMilli(up + onLostNodes);
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
        giveUpWhatIsToBeDrained();
        for (Workload workload : nominated()) {
            Allocation place = workload.nomination().orElseThrow();
            Tenure tenure = Books.tenure(workload, place);
            Optional<Space> space = wishes.space(place.pool());
            Optional<GivenUp> lapse =
                    space.map(there -> lapses.of(workload, tenure, there)).orElse(Optional.of(GivenUp.NO_POOL));
            if (lapse.isPresent()) {
                giveUp(workload, lapse.get());
            } else if (isFreeToStart(workload)
                    && space.get().fits(tenure, Horizon.IGNORING_PROMISES)
                    && Admission.ofPromised(lapses.askOf(workload, place), When.NOW)
                            .isEmpty()) {
                start(workload, place, Decision.Rule.NOMINATED);
            }
        }
    }

    /** All for whom a place is kept, whoever comes first first. */
    private List<Workload> nominated() {
        List<Workload> inOrder = new ArrayList<>(books.nominated());
        inOrder.sort(Comparator.comparingInt((Workload workload) -> -workload.priority())
                .thenComparing(Line.FIRST_SUBMITTED));
        return inOrder;
    }

    private void giveUp(Workload workload, GivenUp why) {
        recorder.gaveUp(workload.nomination().orElseThrow(), why);
        update(workload, workload.withNomination(Optional.empty()));
        decide(new Decision.Denominate(workload.id()));
    }

    /** Where a branch holds more than it may go on holding, what only waits for its place gives that up before anything that runs is stopped. */
    private void giveUpWhatIsToBeDrained() {
        for (QuotaNode node : dueToDrain()) {
            for (Workload workload : nominated().reversed()) {
                boolean counts =
                        node.tree().counts(workload.nomination().orElseThrow().pool())
                                && node.covers(node.tree().leaf(workload.path()));
                if (counts && node.used().next() > node.keptGpuMilli()) {
                    giveUp(workload, GivenUp.LIMIT);
                }
            }
        }
    }

    /** Stops what is left of work whose lost workers were not replaced in time. */
    private void stopIncomplete() {
        for (Workload workload : books.incomplete()) {
            OptionalLong due = incompleteUntil(settings, workload);
            if (due.isPresent() && due.getAsLong() <= nowMillis) {
                if (workload.nomination().isPresent()) {
                    giveUp(workload, GivenUp.INCOMPLETE);
                }
                stopIncomplete(facts.workload(workload.id()));
            }
        }
    }

    private void stopIncomplete(Workload workload) {
        WorkloadState.Holding holding = (WorkloadState.Holding) workload.state();
        long deadline = nowMillis + settings.graceMillis();
        WorkloadState stopping = new WorkloadState.Holding(
                holding.allocation(),
                holding.startedMillis(),
                new WorkloadState.Phase.Stopping(Cause.INCOMPLETE, deadline));
        update(workload, workload.withState(stopping));
        Receipt receipt = new Receipt(
                Receipt.Right.INCOMPLETE,
                List.of(),
                List.of(),
                List.of(new Receipt.Considered(workload.id(), Receipt.Outcome.STOPPED)));
        decide(new Decision.Preempt(workload.id(), Cause.INCOMPLETE, Optional.empty(), deadline, receipt));
    }

    /** Until when lost workers of a workload may be replaced; empty where nobody sets an end to that, or it misses none. */
    static OptionalLong incompleteUntil(Settings settings, Workload workload) {
        return settings.staleGangGraceMillis().isPresent()
                        && workload.state() instanceof WorkloadState.Holding holding
                        && holding.phase() instanceof WorkloadState.Phase.Incomplete incomplete
                ? OptionalLong.of(incomplete.sinceMillis()
                        + settings.staleGangGraceMillis().getAsLong())
                : OptionalLong.empty();
    }

    /** Stops what is held beyond limits that hold for what runs, too. */
    private void drain() {
        for (QuotaNode node : dueToDrain()) {
            new Excess(books.cluster()).of(node).forEach(eviction -> evict(eviction, Optional.empty()));
        }
    }

    private List<QuotaNode> dueToDrain() {
        List<QuotaNode> due = new ArrayList<>();
        for (QuotaTree tree : books.cluster().trees()) {
            for (QuotaNode node : tree.drained()) {
                if (node.drainByMillis().getAsLong() <= nowMillis) {
                    due.add(node);
                }
            }
        }
        return due;
    }

    /** Stops what runs in pools that are closed and let nothing go on. */
    private void close() {
        for (Space space :
                facts.calendar().anyPreemptsAtClose() ? books.cluster().spaces() : List.<Space>of()) {
            boolean stops = space.pool()
                    .hours()
                    .filter(hours -> hours.atClose() == Hours.AtClose.PREEMPT && !hours.isOpenAt(nowMillis))
                    .isPresent();
            if (stops) {
                new Excess(books.cluster())
                        .ofClosed(space.pool().id())
                        .forEach(eviction -> evict(eviction, Optional.empty()));
            }
        }
    }

    /** Stops what runs on budgets of which no more is left than its grace. */
    private void endBudgets() {
        for (Meter meter : books.cluster().meters()) {
            if (meter.isUsedUp()) {
                budgets.useUp(meter);
                for (Space space : books.cluster().spaces()) {
                    if (meter.counts(space.pool().id())) {
                        new Excess(books.cluster())
                                .ofBudget(space.pool().id(), meter)
                                .forEach(eviction -> evict(eviction, Optional.empty()));
                    }
                }
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
            start(offer.line(), place.get(), rule(offer));
            claims.settle(offer.line());
        } else {
            proposals.noFreeRoom(offer);
        }
        claims.standAgain();
    }

    private void tryToTakeBack(Offer offer) {
        if (startingWithFewer.contains(offer.line())
                || !makeRoom(offer, offer.wish(), Claimant.Means.TAKING_BACK_RESERVED)) {
            proposals.nothingToTakeBack(offer);
        }
    }

    private void tryToMakeRoom(Offer offer) {
        if (startingWithFewer.contains(offer.line())) {
            giveUp(offer.line());
            return;
        }
        if (settings.spill() == Settings.Spill.AFTER_PREEMPTING) {
            if (!makeRoom(offer, offer.wish(), Claimant.Means.STOPPING)) {
                proposals.noRoomAtAll(offer);
                if (offer.line().takesFewer() && proposals.hasTriedAll(offer.line())) {
                    giveUp(offer.line());
                }
            }
            return;
        }
        boolean made = false;
        for (Wish wish : wishes.of(offer.line())) {
            made = made || (wish.mayStart() && makeRoom(offer, wish, Claimant.Means.STOPPING));
        }
        if (!made) {
            giveUp(offer.line());
        }
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
        GpuRequest.Whole wanted = (GpuRequest.Whole) line.key().shape().gpus();
        Optional<Fewer> best = Optional.empty();
        int low = wanted.fewest();
        int high = wanted.count() - 1;
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
            start(line, found.place(), rule(found.offer()));
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
        Offer offer = new Offer(line, line.head(), wish, wish.ask().withinReserved(), Offer.Attempt.START);
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

    /** Tells victims to stop and keeps the place for the line's head; false when no room can be made, or it would come too late. */
    private boolean makeRoom(Offer offer, Wish wish, Claimant.Means asked) {
        Line line = offer.line();
        if (!wishes.couldEver(line, wish) || !wish.mayStartIn(settings.graceMillis())) {
            return false;
        }
        claims.stepAside(offer, false);
        Workload head = line.head();
        Request request = wishes.request(line);
        Optional<Room> room = roomMaker.makeRoom(
                wish.claimant(head, request, means(head, wish.space().pool(), asked)),
                claims.any() ? Optional.empty() : wish.kind());
        room.ifPresent(made -> {
            made.evictions().forEach(eviction -> evict(eviction, Optional.of(head.id())));
            update(head, head.withNomination(Optional.of(made.place())));
            decide(new Decision.Nominate(head.id(), made.place()));
            claims.settle(line);
        });
        claims.standAgain();
        return room.isPresent();
    }

    /** What is asked for, unless the pool waits before it stops anything. */
    private Claimant.Means means(Workload claimant, Pool pool, Claimant.Means asked) {
        return pool.waitBeforePreemptingMillis() > 0
                        && nowMillis - claimant.waitsSinceMillis() < pool.waitBeforePreemptingMillis()
                ? Claimant.Means.MOVING_ONLY
                : asked;
    }

    private void evict(Room.Eviction eviction, Optional<WorkloadId> successor) {
        Workload victim = facts.workload(eviction.holder().id());
        WorkloadState.Holding holding = (WorkloadState.Holding) victim.state();
        long deadline = nowMillis + settings.graceMillis();
        if (successor.isPresent() && told.add(victim.id())) {
            stops.add(victim.id());
        }
        if (eviction.whole()) {
            WorkloadState stopping = new WorkloadState.Holding(
                    holding.allocation(),
                    holding.startedMillis(),
                    new WorkloadState.Phase.Stopping(eviction.cause(), deadline));
            update(victim, victim.withState(stopping).withNomination(eviction.movedTo()));
            decide(new Decision.Preempt(victim.id(), eviction.cause(), successor, deadline, eviction.receipt()));
            eviction.movedTo().ifPresent(place -> decide(new Decision.Nominate(victim.id(), place)));
        } else {
            var workers = Books.numbers(eviction.leaving().allocation());
            var allWorkers = new TreeSet<>(workers);
            long lastLeave = deadline;
            if (holding.phase() instanceof WorkloadState.Phase.Shrinking already) {
                allWorkers.addAll(already.workers());
                lastLeave = Math.max(deadline, already.deadlineMillis());
            }
            WorkloadState shrinking = new WorkloadState.Holding(
                    holding.allocation(),
                    holding.startedMillis(),
                    new WorkloadState.Phase.Shrinking(eviction.cause(), allWorkers, lastLeave));
            update(victim, victim.withState(shrinking));
            decide(new Decision.Shrink(
                    victim.id(), workers, eviction.cause(), successor, deadline, eviction.receipt()));
        }
    }

    /** Starts the head of a line, or lets it grow. */
    private void start(Line line, Allocation place, Decision.Rule rule) {
        Workload head = line.head();
        if (head.state() instanceof WorkloadState.Waiting) {
            Workload running = head.withState(WorkloadState.running(place, nowMillis));
            facts.put(running);
            roomMaker.decided();
            books.start(line, running);
            countEntry(head, place);
            decide(new Decision.Start(head.id(), place, rule));
        } else {
            start(head, place, rule);
        }
    }

    /** What starts counts as past use at once, where the settings say so; not again what was stopped against its will. */
    private void countEntry(Workload workload, Allocation place) {
        boolean again = workload.state() instanceof WorkloadState.Waiting waiting && waiting.atHead();
        if (past.isPresent() && settings.entryPenaltyMillis() > 0 && !again) {
            past.get()
                    .start(
                            workload.path(),
                            books.cluster().leaves(place.pool(), workload.path()),
                            place.gpuMilli(),
                            nowMillis);
        }
    }

    private void start(Workload workload, Allocation place, Decision.Rule rule) {
        countEntry(workload, place);
        switch (workload.state()) {
            case WorkloadState.Waiting waiting -> {
                update(
                        workload,
                        workload.withState(WorkloadState.running(place, nowMillis))
                                .withNomination(Optional.empty()));
                decide(new Decision.Start(workload.id(), place, rule));
            }
            case WorkloadState.Holding holding -> {
                WorkloadState grown = holding.with(place, workload.shape());
                update(workload, workload.withState(grown).withNomination(Optional.empty()));
                decide(new Decision.Grow(workload.id(), place, rule));
            }
        }
    }

    private void decide(Decision decision) {
        decisions.add(decision);
        recorder.took(decision);
    }

    private void update(Workload before, Workload after) {
        roomMaker.decided();
        facts.put(after);
        books.replace(before, after);
    }
}
