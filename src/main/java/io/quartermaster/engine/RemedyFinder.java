package io.quartermaster.engine;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.ConcurrencyCaps;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Outlook;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.placement.CounterPool;
import io.quartermaster.engine.placement.PlacementRequest;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.quota.Cap;
import io.quartermaster.engine.quota.QuotaAdmission;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.state.PoolRequest;
import io.quartermaster.engine.state.PoolRequestFactory;
import io.quartermaster.engine.state.SchedulingClass;
import io.quartermaster.engine.state.SchedulingState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds what would have to change for one waiting workload to start, and tries it before naming it. A try makes the changes in a fork of the engine and plans there: it
 * succeeds when the workload is started, or has a place set aside for it, in the pool that was asked about. Each obstacle that a failed try meets adds a change, with the
 * amount that is missing; in the end every change that the others do without is dropped, and every amount lowered as far as it can be. A list that is named is sufficient, and
 * nothing in it can be left out. Where GPUs are to come free together, this is so on the node that was tried: on another, other changes may be enough. Where no such list is
 * found within the bounds, nothing is named.
 *
 * <p>No amount is named of which waiting work of other tenants is a part. The search is made as if none waited, which is enough where it does not come first. Where it does,
 * more has to come free than the tenant may know: then the room is named without an amount.
 *
 * <p>Bounds: {@link #MOST_TRIES} tries for all pools of a workload together, each of at most {@link #MOST_PLANS} plans, and none once the caller says that it is enough. A try
 * costs a fork and its plans, which is about what an engine needs that is built anew.
 */
final class RemedyFinder {
    /** Tries for one workload, over all its pools. */
    static final int MOST_TRIES = 40;

    private static final int MOST_PLANS = 4;
    private static final long GPU = 1000;

    private final Engine engine;
    private final Workload workload;
    private final long nowMillis;
    private final BooleanSupplier enough;
    private int tries;
    private @Nullable Engine alone;

    /** @param enough asked before each try; true ends the search */
    RemedyFinder(Engine engine, Workload workload, long nowMillis, BooleanSupplier enough) {
        this.engine = engine;
        this.workload = workload;
        this.nowMillis = nowMillis;
        this.enough = enough;
    }

    /**
     * A change with what only the engine may know of it.
     *
     * @param node where GPUs come free together, where it matters
     */
    private record Step(Outlook.Relief relief, Optional<NodeId> node) {

        boolean isLike(Step other) {
            return relief.kind() == other.relief.kind()
                    && relief.path().equals(other.relief.path())
                    && relief.scope().equals(other.relief.scope())
                    && node.equals(other.node);
        }

        Step plus(Step other) {
            return new Step(
                    relief.with(
                            relief.gpuMilli() + other.relief.gpuMilli(), relief.workloads() + other.relief.workloads()),
                    node);
        }

        /** Whether it is GPUs that come free. */
        boolean isRoom() {
            return switch (relief.kind()) {
                case FREE_IN_POOL, FREE_ON_ONE_NODE -> true;
                case RAISE_LIMIT, RAISE_USER_LIMIT, RAISE_MAX_RUNNING, RESERVE_MORE -> false;
            };
        }

        Step withGpuMilli(long gpuMilli) {
            return new Step(relief.with(gpuMilli, relief.workloads()), node);
        }
    }

    /** How a try ended; where it failed, with the engine in which it did. */
    private record Tried(boolean admits, Engine after) {}

    /** All changes that have to be made together; empty where none were found, or none would help. */
    List<Outlook.Relief> in(PoolId pool) {
        Engine alone = alone();
        List<Step> own = alone == engine
                ? enough(engine, engine, List.of(), pool)
                        .map(steps -> minimal(engine, steps, pool))
                        .orElse(List.of())
                : ofTenantAlone(alone, pool).orElse(List.of());
        return own.stream().map(Step::relief).toList();
    }

    /** What is enough as if no other tenant waited; with room of no amount beside it where that is not enough because others do. */
    private Optional<List<Step>> ofTenantAlone(Engine alone, PoolId pool) {
        if (!mayTry()) {
            return Optional.empty();
        }
        Tried unchanged = tried(alone, List.of(), pool);
        Optional<List<Step>> own = unchanged.admits()
                ? Optional.of(List.of())
                : enough(alone, unchanged.after(), List.of(), pool)
                        .map(steps -> minimal(alone, steps, pool))
                        .filter(steps -> !steps.isEmpty());
        if (own.isEmpty() || !mayTry()) {
            return Optional.empty();
        }
        Tried beside = tried(engine, own.get(), pool);
        return beside.admits()
                ? own
                : enough(engine, beside.after(), own.get(), pool)
                        .filter(steps -> withoutRoom(steps).equals(withoutRoom(own.get())))
                        .map(RemedyFinder::withoutAmountsOfRoom);
    }

    private static List<Step> withoutRoom(List<Step> steps) {
        return steps.stream().filter(step -> !step.isRoom()).toList();
    }

    private static List<Step> withoutAmountsOfRoom(List<Step> steps) {
        return steps.stream()
                .map(step -> step.isRoom() ? step.withGpuMilli(0) : step)
                .toList();
    }

    /** The engine as if no work of other tenants waited, for its start or to grow, but for what has a place set aside; the engine itself where none does. */
    private Engine alone() {
        Engine known = alone;
        if (known == null) {
            List<Change> held = new ArrayList<>();
            for (Workload other : engine.facts().workloads()) {
                boolean waits = !other.held()
                        && other.nomination().isEmpty()
                        && (other.state() instanceof WorkloadPhase.Waiting
                                || other.state() instanceof WorkloadPhase.Holding holding
                                        && holding.allocation().workers().size()
                                                < other.shape().allWorkers());
                if (waits && !other.path().tenant().equals(workload.path().tenant())) {
                    held.add(new Change.WorkloadSet(other.asHeld()));
                }
            }
            known = held.isEmpty() ? engine : engine.fork();
            known.apply(held);
            alone = known;
        }
        return known;
    }

    /**
     * Adds a change for each obstacle in turn.
     *
     * @param after the engine with the steps, after its plan
     */
    private Optional<List<Step>> enough(Engine from, Engine after, List<Step> first, PoolId pool) {
        List<Step> steps = first;
        Engine state = after;
        while (mayTry()) {
            Optional<Step> missing = missing(state, pool, steps);
            if (missing.isEmpty()) {
                return Optional.empty();
            }
            steps = plus(steps, missing.get());
            if (steps.stream().anyMatch(this::isMoreThanThereIs)) {
                return Optional.empty();
            }
            Tried tried = tried(from, steps, pool);
            if (tried.admits()) {
                return Optional.of(steps);
            }
            state = tried.after();
        }
        return Optional.empty();
    }

    /** Whether more GPUs are to come free than are held where they are to. */
    private boolean isMoreThanThereIs(Step step) {
        if (step.node().isPresent()) {
            return step.relief().gpuMilli() > heldOn(step.node().get()) * GPU;
        }
        return step.relief().kind() == Outlook.Relief.Kind.FREE_IN_POOL
                && step.relief().gpuMilli() > heldIn(step.relief().scope().orElseThrow());
    }

    /** How many GPUs of a node somebody holds a part of. */
    private long heldOn(NodeId node) {
        SortedSet<Integer> devices = new TreeSet<>();
        for (Workload other : engine.facts().workloads()) {
            if (other.state() instanceof WorkloadPhase.Holding holding) {
                for (Allocation.Worker worker : holding.allocation().workers()) {
                    if (worker.place() instanceof Allocation.Place.OnNode place
                            && place.node().equals(node)) {
                        place.shares().forEach(share -> devices.add(share.device()));
                    }
                }
            }
        }
        return devices.size();
    }

    private long heldIn(Scope scope) {
        long held = 0;
        for (Workload other : engine.facts().workloads()) {
            if (other.state() instanceof WorkloadPhase.Holding holding
                    && scope.equals(Scope.of(holding.allocation().pool()))) {
                held += holding.allocation().gpuMilli();
            }
        }
        return held;
    }

    private boolean mayTry() {
        return tries < MOST_TRIES && !enough.getAsBoolean();
    }

    private static List<Step> plus(List<Step> steps, Step more) {
        List<Step> sum = new ArrayList<>();
        boolean merged = false;
        for (Step step : steps) {
            sum.add(step.isLike(more) ? step.plus(more) : step);
            merged |= step.isLike(more);
        }
        if (!merged) {
            sum.add(more);
        }
        return sum;
    }

    /** Drops what the others do without and lowers what is left, until nothing more can be; empty when the tries do not suffice. */
    private List<Step> minimal(Engine from, List<Step> found, PoolId pool) {
        List<Step> steps = found;
        boolean smaller = true;
        while (smaller) {
            smaller = false;
            for (int i = 0; i < steps.size(); i++) {
                List<Step> without = new ArrayList<>(steps);
                without.remove(i);
                Optional<Step> lower = lower(steps.get(i));
                if (!without.isEmpty()) {
                    if (!mayTry()) {
                        return List.of();
                    }
                    if (tried(from, without, pool).admits()) {
                        steps = without;
                        smaller = true;
                        break;
                    }
                }
                if (lower.isPresent()) {
                    if (!mayTry()) {
                        return List.of();
                    }
                    List<Step> less = new ArrayList<>(steps);
                    less.set(i, lower.get());
                    if (tried(from, less, pool).admits()) {
                        steps = less;
                        smaller = true;
                        break;
                    }
                }
            }
        }
        return withRoomAbove(from, steps, pool);
    }

    /** One GPU, or one workload, less. */
    private static Optional<Step> lower(Step step) {
        if (step.relief().workloads() > 1) {
            return Optional.of(new Step(step.relief().with(0, step.relief().workloads() - 1), step.node()));
        }
        return step.relief().gpuMilli() > GPU
                ? Optional.of(step.withGpuMilli(step.relief().gpuMilli() - GPU))
                : Optional.empty();
    }

    /** What is reserved must fit into what is reserved above: where it would not any more, more is to be reserved there, too. */
    private List<Step> withRoomAbove(Engine from, List<Step> found, PoolId pool) {
        List<Step> steps = found;
        for (Step step : found) {
            if (step.relief().kind() == Outlook.Relief.Kind.RESERVE_MORE) {
                List<QuotaPath> above =
                        step.relief().path().orElseThrow().fromTenant().reversed();
                for (QuotaPath path : above.subList(1, above.size())) {
                    Engine changed = from.fork();
                    apply(steps, changed);
                    long lacks = changed.facts()
                            .reservedBeyond(path, step.relief().scope().orElseThrow());
                    steps = lacks > 0
                            ? plus(steps, reserveMore(path, step.relief().scope(), lacks))
                            : steps;
                }
            }
        }
        if (!steps.equals(found) && !isEnoughAndNoMore(from, steps, pool)) {
            return List.of();
        }
        return steps;
    }

    /** Whether these changes are enough and none can be left out or lowered, but for what is reserved above another reservation. */
    private boolean isEnoughAndNoMore(Engine from, List<Step> steps, PoolId pool) {
        if (!mayTry() || !tried(from, steps, pool).admits()) {
            return false;
        }
        for (int i = 0; i < steps.size(); i++) {
            List<Step> others = new ArrayList<>(steps);
            Step step = others.remove(i);
            if (others.stream().noneMatch(other -> isAbove(step, other))) {
                if (!mayTry() || tried(from, others, pool).admits()) {
                    return false;
                }
                Optional<Step> lower = lower(step);
                if (lower.isPresent()) {
                    others.add(i, lower.get());
                    if (!mayTry() || tried(from, others, pool).admits()) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    private static boolean isAbove(Step step, Step other) {
        return step.relief().kind() == Outlook.Relief.Kind.RESERVE_MORE
                && other.relief().kind() == Outlook.Relief.Kind.RESERVE_MORE
                && step.relief().scope().equals(other.relief().scope())
                && step.relief()
                        .path()
                        .orElseThrow()
                        .covers(other.relief().path().orElseThrow());
    }

    private Tried tried(Engine from, List<Step> steps, PoolId pool) {
        tries++;
        Engine fork = from.fork();
        if (!apply(steps, fork)) {
            return new Tried(false, fork);
        }
        for (int plans = 0; plans < MOST_PLANS; plans++) {
            List<Decision> decisions = fork.plan(nowMillis).decisions();
            if (decisions.stream().anyMatch(decision -> admits(decision, pool))) {
                return new Tried(true, fork);
            }
            if (decisions.isEmpty()) {
                break;
            }
        }
        return new Tried(false, fork);
    }

    private boolean admits(Decision decision, PoolId pool) {
        return switch (decision) {
            case Decision.Start start ->
                start.workload().equals(workload.id())
                        && start.allocation().pool().equals(pool);
            case Decision.Nominate nominate ->
                nominate.workload().equals(workload.id())
                        && nominate.place().pool().equals(pool);
            case Decision.Preempt preempt -> false;
            case Decision.Grow grow -> false;
            case Decision.Shrink shrink -> false;
            case Decision.WithdrawNomination withdrawNomination -> false;
        };
    }

    /** False where what is to be changed is not there. */
    private static boolean apply(List<Step> steps, Engine fork) {
        for (Step step : steps) {
            Optional<Change> change = change(step, fork);
            if (change.isEmpty()) {
                return false;
            }
            fork.apply(List.of(change.get()));
        }
        return true;
    }

    private static Optional<Change> change(Step step, Engine fork) {
        Outlook.Relief relief = step.relief();
        return switch (relief.kind()) {
            case RAISE_LIMIT ->
                fork.facts()
                        .quota(relief.path().orElseThrow(), relief.scope().orElseThrow())
                        .map(quota -> new Change.QuotaSet(quota.withHigherLimit(relief.gpuMilli())));
            case RESERVE_MORE ->
                fork.facts()
                        .quota(relief.path().orElseThrow(), relief.scope().orElseThrow())
                        .map(quota -> new Change.QuotaSet(quota.withMoreReserved(relief.gpuMilli())));
            case RAISE_USER_LIMIT ->
                Optional.ofNullable(fork.facts().caps().get(relief.path().orElseThrow()))
                        .map(concurrencyCaps -> new Change.CapsSet(new ConcurrencyCaps(
                                concurrencyCaps.path(),
                                OptionalLong.of(
                                        concurrencyCaps.perUserGpuMilli().orElse(0) + relief.gpuMilli()),
                                concurrencyCaps.running())));
            case RAISE_MAX_RUNNING ->
                Optional.ofNullable(fork.facts().caps().get(relief.path().orElseThrow()))
                        .map(concurrencyCaps -> new Change.CapsSet(new ConcurrencyCaps(
                                concurrencyCaps.path(),
                                concurrencyCaps.perUserGpuMilli(),
                                OptionalInt.of(Math.toIntExact(
                                        concurrencyCaps.running().orElse(0) + relief.workloads())))));
            case FREE_ON_ONE_NODE ->
                step.node()
                        .map(fork.facts().nodes()::get)
                        .map(node ->
                                new Change.NodeSet(node.withMoreDevices(Math.toIntExact(relief.gpuMilli() / GPU))));
            case FREE_IN_POOL ->
                relief.scope().orElseThrow() instanceof Scope.OnePool(PoolId pool)
                        ? Optional.ofNullable(fork.facts().pools().get(pool))
                                .map(known -> new Change.PoolSet(known.withHigherCount(relief.gpuMilli())))
                        : Optional.empty();
        };
    }

    /** The change by which the first obstacle that it meets now would be out of its way. */
    private Optional<Step> missing(Engine state, PoolId pool, List<Step> steps) {
        Optional<Reason> reason = state.explain(workload.id()).stream()
                .flatMap(waitReasons -> waitReasons.perPool().stream())
                .filter(each -> each.pool().equals(pool))
                .findFirst();
        if (reason.isEmpty() || !isCurable(reason.get().code())) {
            return Optional.empty();
        }
        return asked(state, pool).flatMap(asked -> {
            Optional<QuotaAdmission.Violation> violation =
                    QuotaAdmission.firstCurrent(asked.wish().ask());
            return violation.isPresent()
                    ? ofBound(violation.get(), beside(steps, asked), pool)
                    : ofRoom(beside(steps, asked), pool);
        });
    }

    /** What it asks of the pool at the least. */
    private Optional<Asked> asked(Engine state, PoolId pool) {
        SchedulingState open = state.openState();
        PoolRequestFactory poolRequestFactory = new PoolRequestFactory(state.facts(), open);
        return open.schedulingClass(state.facts().workload(workload.id()))
                .filter(schedulingClass -> schedulingClass.queue().isEmpty() || isFirst(schedulingClass))
                .flatMap(schedulingClass -> poolRequestFactory.forClass(schedulingClass).stream()
                        .filter(poolRequest -> poolRequest.pool().equals(pool))
                        .findFirst()
                        .map(poolRequest -> new Asked(
                                poolRequestFactory.minimum(schedulingClass, poolRequest),
                                least(poolRequestFactory, schedulingClass))));
    }

    private boolean isFirst(SchedulingClass schedulingClass) {
        Workload first = schedulingClass.firstInQueue();
        return first != null && first.id().equals(workload.id());
    }

    private static PlacementRequest least(PoolRequestFactory poolRequestFactory, SchedulingClass schedulingClass) {
        return schedulingClass.key().shape().gpus() instanceof GpuRequest.Whole whole && whole.takesFewer()
                ? poolRequestFactory.withGpus(schedulingClass, whole.fewest())
                : poolRequestFactory.request(schedulingClass);
    }

    private static boolean isCurable(Reason.Code code) {
        return switch (code) {
            case LIMIT, OVER_QUOTA_OFF, NOT_PREEMPTIBLE, HELD_FOR_OTHERS, NO_CAPACITY, FRAGMENTED, BEHIND -> true;
            case SUSPENDED, NO_EXECUTOR, CLOSED, BUDGET, NOMINATED, NO_SUCH_NODE, NODES_CLOSED -> false;
        };
    }

    /** What a workload asks of a pool. */
    private record Asked(PoolRequest wish, PlacementRequest request) {}

    /** GPUs that are to come free together come free on the node on which others are to already. */
    private static Asked beside(List<Step> steps, Asked asked) {
        return steps.stream()
                .flatMap(step -> step.node().stream())
                .findFirst()
                .map(one -> new Asked(
                        asked.wish(), asked.request().within(node -> node.id().equals(one))))
                .orElse(asked);
    }

    private static Optional<Step> ofBound(QuotaAdmission.Violation violation, Asked asked, PoolId pool) {
        long gpuMilli = asked.wish().ask().gpuMilli();
        QuotaNode node = violation.node();
        Optional<Scope> scope = Optional.of(node.tree().scope());
        long over = violation.usedGpuMilli() + gpuMilli - violation.boundGpuMilli();
        return switch (violation.bound()) {
            case UNNAMED -> Optional.empty();
            case LIMIT -> Optional.of(step(Outlook.Relief.Kind.RAISE_LIMIT, node.path(), scope, over));
            case USER_CAP ->
                Optional.of(step(
                        Outlook.Relief.Kind.RAISE_USER_LIMIT,
                        violation.cap().map(Cap::path).orElseThrow(),
                        Optional.empty(),
                        over));
            case WORKLOAD_CAP ->
                Optional.of(new Step(
                        new Outlook.Relief(
                                Outlook.Relief.Kind.RAISE_MAX_RUNNING,
                                violation.cap().map(Cap::path),
                                Optional.empty(),
                                0,
                                violation.usedGpuMilli() + 1 - violation.boundGpuMilli()),
                        Optional.empty()));
            case OVER_QUOTA_OFF, NOT_PREEMPTIBLE -> Optional.of(reserveMore(node.path(), scope, over));
            case HELD_FOR_OTHERS, CAPACITY ->
                node.isRoot()
                        ? room(asked, pool, over)
                        : Optional.of(step(Outlook.Relief.Kind.RAISE_LIMIT, node.path(), scope, over));
        };
    }

    private static Step reserveMore(QuotaPath path, Optional<Scope> scope, long gpuMilli) {
        return step(Outlook.Relief.Kind.RESERVE_MORE, path, scope, gpuMilli);
    }

    private static Step step(Outlook.Relief.Kind kind, QuotaPath path, Optional<Scope> scope, long gpuMilli) {
        return new Step(new Outlook.Relief(kind, Optional.of(path), scope, gpuMilli, 0), Optional.empty());
    }

    private static Optional<Step> ofRoom(Asked asked, PoolId pool) {
        PoolCapacity poolCapacity = asked.wish().space();
        long missing = asked.wish().ask().gpuMilli() - poolCapacity.freeGpuMilli(Availability.NOW);
        return room(asked, pool, missing);
    }

    /** GPUs that come free: together on the node that lacks least of one worker, or in a pool that is a count. */
    private static Optional<Step> room(Asked asked, PoolId pool, long missingGpuMilli) {
        PoolCapacity poolCapacity = asked.wish().space();
        if (poolCapacity instanceof CounterPool) {
            return missingGpuMilli <= 0
                    ? Optional.empty()
                    : Optional.of(new Step(
                            new Outlook.Relief(
                                    Outlook.Relief.Kind.FREE_IN_POOL,
                                    Optional.empty(),
                                    Optional.of(Scope.of(pool)),
                                    missingGpuMilli,
                                    0),
                            Optional.empty()));
        }
        return poolCapacity
                .lackingLeast(asked.request(), Availability.NOW)
                .filter(lack -> lack.gpus() > 0)
                .map(lack -> new Step(
                        new Outlook.Relief(
                                Outlook.Relief.Kind.FREE_ON_ONE_NODE,
                                Optional.empty(),
                                Optional.of(Scope.of(pool)),
                                lack.gpus() * GPU,
                                0),
                        Optional.of(lack.node())));
    }
}
