package io.quartermaster.engine.explain;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.quota.BudgetMeter;
import io.quartermaster.engine.quota.QuotaAdmission;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaRequest;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.FeasibilityCheck;
import io.quartermaster.engine.state.PoolRequest;
import io.quartermaster.engine.state.PoolRequestFactory;
import io.quartermaster.engine.state.SchedulingClass;
import io.quartermaster.engine.state.SchedulingState;
import io.quartermaster.engine.state.StrictQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Finder of the reasons why work waits, after a plan. A reason names only paths of the workload itself: the work of
 * other tenants appears only in the numbers of the pool.
 */
final class ReasonFinder {
    private final DeclaredState declaredState;
    private final SchedulingState schedulingState;
    private final PoolRequestFactory poolRequestFactory;

    ReasonFinder(DeclaredState declaredState, SchedulingState schedulingState) {
        this.schedulingState = schedulingState;
        this.declaredState = declaredState;
        this.poolRequestFactory = new PoolRequestFactory(declaredState, schedulingState);
    }

    /** The obstacle of a scheduling class in one pool, without text and numbers. */
    private record Obstacle(
            Reason.Code code,
            Optional<QuotaPath> path,
            Optional<Scope> scope,
            Optional<QuotaAdmission.Violation> violation,
            OptionalLong opensAtMillis) {

        static Obstacle of(Reason.Code code) {
            return new Obstacle(code, Optional.empty(), Optional.empty(), Optional.empty(), OptionalLong.empty());
        }

        static Obstacle of(Reason.Code code, QuotaPath path) {
            return new Obstacle(code, Optional.of(path), Optional.empty(), Optional.empty(), OptionalLong.empty());
        }

        static Obstacle of(QuotaAdmission.Violation violation) {
            return new Obstacle(
                    ReasonText.code(violation),
                    ReasonText.path(violation),
                    Optional.empty(),
                    Optional.of(violation),
                    OptionalLong.empty());
        }

        static Obstacle closedUntil(QuotaNode node, long opensAtMillis) {
            return new Obstacle(
                    Reason.Code.CLOSED,
                    Optional.of(node.path()),
                    Optional.of(node.tree().scope()),
                    Optional.empty(),
                    OptionalLong.of(opensAtMillis));
        }
    }

    /** Whether a workload waits for its own start, or for other workloads of its strict queue. */
    private enum WaitKind {
        OWN_START,
        EARLIER_WORK
    }

    /** The kind of wait of all workloads in a scheduling class except the first in a strict queue. */
    private static WaitKind waitKind(SchedulingClass schedulingClass) {
        return schedulingClass.queue().isPresent() ? WaitKind.EARLIER_WORK : WaitKind.OWN_START;
    }

    /**
     * The reasons of all workloads in a scheduling class except the first in a strict queue, per pool in the order of
     * the class.
     */
    List<Reason> reasons(SchedulingClass schedulingClass) {
        return reasons(schedulingClass, waitKind(schedulingClass));
    }

    /** The reasons of the head of a scheduling class that is also the first in its strict queue. */
    List<Reason> reasonsOfFirst(SchedulingClass schedulingClass) {
        return reasons(schedulingClass, WaitKind.OWN_START);
    }

    private List<Reason> reasons(SchedulingClass schedulingClass, WaitKind waitKind) {
        List<PoolRequest> poolRequests = this.poolRequestFactory.forClass(schedulingClass);
        List<Reason> reasons = new ArrayList<>();
        int next = 0;
        for (PoolId pool : schedulingClass.key().pools()) {
            boolean known =
                    next < poolRequests.size() && poolRequests.get(next).pool().equals(pool);
            reasons.add(
                    known
                            ? reason(schedulingClass, poolRequests.get(next++), waitKind)
                            : ReasonText.unknownPool(pool, hasOtherPools(schedulingClass.key())));
        }
        return reasons;
    }

    /** Whether the group has a quota in another pool, which runs work and which this class does not use. */
    private boolean hasOtherPools(SchedulingClass.Key key) {
        for (PoolCapacity poolCapacity : schedulingState.cluster().poolCapacities()) {
            Pool pool = poolCapacity.pool();
            if (!key.pools().contains(pool.id())
                    && pool.hasExecutor()
                    && schedulingState
                            .cluster()
                            .bindingLeaves(pool.id(), key.path())
                            .getFirst()
                            .isNamed()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether an admin could put the head first in its strict queue: the first workload has the same priority, and is
     * not first because of an interruption.
     */
    private static boolean wouldAPlaceHelp(SchedulingClass schedulingClass) {
        return schedulingClass
                .queue()
                .flatMap(StrictQueue::first)
                .filter(first ->
                        first.priority() == schedulingClass.key().priority() && !SchedulingClass.isAtHead(first))
                .isPresent();
    }

    /** Whether the current reasons have the codes and paths of the given reasons. */
    boolean sameKinds(SchedulingClass schedulingClass, List<Reason> others) {
        List<PoolRequest> poolRequests = this.poolRequestFactory.forClass(schedulingClass);
        if (others.size() != schedulingClass.key().pools().size() || poolRequests.size() != others.size()) {
            return false;
        }
        for (int i = 0; i < others.size(); i++) {
            Obstacle finding = findObstacle(schedulingClass, poolRequests.get(i), waitKind(schedulingClass));
            Reason other = others.get(i);
            if (finding.code() != other.code() || !finding.path().equals(other.path())) {
                return false;
            }
        }
        return true;
    }

    private Obstacle findObstacle(SchedulingClass schedulingClass, PoolRequest poolRequest, WaitKind waitKind) {
        QuotaPath path = schedulingClass.key().path();
        Change.AccountStatus accountStatus = declaredState.accountStatus(path);
        if (accountStatus == Change.AccountStatus.SUSPENDED) {
            return Obstacle.of(Reason.Code.SUSPENDED, declaredState.suspendedPath(path));
        }
        if (!poolRequest.poolCapacity().pool().hasExecutor()) {
            return Obstacle.of(Reason.Code.NO_EXECUTOR);
        }
        return ofHours(poolRequest)
                .or(() -> ofBudgets(path, accountStatus, poolRequest))
                .or(() -> ofNodes(schedulingClass, poolRequest))
                .or(() -> ofQuotas(poolRequest.quotaRequest()))
                .orElseGet(() -> ofRoom(schedulingClass, poolRequest, waitKind));
    }

    /** Checks the hours of the pool and the windows of capacity reservations. */
    private static Optional<Obstacle> ofHours(PoolRequest poolRequest) {
        if (!poolRequest.isOpen()) {
            return Optional.of(Obstacle.of(Reason.Code.CLOSED));
        }
        long gpuMilli = poolRequest.quotaRequest().gpuMilli();
        return poolRequest.quotaRequest().path().stream()
                .filter(node -> node.fitsFromMillis(gpuMilli).isPresent())
                .findFirst()
                .map(node ->
                        Obstacle.closedUntil(node, node.fitsFromMillis(gpuMilli).getAsLong()));
    }

    private static Optional<Obstacle> ofBudgets(
            QuotaPath path, Change.AccountStatus accountStatus, PoolRequest poolRequest) {
        return accountStatus == Change.AccountStatus.BUDGET_USED_UP
                ? Optional.of(Obstacle.of(Reason.Code.BUDGET, path))
                : poolRequest.exhaustedBudget().map(budgetMeter -> Obstacle.of(Reason.Code.BUDGET, budgetMeter.path()));
    }

    private Optional<Obstacle> ofNodes(SchedulingClass schedulingClass, PoolRequest poolRequest) {
        if (!poolRequestFactory.couldEverStart(schedulingClass, poolRequest)) {
            return Optional.of(Obstacle.of(Reason.Code.NO_SUCH_NODE));
        }
        return poolRequestFactory.isOnlyForClosedNodes(schedulingClass, poolRequest)
                ? Optional.of(Obstacle.of(Reason.Code.NODES_CLOSED))
                : Optional.empty();
    }

    private static Optional<Obstacle> ofQuotas(QuotaRequest quotaRequest) {
        return QuotaAdmission.firstCurrent(quotaRequest)
                .filter(violation -> violation.bound() != QuotaAdmission.Bound.CAPACITY)
                .map(Obstacle::of);
    }

    /** Checks the free capacity; only if there is no other obstacle. */
    private Obstacle ofRoom(SchedulingClass schedulingClass, PoolRequest poolRequest, WaitKind waitKind) {
        QuotaRequest quotaRequest = poolRequest.quotaRequest();
        if (waitKind == WaitKind.EARLIER_WORK) {
            return Obstacle.of(Reason.Code.BEHIND);
        }
        boolean wouldFit = QuotaAdmission.ignoringNominations(quotaRequest).isEmpty()
                && fitsIgnoringPromises(schedulingClass, poolRequest);
        if (wouldFit) {
            return Obstacle.of(Reason.Code.BEHIND);
        }
        if (QuotaAdmission.current(quotaRequest).isEmpty() && wouldFitIfNodesWereOpen(schedulingClass, poolRequest)) {
            return Obstacle.of(Reason.Code.NODES_CLOSED);
        }
        boolean tooFew = free(schedulingClass, poolRequest.poolCapacity(), Availability.NOW) < quotaRequest.gpuMilli();
        return Obstacle.of(tooFew ? Reason.Code.NO_CAPACITY : Reason.Code.FRAGMENTED);
    }

    /** The free capacity that the class may use: of the pool, or of the one node to which the class is pinned. */
    private static long free(SchedulingClass schedulingClass, PoolCapacity poolCapacity, Availability availability) {
        return schedulingClass
                .key()
                .pinnedNode()
                .map(node -> poolCapacity.freeGpuMilli(node, availability))
                .orElseGet(() -> poolCapacity.freeGpuMilli(availability));
    }

    /**
     * The number of GPUs that are entirely free; empty unless the class asks for whole GPUs and may use any node.
     */
    private static OptionalLong wholeFree(SchedulingClass schedulingClass, PoolCapacity poolCapacity) {
        boolean whole = schedulingClass.key().pinnedNode().isEmpty()
                && schedulingClass.key().shape().isPlain()
                && schedulingClass.key().shape().gpus() instanceof GpuRequest.Whole;
        return whole ? OptionalLong.of(poolCapacity.untouchedGpus(Availability.NOW)) : OptionalLong.empty();
    }

    private Optional<String> unmetNeed(SchedulingClass schedulingClass, PoolCapacity poolCapacity) {
        return schedulingClass.key().pinnedNode().isPresent()
                ? Optional.empty()
                : poolCapacity.unmetNeed(poolRequestFactory.placementRequest(schedulingClass));
    }

    private boolean wouldFitIfNodesWereOpen(SchedulingClass schedulingClass, PoolRequest poolRequest) {
        return poolRequest.signature().isPresent()
                ? poolRequest.signature().get().wouldFitIfNodesWereOpen()
                : poolRequest
                        .poolCapacity()
                        .wouldFitIfNodesWereOpen(poolRequestFactory.placementRequest(schedulingClass));
    }

    private boolean fitsIgnoringPromises(SchedulingClass schedulingClass, PoolRequest poolRequest) {
        return poolRequest.signature().isPresent()
                ? poolRequest.signature().get().fitsIgnoringNominations()
                : poolRequest
                        .poolCapacity()
                        .place(poolRequestFactory.placementRequest(schedulingClass), Availability.IGNORING_NOMINATIONS)
                        .isPresent();
    }

    private ReasonText.RoomCondition room(SchedulingClass schedulingClass, PoolRequest poolRequest) {
        if (poolRequest.poolCapacity().fitsOnceEmpty(poolRequestFactory.placementRequest(schedulingClass))) {
            return ReasonText.RoomCondition.WHEN_WORK_ENDS;
        }
        return poolRequestFactory.couldEverFit(schedulingClass, poolRequest)
                ? ReasonText.RoomCondition.WHEN_NODES_ARE_BACK
                : ReasonText.RoomCondition.WHEN_THERE_IS_MORE;
    }

    private Reason reason(SchedulingClass schedulingClass, PoolRequest poolRequest, WaitKind waitKind) {
        PoolCapacity poolCapacity = poolRequest.poolCapacity();
        Obstacle finding = findObstacle(schedulingClass, poolRequest, waitKind);
        ReasonText texts = new ReasonText(
                poolRequest.pool(),
                poolRequest.quotaRequest().gpuMilli(),
                free(schedulingClass, poolCapacity, Availability.NOW),
                wholeFree(schedulingClass, poolCapacity),
                usedIn(poolCapacity),
                schedulingClass.key().pinnedNode().isPresent()
                        ? ReasonText.NodeChoice.PINNED_NODE
                        : ReasonText.NodeChoice.ANY_NODE,
                hasOtherPools(schedulingClass.key()));
        return switch (finding.code()) {
            case SUSPENDED -> texts.suspended(finding.path().orElseThrow());
            case NO_EXECUTOR -> texts.noExecutor();
            case CLOSED ->
                finding.path()
                        .map(path -> texts.closedTo(
                                path,
                                finding.scope().orElseThrow(),
                                finding.opensAtMillis().orElseThrow()))
                        .orElseGet(() -> closed(texts, schedulingClass, poolRequest));
            case BUDGET ->
                texts.budget(
                        finding.path().orElseThrow(),
                        poolRequest
                                .exhaustedBudget()
                                .filter(BudgetMeter::hasLeft)
                                .isPresent());
            case NO_SUCH_NODE ->
                texts.noSuchNode(schedulingClass.workersOfHead(), unmetNeed(schedulingClass, poolCapacity));
            case NODES_CLOSED -> texts.nodesClosed();
            case BEHIND ->
                waitKind == WaitKind.EARLIER_WORK
                        ? texts.notItsTurn(wouldAPlaceHelp(schedulingClass))
                        : texts.behind(free(schedulingClass, poolCapacity, Availability.IGNORING_NOMINATIONS));
            case NO_CAPACITY -> texts.noCapacity(room(schedulingClass, poolRequest));
            case FRAGMENTED -> texts.fragmented(schedulingClass.workersOfHead(), room(schedulingClass, poolRequest));
            case LIMIT, OVER_QUOTA_OFF, NOT_PREEMPTIBLE, HELD_FOR_OTHERS ->
                texts.bound(
                        finding.violation().orElseThrow(),
                        schedulingState.isEverAdmissible(poolRequest.quotaRequest()));
            case NOMINATED -> texts.nominated();
        };
    }

    private Reason closed(ReasonText texts, SchedulingClass schedulingClass, PoolRequest poolRequest) {
        Pool pool = poolRequest.poolCapacity().pool();
        if (FeasibilityCheck.isNeverOpenLongEnough(schedulingClass, poolRequest)) {
            return texts.neverOpenLongEnough(
                    schedulingClass.key().maxRuntimeMillis().isPresent());
        }
        OptionalLong turn = schedulingState.nextTransition(pool.id());
        return pool.open() && turn.isPresent() ? texts.closes(turn.getAsLong()) : texts.closed(turn);
    }

    private static long usedIn(PoolCapacity poolCapacity) {
        return Math.max(
                0, poolCapacity.capacityGpuMilli() - poolCapacity.freeGpuMilli(Availability.IGNORING_NOMINATIONS));
    }

    /** The reason of a nominated workload. */
    Reason nominated(Workload workload) {
        Allocation place = workload.nomination().orElseThrow();
        Optional<PoolCapacity> poolCapacity = poolRequestFactory.poolCapacity(place.pool());
        long free =
                poolCapacity.map(known -> known.freeGpuMilli(Availability.NOW)).orElse(0L);
        long used = poolCapacity.map(ReasonFinder::usedIn).orElse(0L);
        return new ReasonText(
                        place.pool(),
                        place.gpuMilli(),
                        free,
                        OptionalLong.empty(),
                        used,
                        ReasonText.NodeChoice.ANY_NODE,
                        false)
                .nominated();
    }
}
