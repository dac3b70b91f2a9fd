package io.quartermaster.engine;

import io.quartermaster.engine.placement.Horizon;
import io.quartermaster.engine.placement.Request;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.placement.Tenure;
import io.quartermaster.engine.preemption.Claimant;
import io.quartermaster.engine.preemption.Room;
import io.quartermaster.engine.preemption.RoomMaker;
import io.quartermaster.engine.preemption.Stops;
import io.quartermaster.engine.quota.Admission;
import io.quartermaster.engine.quota.Ask;
import io.quartermaster.engine.quota.Ceiling;
import io.quartermaster.engine.quota.PastUse;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaTree;
import io.quartermaster.engine.quota.When;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    private final Wishes wishes;
    private final Order order;
    private final Claims claims;
    private final RoomMaker roomMaker;
    private final Stops stops;
    private final Optional<PastUse> past;
    private final long nowMillis;
    private final List<Decision> decisions = new ArrayList<>();
    private final Set<String> staleTenants = new LinkedHashSet<>();
    private final List<Line> staleLines = new ArrayList<>();
    private final Set<Line> blocked = new HashSet<>();
    private final Set<WorkloadId> told = new HashSet<>();
    private final Map<Line, Set<PoolId>> withoutFreeRoom = new HashMap<>();
    private final Map<Line, Set<PoolId>> withoutAnyRoom = new HashMap<>();

    Planner(Settings settings, Facts facts, Books books, Stops stops, Optional<PastUse> past, long nowMillis) {
        this.past = past;
        this.settings = settings;
        this.facts = facts;
        this.books = books;
        this.wishes = new Wishes(facts, books);
        this.order = new Order(facts);
        this.claims = new Claims(settings, facts, books, wishes, nowMillis);
        this.roomMaker = new RoomMaker(settings, books.cluster(), stops, nowMillis);
        this.stops = stops;
        this.nowMillis = nowMillis;
    }

    List<Decision> decide() {
        fixShares();
        settleNominations();
        claims.make(order);
        for (Line line : books.lines()) {
            renew(line);
        }
        while (!order.isEmpty()) {
            tryOffer(order.next());
            renewStale();
        }
        claims.release();
        return decisions;
    }

    private void fixShares() {
        Map<QuotaTree, Map<QuotaNode, Long>> waiting = new HashMap<>();
        Map<Ceiling, Long> counted = new HashMap<>();
        List<Line> lines = new ArrayList<>(books.lines());
        if (!facts.caps().isEmpty()) {
            lines.sort(Comparator.comparing(Line::head, Line.FIRST_SUBMITTED));
        }
        for (Line line : lines) {
            if (facts.standing(line.key().path()) == Change.Standing.GOOD) {
                countWaiting(line, waiting, counted);
            }
        }
        for (QuotaTree tree : books.cluster().trees()) {
            long up = 0;
            long onLostNodes = 0;
            for (Space space : books.cluster().spaces()) {
                if (tree.scope().equals(Scope.ALL_POOLS)
                        || tree.scope().equals(Scope.of(space.pool().id()))) {
                    up += space.capacityGpuMilli();
                    onLostNodes += space.heldOnLostGpuMilli();
                }
            }
            tree.capacityGpuMilli(up + onLostNodes);
            past.ifPresent(kept -> kept.tell(tree));
            tree.divide(up, waiting.getOrDefault(tree, Map.of()));
        }
    }

    /** Counts a line in the tree of each of its pools, and once in that over all pools. */
    private void countWaiting(Line line, Map<QuotaTree, Map<QuotaNode, Long>> waiting, Map<Ceiling, Long> counted) {
        Set<QuotaTree> countedIn = new HashSet<>();
        long workers = workersWithinCeilings(line, counted);
        for (PoolId pool : line.key().pools()) {
            Optional<Space> space = wishes.space(pool);
            if (space.isPresent()) {
                Ask ask = wishes.ask(line, space.get());
                long wanted = space.get().gpuMilliOf(line.key().shape().gpus()) * workers;
                for (QuotaNode leaf : ask.leaves()) {
                    if (ask.leaves().getFirst().named() && countedIn.add(leaf.tree())) {
                        waiting.computeIfAbsent(leaf.tree(), tree -> new HashMap<>())
                                .merge(leaf, wanted, Long::sum);
                    }
                }
            }
        }
    }

    /** How many of a line's workers the bounds beside the trees leave room for, after the lines before it. */
    private long workersWithinCeilings(Line line, Map<Ceiling, Long> counted) {
        Line.Key key = line.key();
        long workers = line.workersWanted();
        Optional<Space> first = key.pools().stream()
                .flatMap(pool -> wishes.space(pool).stream())
                .findFirst();
        List<Ceiling> ceilings = books.cluster().ceilings().over(key.path(), key.user());
        if (ceilings.isEmpty() || first.isEmpty()) {
            return workers;
        }
        int perWorkload = line.surplus() ? 1 : key.shape().workers();
        long ofOne = first.get().gpuMilliOf(key.shape().gpus()) * perWorkload;
        for (Ceiling ceiling : ceilings) {
            long each = ceiling.countOf(ofOne, !line.surplus());
            long left = ceiling.most() - ceiling.used().next() - counted.getOrDefault(ceiling, 0L);
            workers = each == 0 ? workers : Math.min(workers, Math.max(0, left) / each * perWorkload);
        }
        for (Ceiling ceiling : ceilings) {
            counted.merge(ceiling, workers / perWorkload * ceiling.countOf(ofOne, !line.surplus()), Long::sum);
        }
        return workers;
    }

    /** Starts those whose kept place is free now, and takes back places that are no longer of use. */
    private void settleNominations() {
        List<Workload> inOrder = new ArrayList<>(books.nominated());
        inOrder.sort(Comparator.comparingInt((Workload workload) -> -workload.priority())
                .thenComparing(Line.FIRST_SUBMITTED));
        for (Workload workload : inOrder) {
            Allocation place = workload.nomination().orElseThrow();
            Tenure tenure = Books.tenure(workload, place);
            Optional<Space> space = wishes.space(place.pool());
            if (space.isEmpty() || !standsStill(workload, tenure, space.get())) {
                update(workload, workload.withNomination(Optional.empty()));
                decisions.add(new Decision.Denominate(workload.id()));
            } else if (isFreeToStart(workload)
                    && space.get().fits(tenure, Horizon.IGNORING_PROMISES)
                    && Admission.ofPromised(askOf(workload, place), When.NOW).isEmpty()) {
                start(workload, place, Decision.Rule.NOMINATED);
            }
        }
    }

    private static boolean isFreeToStart(Workload workload) {
        return switch (workload.state()) {
            case WorkloadState.Waiting waiting -> true;
            case WorkloadState.Holding holding -> holding.phase() instanceof WorkloadState.Phase.Running;
        };
    }

    /** Whether a kept place would be given today: the devices are there, and no quota was cut below it. */
    private boolean standsStill(Workload workload, Tenure tenure, Space space) {
        if (workload.held()
                || facts.standing(workload.path()) != Change.Standing.GOOD
                || !space.pool().open()) {
            return false;
        }
        books.cluster().remove(tenure, When.NEXT);
        boolean stands = space.fits(tenure, Horizon.LATER)
                && Admission.ofPromised(askOf(workload, tenure.allocation()), When.NEXT)
                        .isEmpty();
        books.cluster().add(tenure, When.NEXT);
        return stands;
    }

    private Ask askOf(Workload workload, Allocation place) {
        return books.cluster().ask(Books.tenure(workload, place), workload.dedicatedOnly());
    }

    /** Asks a line again for what it would try next; one that has nothing left to try is blocked. */
    private void renew(Line line) {
        Optional<Offer> offer = line.isEmpty() || blocked.contains(line) ? Optional.empty() : offer(line);
        if (offer.isPresent()) {
            order.put(offer.get());
        } else {
            order.remove(line);
            blocked.add(line);
        }
    }

    /** Within a plan only what counts in the same branches of the trees changes what a line would try. */
    private void renewStale() {
        staleLines.forEach(this::renew);
        staleLines.clear();
        books.takeEmptied().forEach(order::remove);
        for (String tenant : staleTenants) {
            for (Line line : books.linesOf(tenant)) {
                if (!blocked.contains(line)) {
                    renew(line);
                }
            }
        }
        staleTenants.clear();
    }

    /** What the line's head would try next; empty when there is nothing left to try. */
    private Optional<Offer> offer(Line line) {
        if (facts.standing(line.key().path()) != Change.Standing.GOOD) {
            return Optional.empty();
        }
        List<Offer> lastResorts = new ArrayList<>();
        for (PoolId pool : line.key().pools()) {
            Optional<Space> space =
                    wishes.space(pool).filter(usable -> usable.pool().open());
            if (space.isEmpty() || has(withoutAnyRoom, line, pool)) {
                continue;
            }
            Ask ask = wishes.ask(line, space.get());
            boolean free =
                    !has(withoutFreeRoom, line, pool) && Admission.atOnce(ask).isEmpty();
            Offer offer = new Offer(line, line.head(), space.get(), ask, ask.withinReserved(), free);
            if (free || settings.spill() == Settings.Spill.AFTER_PREEMPTING) {
                return Optional.of(offer);
            }
            lastResorts.add(offer);
        }
        return lastResorts.stream().filter(Offer::within).findFirst().or(() -> lastResorts.stream()
                .findFirst());
    }

    private void tryOffer(Offer offer) {
        PoolId pool = offer.space().pool().id();
        staleLines.add(offer.line());
        if (offer.free()) {
            Optional<Allocation> place = freePlace(offer, false);
            if (place.isEmpty() && claims.any()) {
                place = freePlace(offer, true);
            }
            if (place.isPresent()) {
                start(offer.head(), place.get(), rule(offer));
                claims.settle(offer.line());
            } else {
                note(withoutFreeRoom, offer.line(), pool);
            }
            claims.standAgain();
        } else if (settings.spill() == Settings.Spill.AFTER_PREEMPTING) {
            if (!makeRoom(offer, offer.space())) {
                note(withoutAnyRoom, offer.line(), pool);
            }
        } else {
            boolean made = false;
            for (PoolId each : offer.line().key().pools()) {
                Optional<Space> space =
                        wishes.space(each).filter(usable -> usable.pool().open());
                made = made || (space.isPresent() && makeRoom(offer, space.get()));
            }
            if (!made) {
                blocked.add(offer.line());
            }
        }
    }

    /** Where the offer's head would start at once, beside what is claimed or, to backfill, before it is needed. */
    private Optional<Allocation> freePlace(Offer offer, boolean backfill) {
        if (Admission.atOnce(offer.ask()).isPresent()) {
            return Optional.empty();
        }
        claims.stepAside(offer, backfill);
        return offer.space().place(wishes.request(offer.line()), Horizon.AT_ONCE);
    }

    private static boolean has(Map<Line, Set<PoolId>> notes, Line line, PoolId pool) {
        return notes.getOrDefault(line, Set.of()).contains(pool);
    }

    private static void note(Map<Line, Set<PoolId>> notes, Line line, PoolId pool) {
        notes.computeIfAbsent(line, key -> new HashSet<>()).add(pool);
    }

    private static Decision.Rule rule(Offer offer) {
        if (offer.leaf().tree().isOpen()) {
            return Decision.Rule.OPEN;
        }
        return offer.within() ? Decision.Rule.WITHIN_RESERVED : Decision.Rule.OVER_QUOTA;
    }

    /** Tells victims to stop and keeps the place for the line's head; false when no room can be made. */
    private boolean makeRoom(Offer offer, Space space) {
        Line line = offer.line();
        if (!wishes.couldEver(line, space)) {
            return false;
        }
        claims.stepAside(offer, false);
        Workload head = line.head();
        Request request = wishes.request(line);
        Ask ask = wishes.ask(line, space);
        Optional<Room> room = roomMaker.makeRoom(
                new Claimant(head.id(), head.path(), head.user(), head.priority(), space, ask, request));
        room.ifPresent(made -> {
            made.evictions().forEach(eviction -> evict(eviction, head.id()));
            update(head, head.withNomination(Optional.of(made.place())));
            decisions.add(new Decision.Nominate(head.id(), made.place()));
            claims.settle(line);
        });
        claims.standAgain();
        return room.isPresent();
    }

    private void evict(Room.Eviction eviction, WorkloadId successor) {
        Workload victim = facts.workload(eviction.holder().id());
        WorkloadState.Holding holding = (WorkloadState.Holding) victim.state();
        long deadline = nowMillis + settings.graceMillis();
        if (told.add(victim.id())) {
            stops.add(victim.id());
        }
        if (eviction.whole()) {
            WorkloadState stopping = new WorkloadState.Holding(
                    holding.allocation(),
                    holding.startedMillis(),
                    new WorkloadState.Phase.Stopping(eviction.cause(), deadline));
            update(victim, victim.withState(stopping).withNomination(eviction.movedTo()));
            decisions.add(new Decision.Preempt(victim.id(), eviction.cause(), successor, deadline, eviction.receipt()));
            eviction.movedTo().ifPresent(place -> decisions.add(new Decision.Nominate(victim.id(), place)));
        } else {
            var workers = Books.numbers(eviction.leaving().allocation());
            var allWorkers = new TreeSet<>(workers);
            if (holding.phase() instanceof WorkloadState.Phase.Shrinking already) {
                allWorkers.addAll(already.workers());
            }
            WorkloadState shrinking = new WorkloadState.Holding(
                    holding.allocation(),
                    holding.startedMillis(),
                    new WorkloadState.Phase.Shrinking(eviction.cause(), allWorkers, deadline));
            update(victim, victim.withState(shrinking));
            decisions.add(new Decision.Shrink(
                    victim.id(), workers, eviction.cause(), successor, deadline, eviction.receipt()));
        }
    }

    private void start(Workload workload, Allocation place, Decision.Rule rule) {
        switch (workload.state()) {
            case WorkloadState.Waiting waiting -> {
                update(
                        workload,
                        workload.withState(WorkloadState.running(place, nowMillis))
                                .withNomination(Optional.empty()));
                decisions.add(new Decision.Start(workload.id(), place, rule));
            }
            case WorkloadState.Holding holding -> {
                WorkloadState grown = new WorkloadState.Holding(
                        holding.allocation().with(place), holding.startedMillis(), holding.phase());
                update(workload, workload.withState(grown).withNomination(Optional.empty()));
                decisions.add(new Decision.Grow(workload.id(), place, rule));
            }
        }
    }

    private void update(Workload before, Workload after) {
        staleTenants.add(before.path().tenant());
        for (QuotaTree tree : books.cluster().trees()) {
            order.touch(tree.leaf(before.path()));
        }
        books.leave(before);
        facts.put(after);
        books.enter(after);
    }
}
