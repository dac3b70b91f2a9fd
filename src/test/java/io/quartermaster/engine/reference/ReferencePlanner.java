package io.quartermaster.engine.reference;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The unpruned reference planner. Every plan is computed from the facts alone, by plain scans.
 *
 * <p>The page on the engine lists what it covers and what it leaves out. It refuses a change that only
 * left-out features use.
 */
final class ReferencePlanner {
    /** Each eviction is compared without its receipt. */
    static final EvictionReceipt NO_RECEIPT =
            new EvictionReceipt(EvictionReceipt.Right.MOVED, List.of(), List.of(), List.of());

    private final Settings settings;
    private final Facts facts = new Facts();

    /** How often each workload was evicted and gained again since the last external event; see "No loops". */
    private final Map<WorkloadId, Integer> returns = new HashMap<>();

    private final Set<WorkloadId> evictedSince = new HashSet<>();

    private final MoveRounds moveRounds = new MoveRounds();

    /** Whether work may be a victim again that "No loops" protected before the last external event. */
    private boolean isFreedOfLoops;

    /** A search for moves. */
    record Search(WorkloadId head, PoolId pool) {}

    // The plan in the making.
    private Set<Search> leftToTheNextPlan = Set.of();
    private long nowMillis;
    private Holdings holdings = Holdings.of(List.of());
    private Cell cell;
    private Admission admission;
    private BackfillReservations backfillReservations;
    private List<Decision> decisions = new ArrayList<>();
    private final Set<WorkloadId> started = new HashSet<>();
    private final Set<Line.Key> blocked = new HashSet<>();
    private final Map<Line.Key, Set<PoolId>> withoutFreeRoom = new HashMap<>();
    private final Map<Line.Key, Set<PoolId>> withoutAnyRoom = new HashMap<>();
    private final Map<Line.Key, Set<PoolId>> withoutAnythingToTakeBack = new HashMap<>();

    ReferencePlanner(Settings settings) {
        this.settings = settings;
        this.cell = new Cell(facts);
        this.admission = new Admission(facts.caps);
        this.backfillReservations = new BackfillReservations(settings, facts, 0);
    }

    void apply(List<Change> changes) {
        for (Change change : changes) {
            if (change instanceof Change.WorkloadSet set
                    && !set.workload().equals(facts.workloads.get(set.workload().id()))) {
                releaseIfHeld(set.workload().id());
            } else if (change instanceof Change.WorkloadRemoved removed) {
                releaseIfHeld(removed.workload());
            }
            if (facts.apply(change)) {
                isFreedOfLoops |= returns.keySet().stream().anyMatch(id -> !mayBeVictim(id));
                returns.clear();
                evictedSince.clear();
                if (!(change instanceof Change.WorkloadSet) && !(change instanceof Change.WorkloadRemoved)) {
                    moveRounds.clear();
                }
            }
        }
    }

    /** Work whose devices change, or that has a nomination, leaves its devices for a moment. */
    private void releaseIfHeld(WorkloadId id) {
        Workload before = facts.workloads.get(id);
        if (before != null
                && (before.nomination().isPresent()
                        || before.state() instanceof WorkloadPhase.Holding holding
                                && !(holding.phase() instanceof WorkloadPhase.Phase.Stopping))) {
            moveRounds.release();
        }
    }

    /** Work that has reached the age or the end of a protection since the last plan may be moved or stopped. */
    private boolean hasComeOfAge(long lastMillis) {
        List<Long> ages = List.of(settings.minRuntimeMillis(), settings.longestMinRuntimeMillis());
        for (Workload workload : facts.workloads.values()) {
            if (workload.state() instanceof WorkloadPhase.Holding holding) {
                for (long age : ages) {
                    long at = holding.startedMillis() + age;
                    if (settings.longestMinRuntimeMillis() > 0 && at > lastMillis && at <= nowMillis) {
                        return true;
                    }
                }
                long until = holding.startedMillis() + settings.patienceMillis().orElse(0);
                if (holding.fromReservation()
                        && settings.patienceMillis().isPresent()
                        && until > lastMillis
                        && until <= nowMillis) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Makes the plan.
     *
     * @param left the searches for moves that exceed the budget of the plan
     */
    List<Decision> plan(long now, Set<Search> left) {
        leftToTheNextPlan = left;
        long lastMillis = nowMillis;
        nowMillis = now;
        if (hasComeOfAge(lastMillis)) {
            moveRounds.release();
        }
        if (isFreedOfLoops) {
            isFreedOfLoops = false;
            moveRounds.release();
        }
        decisions = new ArrayList<>();
        started.clear();
        blocked.clear();
        withoutFreeRoom.clear();
        withoutAnyRoom.clear();
        withoutAnythingToTakeBack.clear();
        holdings = Holdings.of(facts.workloads.values());
        cell = new Cell(facts);
        admission = new Admission(facts.caps);
        settleNominations();
        backfillReservations = new BackfillReservations(settings, facts, nowMillis);
        backfillReservations.reserve(lines(), holdings, this::eligible, this::placementRequest);
        for (List<Candidate> candidates = candidates(); !candidates.isEmpty(); candidates = candidates()) {
            attempt(Candidate.first(candidates, cell, facts, holdings));
        }
        moveRounds.endPlan(!left.isEmpty());
        return Collections.unmodifiableList(decisions);
    }

    // Nominations

    /** A nominated workload starts once its place is free. A nomination ends where its place or its limit is gone. */
    private void settleNominations() {
        List<Workload> nominated = facts.workloads.values().stream()
                .filter(workload -> workload.nomination().isPresent())
                .sorted(Line.IN_TURN)
                .toList();
        for (Workload workload : nominated) {
            Allocation place = workload.nomination().orElseThrow();
            if (!isStillValid(workload, place)) {
                put(workload.withNomination(Optional.empty()));
                decisions.add(new Decision.WithdrawNomination(workload.id()));
            } else if (isFreeNow(workload, place)) {
                start(workload, place, Decision.Rule.NOMINATED, false);
            }
        }
    }

    private boolean isStillValid(Workload workload, Allocation place) {
        Placement pool = cell.pools.get(place.pool());
        Holdings without = holdings.withoutLater(workload.id(), place);
        return pool != null
                && !workload.held()
                && facts.status(workload.path()) == Change.AccountStatus.ACTIVE
                && pool.pool.takesWork()
                && pool.isFree(place, Holdings.Owner.of(workload), without, Moment.LATER)
                && admission
                        .limit(requestOf(workload, place), without, Moment.View.PROJECTED)
                        .isEmpty();
    }

    private boolean isFreeNow(Workload workload, Allocation place) {
        Placement pool = Objects.requireNonNull(cell.pools.get(place.pool()));
        boolean stays = !(workload.state() instanceof WorkloadPhase.Holding holding)
                || holding.phase().isStaying();
        return stays
                && pool.isFree(place, Holdings.Owner.of(workload), holdings, Moment.IGNORING_NOMINATIONS)
                && admission
                        .limit(requestOf(workload, place), holdings, Moment.View.CURRENT)
                        .isEmpty();
    }

    private Admission.Request requestOf(Workload workload, Allocation place) {
        boolean grows = workload.state() instanceof WorkloadPhase.Holding holding
                && holding.phase().isStaying();
        return new Admission.Request(
                workload.id(),
                workload.path(),
                workload.user(),
                cell.leaves(place.pool(), workload.path()),
                place.gpuMilli(),
                !grows,
                workload.preemptible(),
                workload.dedicatedOnly());
    }

    // Candidates

    private List<Candidate> candidates() {
        List<Candidate> candidates = new ArrayList<>();
        for (Line line : lines()) {
            if (!blocked.contains(line.key())) {
                next(line).ifPresent(candidates::add);
            }
        }
        return candidates;
    }

    private List<Line> lines() {
        return Line.of(facts, settings).stream()
                .filter(line -> facts.status(line.key().path()) == Change.AccountStatus.ACTIVE)
                .toList();
    }

    /** The pools in which only fit keeps a class from starting, if its group is below its share without it. */
    private List<Candidate> eligible(Line line) {
        List<Candidate> eligible = new ArrayList<>();
        for (Placement pool : poolsOf(line)) {
            Admission.Request request = request(line, pool);
            boolean onlyFit = admission
                    .now(request, holdings)
                    .filter(bound -> bound != Admission.Bound.CAPACITY)
                    .isEmpty();
            boolean isBelowShare = request.nodes().stream().allMatch(node -> node.used(holdings) < node.entitled());
            if (pool.pool.takesWork() && pool.couldEver(placementRequest(line)) && onlyFit && isBelowShare) {
                eligible.add(candidate(line, pool, Candidate.Attempt.START));
            }
        }
        return eligible;
    }

    /**
     * What a class tries next. With {@code spill: before-preempting}, it tries every pool for free room before room is
     * made in any. It is then classed by the first pool in which it would be within R, else by its first pool.
     */
    private Optional<Candidate> next(Line line) {
        List<Placement> pools = poolsOf(line);
        if (settings.borrow() == Settings.Borrow.AFTER_RECLAIMING && pools.size() > 1) {
            Optional<Candidate> candidate = withoutBorrowing(line, pools);
            if (candidate.isPresent()) {
                return candidate;
            }
        }
        List<Candidate> lastResorts = new ArrayList<>();
        for (Placement pool : pools) {
            if (pool.pool.takesWork() && !has(withoutAnyRoom, line, pool)) {
                boolean free = !has(withoutFreeRoom, line, pool)
                        && admission.now(request(line, pool), holdings).isEmpty();
                Candidate candidate =
                        candidate(line, pool, free ? Candidate.Attempt.START : Candidate.Attempt.MAKE_ROOM);
                if (free || settings.spill() == Settings.Spill.AFTER_PREEMPTING) {
                    return Optional.of(candidate);
                }
                lastResorts.add(candidate);
            }
        }
        return lastResorts.stream()
                .filter(Candidate::withinReserved)
                .findFirst()
                .or(() -> lastResorts.stream().findFirst());
    }

    /** With {@code borrow: after-reclaiming}: first a start within R, reclaiming that reservation if needed. */
    private Optional<Candidate> withoutBorrowing(Line line, List<Placement> pools) {
        Optional<Candidate> takeBack = Optional.empty();
        for (Placement pool : pools) {
            if (pool.pool.takesWork() && request(line, pool).withinReserved(holdings)) {
                if (!has(withoutFreeRoom, line, pool)
                        && admission.now(request(line, pool), holdings).isEmpty()) {
                    return Optional.of(candidate(line, pool, Candidate.Attempt.START));
                }
                if (takeBack.isEmpty() && !has(withoutAnythingToTakeBack, line, pool)) {
                    takeBack = Optional.of(candidate(line, pool, Candidate.Attempt.RECLAIM_RESERVED));
                }
            }
        }
        return takeBack;
    }

    private List<Placement> poolsOf(Line line) {
        return line.key().pools().stream()
                .filter(cell.pools::containsKey)
                .map(cell.pools::get)
                .toList();
    }

    private static boolean has(Map<Line.Key, Set<PoolId>> notes, Line line, Placement pool) {
        return notes.getOrDefault(line.key(), Set.of()).contains(pool.pool.id());
    }

    private static void note(Map<Line.Key, Set<PoolId>> notes, Candidate candidate) {
        notes.computeIfAbsent(candidate.line().key(), key -> new HashSet<>())
                .add(candidate.pool().pool.id());
    }

    private Candidate candidate(Line line, Placement pool, Candidate.Attempt attempt) {
        Admission.Request request = request(line, pool);
        return new Candidate(line, pool, request, request.withinReserved(holdings), attempt);
    }

    private Admission.Request request(Line line, Placement pool) {
        return new Admission.Request(
                line.head().id(),
                line.key().path(),
                line.head().user(),
                cell.leaves(pool.pool.id(), line.key().path()),
                pool.gpuMilliOf(line.key().shape(), line.numbers()),
                !line.isGrowth(),
                line.key().preemptible(),
                line.key().dedicatedOnly());
    }

    /** Surplus workers stay in the domain that the workload requires. */
    private Placement.Request placementRequest(Line line) {
        Optional<String> level = line.key().shape().requiredLevel();
        Placement.Request request = new Placement.Request(
                line.key().shape(), line.numbers(), line.key().path(), node -> true);
        if (level.isEmpty() || !(line.head().state() instanceof WorkloadPhase.Holding holding)) {
            return request;
        }
        int depth = Objects.requireNonNull(facts.pools.get(holding.allocation().pool()))
                        .topologyLevels()
                        .indexOf(level.get())
                + 1;
        Optional<List<String>> domain = holding.allocation().workers().stream()
                .filter(worker -> worker.place() instanceof Allocation.Place.OnNode)
                .map(worker -> facts.nodes.get(((Allocation.Place.OnNode) worker.place()).node()))
                .filter(node -> node != null && node.topology().size() >= depth)
                .map(node -> node.topology().subList(0, depth))
                .findFirst();
        return request.on(node -> domain.isEmpty()
                || node.topology().size() >= depth
                        && node.topology().subList(0, depth).equals(domain.get()));
    }

    // Actions

    private void attempt(Candidate candidate) {
        switch (candidate.attempt()) {
            case START -> tryStart(candidate);
            case RECLAIM_RESERVED -> {
                switch (makeRoom(candidate, candidate.pool(), MakingRoom.Allowed.TAKING_BACK_RESERVED)) {
                    case MADE -> {}
                    case POSTPONED -> blocked.add(candidate.line().key());
                    case NONE -> note(withoutAnythingToTakeBack, candidate);
                }
            }
            case MAKE_ROOM -> tryMakeRoom(candidate);
        }
    }

    private void tryStart(Candidate candidate) {
        Optional<Allocation> place = freePlace(candidate, false).or(() -> freePlace(candidate, true));
        if (place.isPresent()) {
            boolean fromReservation = backfillReservations.has(candidate.line());
            backfillReservations.fulfil(candidate.line());
            start(candidate.line().head(), place.get(), rule(candidate), fromReservation);
        } else {
            note(withoutFreeRoom, candidate);
        }
    }

    /** A place beside the backfill reservations, or as backfill before they need it. */
    private Optional<Allocation> freePlace(Candidate candidate, boolean backfill) {
        return candidate
                .pool()
                .place(
                        placementRequest(candidate.line()),
                        backfillReservations.binding(candidate, holdings, backfill),
                        Moment.NOW);
    }

    private static Decision.Rule rule(Candidate candidate) {
        if (candidate.request().leaves().getFirst().tree.open) {
            return Decision.Rule.OPEN;
        }
        return candidate.withinReserved() ? Decision.Rule.WITHIN_RESERVED : Decision.Rule.OVER_QUOTA;
    }

    private void tryMakeRoom(Candidate candidate) {
        boolean poolByPool = settings.spill() == Settings.Spill.AFTER_PREEMPTING;
        for (Placement pool : poolByPool ? List.of(candidate.pool()) : poolsOf(candidate.line())) {
            if (pool.pool.takesWork()) {
                switch (makeRoom(candidate, pool, MakingRoom.Allowed.STOPPING)) {
                    case MADE -> {
                        return;
                    }
                    case POSTPONED -> {
                        blocked.add(candidate.line().key());
                        return;
                    }
                    case NONE -> {}
                }
            }
        }
        if (poolByPool) {
            note(withoutAnyRoom, candidate);
        } else {
            blocked.add(candidate.line().key());
        }
    }

    /** The result of making room. */
    private enum Room {
        MADE,
        /** A plan never evicts or moves what it starts; the next plan makes the room. */
        POSTPONED,
        NONE
    }

    private Room makeRoom(Candidate candidate, Placement pool, MakingRoom.Allowed asked) {
        Workload head = candidate.line().head();
        boolean mustWait = nowMillis - head.waitsSinceMillis() < pool.pool.waitBeforePreemptingMillis();
        MakingRoom makingRoom = new MakingRoom(
                settings,
                facts,
                cell,
                admission,
                this::mayBeVictim,
                nowMillis,
                new MakingRoom.Preemptor(
                        head,
                        pool,
                        request(candidate.line(), pool),
                        placementRequest(candidate.line()),
                        mustWait ? MakingRoom.Allowed.MOVING_ONLY : asked),
                moveSearch(candidate.line(), pool),
                backfillReservations.binding(candidate, holdings, false));
        if (leftToTheNextPlan.contains(new Search(head.id(), pool.pool.id()))) {
            return Room.POSTPONED;
        }
        Optional<MakingRoom.Solution> solution = makingRoom.solve();
        if (solution.isEmpty()) {
            return Room.NONE;
        }
        if (solution.get().evictions().stream().anyMatch(eviction -> started.contains(eviction.victim()))) {
            return Room.POSTPONED;
        }
        solution.get().evictions().forEach(eviction -> evict(eviction, head.id()));
        backfillReservations.fulfil(candidate.line());
        Workload now = facts.workload(head.id());
        put(now.withNomination(Optional.of(solution.get().place())));
        decisions.add(new Decision.Nominate(head.id(), solution.get().place()));
        return Room.MADE;
    }

    /** Growing work is not remembered, since it is not moved for itself. */
    private MakingRoom.MoveSearch moveSearch(Line line, Placement pool) {
        Shape shape = line.key().shape();
        boolean tenantMatters = facts.nodes.values().stream()
                        .anyMatch(node -> node.pool().equals(pool.pool.id())
                                && node.onlyTenant().isPresent())
                || !(shape.gpus() instanceof GpuRequest.Whole) && pool.pool.sharing() == Pool.Sharing.TENANT;
        MoveRounds.Request request = new MoveRounds.Request(
                pool.pool.id(),
                shape,
                line.numbers().size(),
                tenantMatters ? line.key().path().tenant() : "");
        boolean isRemembered = !line.isGrowth() && line.head().pinnedNode().isEmpty();
        return new MakingRoom.MoveSearch() {
            @Override
            public boolean isAllowed() {
                return !isRemembered || moveRounds.mayBeTried(request);
            }

            @Override
            public void failed() {
                if (isRemembered) {
                    moveRounds.failed(request);
                }
            }
        };
    }

    /** Whether "No loops" permits to evict the workload: not after three evictions with a gain after each. */
    private boolean mayBeVictim(WorkloadId workload) {
        return returns.getOrDefault(workload, 0) < 3;
    }

    // Effects

    private void start(Workload workload, Allocation place, Decision.Rule rule, boolean fromReservation) {
        started.add(workload.id());
        if (evictedSince.remove(workload.id())) {
            returns.merge(workload.id(), 1, Integer::sum);
        }
        switch (workload.state()) {
            case WorkloadPhase.Waiting waiting -> {
                put(workload.withState(WorkloadPhase.running(place, nowMillis, fromReservation))
                        .withNomination(Optional.empty()));
                decisions.add(new Decision.Start(workload.id(), place, rule, fromReservation));
            }
            case WorkloadPhase.Holding holding -> {
                put(workload.withState(holding.with(place, workload.shape())).withNomination(Optional.empty()));
                decisions.add(new Decision.Grow(workload.id(), place, rule));
            }
        }
    }

    private void evict(MakingRoom.Eviction eviction, WorkloadId successor) {
        Workload victim = facts.workload(eviction.victim());
        WorkloadPhase.Holding holding = (WorkloadPhase.Holding) victim.state();
        long deadline = nowMillis + settings.graceMillis();
        EvictionCause cause = eviction.cause();
        evictedSince.add(victim.id());
        if (eviction.whole()) {
            put(victim.withState(holding.in(new WorkloadPhase.Phase.Stopping(cause, deadline)))
                    .withNomination(eviction.movedTo()));
            decisions.add(new Decision.Evict(victim.id(), cause, Optional.of(successor), deadline, NO_RECEIPT));
            eviction.movedTo().ifPresent(place -> decisions.add(new Decision.Nominate(victim.id(), place)));
        } else {
            SortedSet<Integer> numbers = Holdings.numbers(eviction.leaving());
            SortedSet<Integer> leaving = new TreeSet<>(numbers);
            leaving.addAll(Holdings.leaving(holding));
            put(victim.withState(holding.in(new WorkloadPhase.Phase.Shrinking(cause, leaving, deadline))));
            decisions.add(
                    new Decision.Shrink(victim.id(), numbers, cause, Optional.of(successor), deadline, NO_RECEIPT));
        }
    }

    private void put(Workload workload) {
        releaseIfHeld(workload.id());
        facts.workloads.put(workload.id(), workload);
        holdings = Holdings.of(facts.workloads.values());
    }

    // Reasons

    /** Why each workload waits after the plan, per pool. */
    SortedMap<WorkloadId, Map<PoolId, Reason.Code>> reasons() {
        SortedMap<WorkloadId, Map<PoolId, Reason.Code>> reasons = new TreeMap<>();
        for (Workload workload : facts.workloads.values()) {
            if (!workload.held() && workload.state() instanceof WorkloadPhase.Waiting) {
                Map<PoolId, Reason.Code> perPool = new TreeMap<>();
                if (workload.nomination().isPresent()) {
                    perPool.put(workload.nomination().get().pool(), Reason.Code.NOMINATED);
                } else {
                    Line line = new Line(Line.waitingKey(workload, facts, settings), List.of(workload));
                    poolsOf(line).forEach(pool -> perPool.put(pool.pool.id(), reason(line, pool)));
                }
                reasons.put(workload.id(), perPool);
            }
        }
        return reasons;
    }

    /** The first code that applies. */
    private Reason.Code reason(Line line, Placement pool) {
        Admission.Request request = request(line, pool);
        Placement.Request devices = placementRequest(line);
        Change.AccountStatus status = facts.status(line.key().path());
        if (status == Change.AccountStatus.SUSPENDED) {
            return Reason.Code.SUSPENDED;
        }
        if (!pool.pool.hasExecutor()) {
            return Reason.Code.NO_EXECUTOR;
        }
        if (!pool.pool.open()) {
            return Reason.Code.CLOSED;
        }
        if (status == Change.AccountStatus.BUDGET_USED_UP) {
            return Reason.Code.BUDGET;
        }
        if (!pool.couldEver(devices)) {
            return Reason.Code.NO_SUCH_NODE;
        }
        if (pool.isOnlyForClosedNodes(devices)) {
            return Reason.Code.NODES_CLOSED;
        }
        Optional<Admission.Bound> bound =
                admission.firstNow(request, holdings).filter(first -> first != Admission.Bound.CAPACITY);
        if (bound.isPresent()) {
            return bound.get().code;
        }
        boolean fitsIgnoringNominations =
                admission.ignoringNominations(request, holdings).isEmpty()
                        && pool.place(devices, holdings, Moment.IGNORING_NOMINATIONS)
                                .isPresent();
        if (fitsIgnoringNominations) {
            return Reason.Code.BEHIND;
        }
        if (admission.now(request, holdings).isEmpty() && pool.wouldFitIfNodesWereOpen(devices, holdings)) {
            return Reason.Code.NODES_CLOSED;
        }
        return pool.free(holdings, Moment.NOW) < request.gpuMilli() ? Reason.Code.NO_CAPACITY : Reason.Code.FRAGMENTED;
    }
}
