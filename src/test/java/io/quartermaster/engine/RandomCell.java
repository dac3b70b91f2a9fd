package io.quartermaster.engine;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.ConcurrencyCaps;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QueueId;
import io.quartermaster.engine.model.QueueOrder;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.ReservationWindow;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.WorkerSlice;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Small random cell with a shell that never fails: it carries out decisions, lets victims leave, and creates events.
 * Its stored state suffices to rebuild the engine.
 */
public final class RandomCell {
    private static final int MOST_BUDGET_SECONDS = 150;
    private static final int MOST_TIGHT_BUDGET_SECONDS = 8;

    final Random random;
    final Settings settings;
    final SortedMap<PoolId, Pool> pools;
    final SortedMap<NodeId, Node> nodes;
    final SortedMap<String, Quota> quotas;
    final SortedMap<QuotaPath, ConcurrencyCaps> caps;
    final List<ReservationWindow> calendar = new ArrayList<>();
    final SortedSet<QueueId> strictQueues = new TreeSet<>();
    final SortedMap<WorkloadId, Workload> workloads = new TreeMap<>();
    final List<Decision> decisions = new ArrayList<>();
    public Engine engine;
    long nowMillis;

    private final RandomTerms terms;
    private final List<QuotaPath> paths;
    private final boolean wholeUnits;
    private final boolean victimsVary;
    private int submitted;

    public RandomCell(long seed) {
        this(new Random(seed), RandomTerms::of, Kind.ANY);
    }

    /** Kind of random cell. */
    private enum Kind {
        ANY,
        WITHOUT_BUDGETS,
        WHOLE_UNITS,
        /** A history uses up the budgets of the cell. */
        TIGHT_BUDGETS,
        /** Some victims leave before their deadline, and some after it. */
        VICTIMS_VARY
    }

    private RandomCell(Random random, Function<Random, RandomTerms> randomTerms, Kind kind) {
        this.random = random;
        this.wholeUnits = kind == Kind.WHOLE_UNITS;
        this.victimsVary = kind == Kind.VICTIMS_VARY;
        terms = randomTerms.apply(random);
        settings = terms.settings;
        pools = terms.pools;
        nodes = terms.nodes;
        quotas = terms.quotas;
        caps = terms.caps;
        paths = terms.paths;
        engine = new Engine(settings);
        if (!wholeUnits && chance(3)) {
            calendar.addAll(RandomCalendar.of(random, quotas.values()));
        }
        for (QuotaPath path : paths) {
            if (!wholeUnits && chance(4)) {
                strictQueues.add(queue(path));
            }
        }
        if (kind == Kind.ANY && chance(4)) {
            engine.apply(terms.randomBudgets(random, MOST_BUDGET_SECONDS));
        }
        if (kind == Kind.TIGHT_BUDGETS) {
            engine.apply(terms.randomBudgets(random, MOST_TIGHT_BUDGET_SECONDS));
        }
        engine.apply(facts());
    }

    /**
     * A cell in which only quotas can prevent a start: one counted pool, whole units, preemptible work, and no more
     * reservations than capacity.
     */
    static RandomCell ofWholeUnits(long seed) {
        return new RandomCell(new Random(seed), RandomTerms::ofWholeUnits, Kind.WHOLE_UNITS);
    }

    /** A cell in which an event affects few other workloads. */
    static RandomCell ofThoseWhoLeaveOthersAlone(long seed) {
        return new RandomCell(new Random(seed), RandomTerms::whichLeaveOthersAlone, Kind.WITHOUT_BUDGETS);
    }

    /** A cell whose victims leave one after the other, some before their deadline and some after it. */
    static RandomCell ofVictimsThatVary(long seed) {
        return new RandomCell(new Random(seed), RandomTerms::withGraceAndPatience, Kind.VICTIMS_VARY);
    }

    /** A cell in which some budgets are used up from the start or soon. */
    static RandomCell ofTightBudgets(long seed) {
        return new RandomCell(new Random(seed), RandomTerms::of, Kind.TIGHT_BUDGETS);
    }

    boolean chance(int oneIn) {
        return random.nextInt(oneIn) == 0;
    }

    /** Creates an event: mostly a submission, sometimes an end, a lost node or a changed quota; and time passes. */
    public void happen() {
        nowMillis += random.nextInt(3) * 1000L;
        switch (random.nextInt(10)) {
            case 0, 1 -> endOne();
            case 2 -> {
                if (chance(2)) {
                    turnOneNode();
                } else if (!wholeUnits) {
                    placeOne();
                }
            }
            case 3 -> {
                if (!wholeUnits && chance(2)) {
                    changeOneQuota();
                }
            }
            default -> {
                for (int i = 0; i <= random.nextInt(4); i++) {
                    submit();
                }
            }
        }
        leaveAllDue();
    }

    private void submit() {
        List<PoolId> order = new ArrayList<>(pools.keySet());
        Collections.shuffle(order, random);
        List<PoolId> wanted = chance(3) ? order.subList(0, 1) : order;
        int id = submitted++;
        Workload plain = Workload.waiting(
                new WorkloadId("w" + id),
                paths.get(random.nextInt(paths.size())),
                randomShape(),
                wanted,
                nowMillis,
                id);
        set(new Workload(
                plain.id(),
                plain.path(),
                Optional.of("u" + random.nextInt(2)),
                chance(3) ? Optional.of(RandomTerms.PROFILES.get(random.nextInt(2))) : Optional.empty(),
                chance(2) ? Optional.of(queue(plain.path())) : Optional.empty(),
                plain.shape(),
                plain.pools(),
                10 + 40 * random.nextInt(3),
                wholeUnits || !chance(5),
                !wholeUnits && chance(10),
                chance(5),
                plain.submittedMillis(),
                plain.sequence(),
                chance(2) ? OptionalLong.of(1_000L * (1 + random.nextInt(20))) : OptionalLong.empty(),
                false,
                plain.state(),
                plain.nomination()));
    }

    private static QueueId queue(QuotaPath path) {
        return new QueueId("q " + path);
    }

    private Shape randomShape() {
        Shape whole = Shape.ofWholeGpus(1 + random.nextInt(4));
        if (wholeUnits) {
            return whole;
        }
        return switch (random.nextInt(8)) {
            case 0 -> of(1, 1, new GpuRequest.Fraction(1, 100 * (1 + random.nextInt(9))), Optional.empty());
            case 1 -> of(1, 1, new GpuRequest.Fraction(2, 500), Optional.empty());
            case 2 -> of(1, 1, new GpuRequest.Memory(1, 1024L * (1 + random.nextInt(80))), Optional.empty());
            case 3 -> of(1, 1, new GpuRequest.Mig(chance(2) ? "1g.10gb" : "3g.40gb"), Optional.empty());
            case 4 -> chance(3) ? ofSets() : of(2 + random.nextInt(2), 1, GpuRequest.whole(1), Optional.empty());
            case 5 -> {
                if (chance(3)) {
                    int slices = 1 + random.nextInt(2);
                    yield Shape.ofWorkers(2 * slices, GpuRequest.whole(1))
                            .minWorkers(chance(2) ? 2 : 2 * slices)
                            .slice(Optional.of(new WorkerSlice(2, "rack")))
                            .shape();
                }
                int workers = 2 + random.nextInt(3);
                yield of(workers, workers, GpuRequest.whole(1), chance(2) ? Optional.of("rack") : Optional.empty());
            }
            default -> chance(4) ? whole.with(fewer(whole)) : whole;
        };
    }

    private Shape ofSets() {
        Shape workers = of(
                2 + random.nextInt(2),
                1 + random.nextInt(2),
                GpuRequest.whole(1),
                chance(2) ? Optional.of("rack") : Optional.empty());
        return Shape.ofWorkers(1, chance(2) ? GpuRequest.whole(0) : new GpuRequest.Fraction(1, 500))
                .further(List.of(workers), chance(2) ? Optional.of("rack") : Optional.empty())
                .shape();
    }

    private GpuRequest fewer(Shape whole) {
        int count = ((GpuRequest.Whole) whole.gpus()).count();
        return new GpuRequest.Whole(count, 1 + random.nextInt(count));
    }

    private static Shape of(int workers, int minWorkers, GpuRequest gpus, Optional<String> level) {
        return Shape.ofWorkers(workers, gpus)
                .minWorkers(minWorkers)
                .requiredLevel(level)
                .shape();
    }

    private void endOne() {
        if (!workloads.isEmpty()) {
            List<WorkloadId> ids = List.copyOf(workloads.keySet());
            WorkloadId id = ids.get(random.nextInt(ids.size()));
            workloads.remove(id);
            engine.apply(List.of(new Change.WorkloadRemoved(id)));
        }
    }

    /** Gives waiting work a place, as an admin does. */
    private void placeOne() {
        for (Workload workload : List.copyOf(workloads.values())) {
            if (workload.state() instanceof WorkloadPhase.Waiting waiting && chance(2)) {
                set(workload.withState(
                        waiting.at(chance(3) ? OptionalLong.empty() : OptionalLong.of(random.nextInt(3)))));
            }
        }
    }

    private void turnOneNode() {
        if (!nodes.isEmpty()) {
            Node node = List.copyOf(nodes.values()).get(random.nextInt(nodes.size()));
            Node turned = chance(3)
                    ? node.withSchedulable(!node.schedulable())
                    : node.up() ? node.down() : node.upAndSchedulable();
            nodes.put(turned.id(), turned);
            engine.apply(List.of(new Change.NodeSet(turned)));
            if (node.up() && !turned.up()) {
                for (Workload workload : List.copyOf(workloads.values())) {
                    if (workload.state() instanceof WorkloadPhase.Holding holding
                            && holding.allocation().touches(turned.id())) {
                        set(workload.withState(afterLoss(workload, holding, turned.id())));
                    }
                }
            }
        }
    }

    /** The phase after the loss of a node: if lost workers are replaced, the remaining workers continue. */
    private WorkloadPhase afterLoss(Workload workload, WorkloadPhase.Holding holding, NodeId node) {
        Allocation rest = holding.allocation().without(holding.allocation().numbersOn(node));
        boolean replaces = settings.staleGangGraceMillis().isPresent()
                && holding.phase().isStaying()
                && !rest.workers().isEmpty();
        if (!replaces) {
            return WorkloadPhase.waiting();
        }
        boolean complete = workload.shape().isEnough(rest);
        return holding.without(
                holding.allocation().numbersOn(node),
                complete || holding.phase() instanceof WorkloadPhase.Phase.Incomplete
                        ? holding.phase()
                        : new WorkloadPhase.Phase.Incomplete(nowMillis));
    }

    private void changeOneQuota() {
        if (!quotas.isEmpty()) {
            List<Quota> all = List.copyOf(quotas.values());
            Quota old = all.get(random.nextInt(all.size()));
            Quota changed = terms.randomQuota(old.path(), old.scope());
            terms.put(changed);
            engine.apply(List.of(new Change.QuotaSet(changed)));
        }
    }

    private void set(Workload workload) {
        workloads.put(workload.id(), workload);
        engine.apply(List.of(new Change.WorkloadSet(workload)));
    }

    /** Plans once, stores the decisions, and applies the stored state to the engine. */
    public Plan plan() {
        Plan plan = engine.plan(nowMillis);
        carryOut(plan);
        return plan;
    }

    void carryOut(Plan plan) {
        plan.decisions().forEach(this::carryOut);
        plan.decisions().forEach(decision -> set(workload(decision.workload())));
    }

    Workload workload(WorkloadId id) {
        return Objects.requireNonNull(workloads.get(id), id::value);
    }

    void carryOut(Decision decision) {
        decisions.add(decision);
        Workload workload = workload(decision.workload());
        workloads.put(
                workload.id(),
                switch (decision) {
                    case Decision.Start start
                    when !mayStart(workload, start) ->
                        throw new AssertionError(workload.id() + " starts elsewhere than where it is paused");
                    case Decision.Start start ->
                        workload.withState(
                                        WorkloadPhase.running(start.allocation(), nowMillis, start.fromReservation()))
                                .withNomination(Optional.empty());
                    case Decision.Grow grow -> {
                        WorkloadPhase.Holding holding = (WorkloadPhase.Holding) workload.state();
                        yield workload.withState(holding.with(grow.added(), workload.shape()))
                                .withNomination(Optional.empty());
                    }
                    case Decision.Evict evict ->
                        phase(workload, new WorkloadPhase.Phase.Stopping(evict.cause(), evict.deadlineMillis()));
                    case Decision.Shrink shrink ->
                        phase(
                                workload,
                                new WorkloadPhase.Phase.Shrinking(
                                        shrink.cause(),
                                        withThoseThatLeave(workload, shrink.workers()),
                                        shrink.deadlineMillis()));
                    case Decision.Nominate nominate -> workload.withNomination(Optional.of(nominate.place()));
                    case Decision.WithdrawNomination withdrawNomination -> workload.withNomination(Optional.empty());
                });
    }

    private static SortedSet<Integer> withThoseThatLeave(Workload workload, SortedSet<Integer> more) {
        SortedSet<Integer> workers = new TreeSet<>(more);
        if (workload.state() instanceof WorkloadPhase.Holding holding
                && holding.phase() instanceof WorkloadPhase.Phase.Shrinking already) {
            workers.addAll(already.workers());
        }
        return workers;
    }

    private static boolean mayStart(Workload workload, Decision.Start start) {
        return workload.pinnedNode().map(start.allocation()::touches).orElse(true);
    }

    private static Workload phase(Workload workload, WorkloadPhase.Phase phase) {
        return workload.withState(((WorkloadPhase.Holding) workload.state()).in(phase));
    }

    /** Lets all victims leave that are due. */
    void leaveAllDue() {
        for (Workload workload : List.copyOf(workloads.values())) {
            if (workload.state() instanceof WorkloadPhase.Holding holding) {
                switch (holding.phase()) {
                    case WorkloadPhase.Phase.Running running -> {}
                    case WorkloadPhase.Phase.Incomplete incomplete -> {}
                    case WorkloadPhase.Phase.Stopping stopping -> {
                        if (leaves(stopping.deadlineMillis())) {
                            set(workload.withState(WorkloadPhase.waitingAgain(nowMillis, pausedOn(workload, holding))));
                        }
                    }
                    case WorkloadPhase.Phase.Shrinking shrinking -> {
                        if (leaves(shrinking.deadlineMillis())) {
                            set(workload.withState(
                                    holding.without(shrinking.workers(), new WorkloadPhase.Phase.Running())));
                        }
                    }
                }
            }
        }
    }

    private boolean leaves(long deadlineMillis) {
        return victimsVary ? chance(deadlineMillis <= nowMillis ? 2 : 4) : deadlineMillis <= nowMillis;
    }

    /** The node of the victim's paused processes; some victims leave such processes and can continue only there. */
    private Optional<NodeId> pausedOn(Workload workload, WorkloadPhase.Holding holding) {
        boolean stays =
                workload.shape().allWorkers() == 1 && workload.nomination().isEmpty() && chance(2);
        return stays && holding.allocation().workers().getFirst().place() instanceof Allocation.Place.OnNode place
                ? Optional.of(place.node())
                : Optional.empty();
    }

    /** Plans, and lets due victims leave, until a plan has no decisions and no victim is leaving. */
    boolean settle(int mostPlans) {
        for (int i = 0; i < mostPlans; i++) {
            boolean still = plan().decisions().isEmpty();
            OptionalLong deadline = nextDeadline();
            if (still && deadline.isEmpty()) {
                return true;
            }
            if (still) {
                nowMillis = Math.max(nowMillis, deadline.getAsLong());
            }
            leaveAllDue();
        }
        return false;
    }

    private OptionalLong nextDeadline() {
        SortedSet<Long> deadlines = new TreeSet<>();
        for (Workload workload : workloads.values()) {
            if (workload.state() instanceof WorkloadPhase.Holding holding) {
                switch (holding.phase()) {
                    case WorkloadPhase.Phase.Running running -> {}
                    case WorkloadPhase.Phase.Incomplete incomplete -> {}
                    case WorkloadPhase.Phase.Stopping stopping -> deadlines.add(stopping.deadlineMillis());
                    case WorkloadPhase.Phase.Shrinking shrinking -> deadlines.add(shrinking.deadlineMillis());
                }
            }
        }
        return deadlines.isEmpty() ? OptionalLong.empty() : OptionalLong.of(deadlines.first());
    }

    /** The stored state, as changes. */
    List<Change> facts() {
        List<Change> facts = new ArrayList<>();
        pools.values().forEach(pool -> facts.add(new Change.PoolSet(pool)));
        nodes.values().forEach(node -> facts.add(new Change.NodeSet(node)));
        quotas.values().forEach(quota -> facts.add(new Change.QuotaSet(quota)));
        calendar.forEach(window -> facts.add(new Change.CapacityReservationSet(window)));
        caps.values().forEach(stated -> facts.add(new Change.CapsSet(stated)));
        strictQueues.forEach(queue -> facts.add(new Change.QueueSet(queue, QueueOrder.STRICT_FIFO)));
        facts.addAll(engine.pastUse());
        facts.addAll(engine.budgets());
        workloads.values().forEach(workload -> facts.add(new Change.WorkloadSet(workload)));
        return facts;
    }

    /** An engine that is built from the stored state, whose changes are applied in random order. */
    Engine rebuilt(long seed) {
        List<Change> facts = facts();
        Collections.shuffle(facts, new Random(seed));
        Engine rebuilt = new Engine(settings);
        rebuilt.apply(facts);
        return rebuilt;
    }
}
