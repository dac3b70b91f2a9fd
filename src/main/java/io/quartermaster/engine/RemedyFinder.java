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
 * Finder of the changes that would let one waiting workload start. It tries changes before it names them. A try applies
 * the changes to a fork of the engine and plans there. The try succeeds when the workload starts, or gets a nomination,
 * in the requested pool. Each obstacle of a failed try adds a change, with the missing amount. At the end the finder
 * drops every redundant change and lowers every amount as far as possible. The changes that it names are sufficient,
 * and none of them can be left out. If GPUs have to come free together, this holds for the node that was tried: on
 * another node, other changes may suffice. If the finder finds no such changes within its bounds, it names none.
 *
 * <p>The finder names no amount that includes waiting work of other tenants. It searches as if none of that work
 * waited, which suffices unless that work comes first. If it does come first, more GPUs have to come free than the
 * tenant may know: then the finder names the GPUs to be freed without an amount.
 *
 * <p>Bounds: {@link #MAX_TRIES} tries for all pools of a workload together, each of at most {@link #MAX_PLANS} plans,
 * and no further try once the caller ends the search. A try costs a fork and its plans, which is about as much as
 * rebuilding an engine.
 */
final class RemedyFinder {
    /** The maximum number of tries for one workload, over all its pools. */
    static final int MAX_TRIES = 40;

    private static final int MAX_PLANS = 4;
    private static final long GPU_MILLI = 1000;

    private final Engine engine;
    private final Workload workload;
    private final long nowMillis;
    private final BooleanSupplier isEnded;
    private int tries;
    private @Nullable Engine tenantAlone;

    /** @param isEnded evaluated before each try; true ends the search */
    RemedyFinder(Engine engine, Workload workload, long nowMillis, BooleanSupplier isEnded) {
        this.engine = engine;
        this.workload = workload;
        this.nowMillis = nowMillis;
        this.isEnded = isEnded;
    }

    /**
     * A change, with a detail that the outlook does not report.
     *
     * @param node the node on which GPUs come free together; empty if any node will do
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

        /** Whether the change frees GPUs. */
        boolean freesGpus() {
            return switch (relief.kind()) {
                case FREE_IN_POOL, FREE_ON_ONE_NODE -> true;
                case RAISE_LIMIT, RAISE_USER_LIMIT, RAISE_MAX_RUNNING, RESERVE_MORE -> false;
            };
        }

        Step withGpuMilli(long gpuMilli) {
            return new Step(relief.with(gpuMilli, relief.workloads()), node);
        }
    }

    /** The result of a try, with the engine in which it was made. */
    private record TrialResult(boolean admits, Engine after) {}

    /** The changes that together let the workload start in a pool; empty if the search found none. */
    List<Outlook.Relief> remedies(PoolId pool) {
        Engine alone = tenantAlone();
        List<Step> own = alone == engine
                ? addSteps(engine, engine, List.of(), pool)
                        .map(steps -> minimal(engine, steps, pool))
                        .orElse(List.of())
                : stepsOfTenantAlone(alone, pool).orElse(List.of());
        return own.stream().map(Step::relief).toList();
    }

    /**
     * The changes that suffice if no other tenant waits. If they do not suffice because other tenants wait, the GPUs to
     * be freed are named without an amount.
     */
    private Optional<List<Step>> stepsOfTenantAlone(Engine alone, PoolId pool) {
        if (!mayTry()) {
            return Optional.empty();
        }
        TrialResult unchanged = trySteps(alone, List.of(), pool);
        Optional<List<Step>> own = unchanged.admits()
                ? Optional.of(List.of())
                : addSteps(alone, unchanged.after(), List.of(), pool)
                        .map(steps -> minimal(alone, steps, pool))
                        .filter(steps -> !steps.isEmpty());
        if (own.isEmpty() || !mayTry()) {
            return Optional.empty();
        }
        TrialResult beside = trySteps(engine, own.get(), pool);
        return beside.admits()
                ? own
                : addSteps(engine, beside.after(), own.get(), pool)
                        .filter(steps -> withoutRoom(steps).equals(withoutRoom(own.get())))
                        .map(RemedyFinder::withoutAmountsOfRoom);
    }

    private static List<Step> withoutRoom(List<Step> steps) {
        return steps.stream().filter(step -> !step.freesGpus()).toList();
    }

    private static List<Step> withoutAmountsOfRoom(List<Step> steps) {
        return steps.stream()
                .map(step -> step.freesGpus() ? step.withGpuMilli(0) : step)
                .toList();
    }

    /**
     * A fork of the engine in which no other tenant has work that waits to start or to grow, except nominated
     * workloads; the engine itself if there is no such work.
     */
    private Engine tenantAlone() {
        Engine known = tenantAlone;
        if (known == null) {
            List<Change> held = new ArrayList<>();
            for (Workload other : engine.declaredState().workloads()) {
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
            tenantAlone = known;
        }
        return known;
    }

    /**
     * Adds changes, one obstacle after the other, until they suffice.
     *
     * @param after the engine to which the first steps were applied, after its plan
     */
    private Optional<List<Step>> addSteps(Engine from, Engine after, List<Step> first, PoolId pool) {
        List<Step> steps = first;
        Engine state = after;
        while (mayTry()) {
            Optional<Step> missing = nextStep(state, pool, steps);
            if (missing.isEmpty()) {
                return Optional.empty();
            }
            steps = plus(steps, missing.get());
            if (steps.stream().anyMatch(this::exceedsHeldGpus)) {
                return Optional.empty();
            }
            TrialResult trialResult = trySteps(from, steps, pool);
            if (trialResult.admits()) {
                return Optional.of(steps);
            }
            state = trialResult.after();
        }
        return Optional.empty();
    }

    /** Whether a step frees more GPUs of a node or a pool than workloads hold there. */
    private boolean exceedsHeldGpus(Step step) {
        if (step.node().isPresent()) {
            return step.relief().gpuMilli() > heldOn(step.node().get()) * GPU_MILLI;
        }
        return step.relief().kind() == Outlook.Relief.Kind.FREE_IN_POOL
                && step.relief().gpuMilli() > heldIn(step.relief().scope().orElseThrow());
    }

    /** The number of GPUs of a node that are allocated, in whole or in part. */
    private long heldOn(NodeId node) {
        SortedSet<Integer> devices = new TreeSet<>();
        for (Workload other : engine.declaredState().workloads()) {
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
        for (Workload other : engine.declaredState().workloads()) {
            if (other.state() instanceof WorkloadPhase.Holding holding
                    && scope.equals(Scope.of(holding.allocation().pool()))) {
                held += holding.allocation().gpuMilli();
            }
        }
        return held;
    }

    private boolean mayTry() {
        return tries < MAX_TRIES && !isEnded.getAsBoolean();
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

    /**
     * Drops every redundant change and lowers the amounts of the others, until nothing more can be dropped or lowered;
     * empty if the tries are used up before.
     */
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
                    if (trySteps(from, without, pool).admits()) {
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
                    if (trySteps(from, less, pool).admits()) {
                        steps = less;
                        smaller = true;
                        break;
                    }
                }
            }
        }
        return withReservationsAbove(from, steps, pool);
    }

    /** The step with one GPU, or one workload, less; empty if nothing would remain. */
    private static Optional<Step> lower(Step step) {
        if (step.relief().workloads() > 1) {
            return Optional.of(new Step(step.relief().with(0, step.relief().workloads() - 1), step.node()));
        }
        return step.relief().gpuMilli() > GPU_MILLI
                ? Optional.of(step.withGpuMilli(step.relief().gpuMilli() - GPU_MILLI))
                : Optional.empty();
    }

    /**
     * Adds reservations above each raised reservation, because the reservations of child nodes must fit into that of
     * their parent.
     */
    private List<Step> withReservationsAbove(Engine from, List<Step> found, PoolId pool) {
        List<Step> steps = found;
        for (Step step : found) {
            if (step.relief().kind() == Outlook.Relief.Kind.RESERVE_MORE) {
                List<QuotaPath> above =
                        step.relief().path().orElseThrow().fromTenant().reversed();
                for (QuotaPath path : above.subList(1, above.size())) {
                    Engine changed = from.fork();
                    apply(steps, changed);
                    long lacks = changed.declaredState()
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

    /**
     * Whether these changes suffice and none can be left out or lowered, except reservations that are there only to
     * contain another reservation below them.
     */
    private boolean isEnoughAndNoMore(Engine from, List<Step> steps, PoolId pool) {
        if (!mayTry() || !trySteps(from, steps, pool).admits()) {
            return false;
        }
        for (int i = 0; i < steps.size(); i++) {
            List<Step> others = new ArrayList<>(steps);
            Step step = others.remove(i);
            if (others.stream().noneMatch(other -> isAbove(step, other))) {
                if (!mayTry() || trySteps(from, others, pool).admits()) {
                    return false;
                }
                Optional<Step> lower = lower(step);
                if (lower.isPresent()) {
                    others.add(i, lower.get());
                    if (!mayTry() || trySteps(from, others, pool).admits()) {
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

    private TrialResult trySteps(Engine from, List<Step> steps, PoolId pool) {
        tries++;
        Engine fork = from.fork();
        if (!apply(steps, fork)) {
            return new TrialResult(false, fork);
        }
        for (int plans = 0; plans < MAX_PLANS; plans++) {
            List<Decision> decisions = fork.plan(nowMillis).decisions();
            if (decisions.stream().anyMatch(decision -> admits(decision, pool))) {
                return new TrialResult(true, fork);
            }
            if (decisions.isEmpty()) {
                break;
            }
        }
        return new TrialResult(false, fork);
    }

    private boolean admits(Decision decision, PoolId pool) {
        return switch (decision) {
            case Decision.Start start ->
                start.workload().equals(workload.id())
                        && start.allocation().pool().equals(pool);
            case Decision.Nominate nominate ->
                nominate.workload().equals(workload.id())
                        && nominate.place().pool().equals(pool);
            case Decision.Evict evict -> false;
            case Decision.Grow grow -> false;
            case Decision.Shrink shrink -> false;
            case Decision.WithdrawNomination withdrawNomination -> false;
        };
    }

    /** Applies the steps to a fork; false if the fork lacks an object that a step changes. */
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
                fork.declaredState()
                        .quota(relief.path().orElseThrow(), relief.scope().orElseThrow())
                        .map(quota -> new Change.QuotaSet(quota.withHigherLimit(relief.gpuMilli())));
            case RESERVE_MORE ->
                fork.declaredState()
                        .quota(relief.path().orElseThrow(), relief.scope().orElseThrow())
                        .map(quota -> new Change.QuotaSet(quota.withMoreReserved(relief.gpuMilli())));
            case RAISE_USER_LIMIT ->
                Optional.ofNullable(
                                fork.declaredState().caps().get(relief.path().orElseThrow()))
                        .map(concurrencyCaps -> new Change.CapsSet(new ConcurrencyCaps(
                                concurrencyCaps.path(),
                                OptionalLong.of(
                                        concurrencyCaps.perUserGpuMilli().orElse(0) + relief.gpuMilli()),
                                concurrencyCaps.running())));
            case RAISE_MAX_RUNNING ->
                Optional.ofNullable(
                                fork.declaredState().caps().get(relief.path().orElseThrow()))
                        .map(concurrencyCaps -> new Change.CapsSet(new ConcurrencyCaps(
                                concurrencyCaps.path(),
                                concurrencyCaps.perUserGpuMilli(),
                                OptionalInt.of(Math.toIntExact(
                                        concurrencyCaps.running().orElse(0) + relief.workloads())))));
            case FREE_ON_ONE_NODE ->
                step.node()
                        .map(fork.declaredState().nodes()::get)
                        .map(node -> new Change.NodeSet(
                                node.withMoreDevices(Math.toIntExact(relief.gpuMilli() / GPU_MILLI))));
            case FREE_IN_POOL ->
                relief.scope().orElseThrow() instanceof Scope.OnePool(PoolId pool)
                        ? Optional.ofNullable(fork.declaredState().pools().get(pool))
                                .map(known -> new Change.PoolSet(known.withHigherCount(relief.gpuMilli())))
                        : Optional.empty();
        };
    }

    /** The change that removes the first obstacle of the workload in this state; empty if no change can. */
    private Optional<Step> nextStep(Engine state, PoolId pool, List<Step> steps) {
        Optional<Reason> reason = state.explain(workload.id()).stream()
                .flatMap(waitReasons -> waitReasons.perPool().stream())
                .filter(each -> each.pool().equals(pool))
                .findFirst();
        if (reason.isEmpty() || !isCurable(reason.get().code())) {
            return Optional.empty();
        }
        return requestInPool(state, pool).flatMap(requestInPool -> {
            Optional<QuotaAdmission.Violation> violation =
                    QuotaAdmission.firstCurrent(requestInPool.poolRequest().quotaRequest());
            return violation.isPresent()
                    ? stepForBound(violation.get(), onFreedNode(steps, requestInPool), pool)
                    : stepForRoom(onFreedNode(steps, requestInPool), pool);
        });
    }

    /** The smallest request of the workload to the pool; empty if another workload of its strict queue comes first. */
    private Optional<RequestInPool> requestInPool(Engine state, PoolId pool) {
        SchedulingState open = state.openState();
        PoolRequestFactory poolRequestFactory = new PoolRequestFactory(state.declaredState(), open);
        return open.schedulingClass(state.declaredState().workload(workload.id()))
                .filter(schedulingClass -> schedulingClass.queue().isEmpty() || isFirst(schedulingClass))
                .flatMap(schedulingClass -> poolRequestFactory.forClass(schedulingClass).stream()
                        .filter(poolRequest -> poolRequest.pool().equals(pool))
                        .findFirst()
                        .map(poolRequest -> new RequestInPool(
                                poolRequestFactory.minimum(schedulingClass, poolRequest),
                                leastRequest(poolRequestFactory, schedulingClass))));
    }

    private boolean isFirst(SchedulingClass schedulingClass) {
        Workload first = schedulingClass.firstInQueue();
        return first != null && first.id().equals(workload.id());
    }

    private static PlacementRequest leastRequest(
            PoolRequestFactory poolRequestFactory, SchedulingClass schedulingClass) {
        return schedulingClass.key().shape().gpus() instanceof GpuRequest.Whole whole && whole.takesFewer()
                ? poolRequestFactory.withGpus(schedulingClass, whole.fewest())
                : poolRequestFactory.placementRequest(schedulingClass);
    }

    private static boolean isCurable(Reason.Code code) {
        return switch (code) {
            case LIMIT, OVER_QUOTA_OFF, NOT_PREEMPTIBLE, HELD_FOR_OTHERS, NO_CAPACITY, FRAGMENTED, BEHIND -> true;
            case SUSPENDED, NO_EXECUTOR, CLOSED, BUDGET, NOMINATED, NO_SUCH_NODE, NODES_CLOSED -> false;
        };
    }

    /** The request of a workload to a pool: the quantities, and the placement. */
    private record RequestInPool(PoolRequest poolRequest, PlacementRequest placementRequest) {}

    /** Confines the request to the node on which earlier steps free GPUs, so that all of them come free together. */
    private static RequestInPool onFreedNode(List<Step> steps, RequestInPool requestInPool) {
        return steps.stream()
                .flatMap(step -> step.node().stream())
                .findFirst()
                .map(one -> new RequestInPool(
                        requestInPool.poolRequest(),
                        requestInPool.placementRequest().within(node -> node.id()
                                .equals(one))))
                .orElse(requestInPool);
    }

    private static Optional<Step> stepForBound(
            QuotaAdmission.Violation violation, RequestInPool requestInPool, PoolId pool) {
        long gpuMilli = requestInPool.poolRequest().quotaRequest().gpuMilli();
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
                        ? stepToFree(requestInPool, pool, over)
                        : Optional.of(step(Outlook.Relief.Kind.RAISE_LIMIT, node.path(), scope, over));
        };
    }

    private static Step reserveMore(QuotaPath path, Optional<Scope> scope, long gpuMilli) {
        return step(Outlook.Relief.Kind.RESERVE_MORE, path, scope, gpuMilli);
    }

    private static Step step(Outlook.Relief.Kind kind, QuotaPath path, Optional<Scope> scope, long gpuMilli) {
        return new Step(new Outlook.Relief(kind, Optional.of(path), scope, gpuMilli, 0), Optional.empty());
    }

    private static Optional<Step> stepForRoom(RequestInPool requestInPool, PoolId pool) {
        PoolCapacity poolCapacity = requestInPool.poolRequest().poolCapacity();
        long missing =
                requestInPool.poolRequest().quotaRequest().gpuMilli() - poolCapacity.freeGpuMilli(Availability.NOW);
        return stepToFree(requestInPool, pool, missing);
    }

    /**
     * The step that frees GPUs: together on the node that lacks the fewest GPUs for one worker, or in a pool that is a
     * plain count.
     */
    private static Optional<Step> stepToFree(RequestInPool requestInPool, PoolId pool, long missingGpuMilli) {
        PoolCapacity poolCapacity = requestInPool.poolRequest().poolCapacity();
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
                .lackingLeast(requestInPool.placementRequest(), Availability.NOW)
                .filter(lack -> lack.gpus() > 0)
                .map(lack -> new Step(
                        new Outlook.Relief(
                                Outlook.Relief.Kind.FREE_ON_ONE_NODE,
                                Optional.empty(),
                                Optional.of(Scope.of(pool)),
                                lack.gpus() * GPU_MILLI,
                                0),
                        Optional.of(lack.node())));
    }
}
