package io.quartermaster.engine.state;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.placement.NodePool;
import io.quartermaster.engine.placement.PlacementRequest;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.placement.RequestSignature;
import io.quartermaster.engine.preemption.CandidatesOfGroup;
import io.quartermaster.engine.preemption.EvictionCandidate;
import io.quartermaster.engine.preemption.EvictionPlan;
import io.quartermaster.engine.preemption.EvictionPlanner;
import io.quartermaster.engine.quota.QuotaRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Creates the requests of a scheduling class's head to a pool: for its devices and for its quotas. */
public final class PoolRequestFactory {
    private final DeclaredState declaredState;
    private final SchedulingState schedulingState;

    public PoolRequestFactory(DeclaredState declaredState, SchedulingState schedulingState) {
        this.declaredState = declaredState;
        this.schedulingState = schedulingState;
    }

    /** The capacity of a pool, if the pool is known. */
    public Optional<PoolCapacity> poolCapacity(PoolId pool) {
        return schedulingState.cluster().poolCapacity(pool);
    }

    /** The request of a class to each of its known pools, in the order of the pools. */
    public List<PoolRequest> forClass(SchedulingClass schedulingClass) {
        return schedulingClass.requests(() -> {
            List<PoolRequest> poolRequests = new ArrayList<>();
            for (PoolId pool : schedulingClass.key().pools()) {
                poolCapacity(pool)
                        .filter(poolCapacity ->
                                schedulingClass.key().pinnedNode().isEmpty() || poolCapacity instanceof NodePool)
                        .ifPresent(poolCapacity -> poolRequests.add(forPool(schedulingClass, poolCapacity)));
            }
            return List.copyOf(poolRequests);
        });
    }

    private PoolRequest forPool(SchedulingClass schedulingClass, PoolCapacity poolCapacity) {
        SchedulingClass.Key key = schedulingClass.key();
        Shape shape = effectiveShape(schedulingClass);
        long gpuMilli = shape.isPlain()
                ? poolCapacity.gpuMilliOf(shape.gpus()) * schedulingClass.workersOfHead()
                : placementRequest(schedulingClass).gpuMilli(poolCapacity);
        QuotaRequest quotaRequest = quotaRequest(key, poolCapacity, gpuMilli).recordAtNodes();
        Optional<RequestSignature> requestSignature = schedulingClass.takesAnyNode()
                ? Optional.of(schedulingState
                        .cluster()
                        .signature(poolCapacity, placementRequest(schedulingClass), quotaRequest.gpuMilli()))
                : Optional.empty();
        CandidatesOfGroup ofGroup =
                schedulingState.runningWork().running(poolCapacity.pool().id(), key.path());
        return new PoolRequest(
                poolCapacity,
                quotaRequest,
                requestSignature,
                schedulingClass.acceptsFewerGpus()
                        ? Optional.empty()
                        : requestSignature.map(signature -> new FailedAttempts(
                                poolCapacity,
                                quotaRequest,
                                ofGroup,
                                signature,
                                schedulingState,
                                schedulingState.tenant(key.path().tenant()),
                                schedulingClass.isGrowth())),
                ofGroup,
                inMillis -> isOpen(schedulingClass, poolCapacity.pool(), inMillis),
                schedulingState.cluster().meters(poolCapacity.pool().id(), key.path()));
    }

    private QuotaRequest quotaRequest(SchedulingClass.Key key, PoolCapacity poolCapacity, long gpuMilli) {
        return new QuotaRequest(
                schedulingState.cluster().bindingLeaves(poolCapacity.pool().id(), key.path()),
                schedulingState.cluster().caps().over(key.path(), key.user()),
                gpuMilli,
                key.growingWorkload().isEmpty(),
                key.preemptible(),
                key.dedicatedOnly(),
                key.maxRuntimeMillis());
    }

    /**
     * The shape that the head requests: the full shape, or a reduced one. It is reduced if no pool could ever grant the
     * full amount and the workload accepts less; then it is the largest amount that some pool could grant.
     */
    public Shape effectiveShape(SchedulingClass schedulingClass) {
        return schedulingClass.effectiveShape(() -> mostPossible(schedulingClass));
    }

    private Shape mostPossible(SchedulingClass schedulingClass) {
        Shape shape = schedulingClass.key().shape();
        GpuRequest.Whole whole = (GpuRequest.Whole) shape.gpus();
        if (isPossible(schedulingClass, shape)
                || !isPossible(schedulingClass, shape.with(GpuRequest.whole(whole.fewest())))) {
            return shape;
        }
        int possible = whole.fewest();
        int impossible = whole.count();
        while (impossible - possible > 1) {
            int between = (possible + impossible) >>> 1;
            if (isPossible(schedulingClass, shape.with(GpuRequest.whole(between)))) {
                possible = between;
            } else {
                impossible = between;
            }
        }
        return shape.with(GpuRequest.whole(possible));
    }

    /**
     * Whether some pool of a class could grant its head a shape, by its quotas and with every known node up and empty.
     */
    private boolean isPossible(SchedulingClass schedulingClass, Shape shape) {
        PlacementRequest placementRequest = new PlacementRequest(
                shape, schedulingClass.numbersWanted(), schedulingClass.key().path(), nodes(schedulingClass));
        return schedulingClass.key().pools().stream()
                .flatMap(pool -> poolCapacity(pool).stream())
                .anyMatch(poolCapacity -> schedulingState.isEverAdmissible(quotaRequest(
                                schedulingClass.key(), poolCapacity, placementRequest.gpuMilli(poolCapacity)))
                        && poolCapacity.couldEverFit(placementRequest));
    }

    /**
     * The move of a running workload to the first preferred pool in which it could start now.
     *
     * @param inMillis the time that the workload may need to leave
     */
    public Optional<EvictionPlan.Eviction> moveBack(Workload workload, EvictionPlanner evictionPlanner, long inMillis) {
        if (!(workload.state() instanceof WorkloadPhase.Holding holding)) {
            return Optional.empty();
        }
        Optional<EvictionCandidate> evictionCandidate = SchedulingState.evictionCandidate(workload, holding);
        List<Integer> numbers = List.copyOf(SchedulingState.numbers(holding.allocation()));
        PlacementRequest placementRequest =
                new PlacementRequest(workload.shape(), numbers, workload.path(), node -> true);
        SchedulingClass.Key wholeWorkload =
                SchedulingClass.Key.waiting(workload, workload.user(), Optional.empty(), workload.maxRuntimeMillis());
        int own = workload.pools().indexOf(holding.allocation().pool());
        for (PoolId pool : evictionCandidate.isEmpty()
                ? List.<PoolId>of()
                : workload.pools().subList(0, own)) {
            Optional<EvictionPlan.Eviction> move = poolCapacity(pool)
                    .filter(room -> mayStartIn(room, workload, placementRequest, inMillis))
                    .flatMap(room -> evictionPlanner.moveTo(
                            evictionCandidate.get(),
                            room,
                            quotaRequest(wholeWorkload, room, placementRequest.gpuMilli(room)),
                            placementRequest));
            if (move.isPresent()) {
                return move;
            }
        }
        return Optional.empty();
    }

    private boolean mayStartIn(
            PoolCapacity poolCapacity, Workload workload, PlacementRequest placementRequest, long inMillis) {
        return schedulingState.isOpen(
                        poolCapacity.pool(), inMillis, workload.preemptible(), workload.maxRuntimeMillis())
                && schedulingState.cluster().meters(poolCapacity.pool().id(), workload.path()).stream()
                        .allMatch(budgetMeter -> budgetMeter.allowsAfter(
                                inMillis,
                                placementRequest.gpuMilli(poolCapacity),
                                workload.preemptible(),
                                workload.maxRuntimeMillis()));
    }

    /** A running workload may grow as long as the pool is open. */
    private boolean isOpen(SchedulingClass schedulingClass, Pool pool, long inMillis) {
        return schedulingClass.isGrowth()
                ? pool.takesWork()
                : schedulingState.isOpen(
                        pool,
                        inMillis,
                        schedulingClass.key().preemptible(),
                        schedulingClass.key().maxRuntimeMillis());
    }

    public PlacementRequest placementRequest(SchedulingClass schedulingClass) {
        return schedulingClass.placementRequest(() -> new PlacementRequest(
                effectiveShape(schedulingClass),
                schedulingClass.numbersWanted(),
                schedulingClass.key().path(),
                nodes(schedulingClass)));
    }

    /** Whether the pool could take the request with every known node up and empty. */
    public boolean couldEverFit(SchedulingClass schedulingClass, PoolRequest poolRequest) {
        return poolRequest.couldEverFit(placementRequest(schedulingClass));
    }

    /**
     * Whether some known nodes could take the request, but all of them are closed to new work of its tenant. If the
     * work accepts a reduced start, its least request decides.
     */
    public boolean isOnlyForClosedNodes(SchedulingClass schedulingClass, PoolRequest poolRequest) {
        if (!poolRequest.poolCapacity().hasClosedNodes()) {
            return false;
        }
        return schedulingClass.key().shape().gpus() instanceof GpuRequest.Whole whole && whole.takesFewer()
                ? poolRequest.poolCapacity().isOnlyForClosedNodes(withGpus(schedulingClass, whole.fewest()))
                : poolRequest.isOnlyForClosedNodes(placementRequest(schedulingClass));
    }

    /**
     * Whether the pool could take the request, or the reduced one that it would start with, with every known node up
     * and empty.
     */
    public boolean couldEverStart(SchedulingClass schedulingClass, PoolRequest poolRequest) {
        return couldEverFit(schedulingClass, poolRequest)
                || schedulingClass.key().shape().gpus() instanceof GpuRequest.Whole whole
                        && whole.takesFewer()
                        && poolRequest.poolCapacity().couldEverFit(withGpus(schedulingClass, whole.fewest()));
    }

    /** The least request with which the head of a class starts in a pool. */
    public PoolRequest minimum(SchedulingClass schedulingClass, PoolRequest poolRequest) {
        return schedulingClass.key().shape().gpus() instanceof GpuRequest.Whole whole && whole.takesFewer()
                ? withGpus(schedulingClass, poolRequest, whole.fewest())
                : poolRequest;
    }

    /** The request of the head to a pool with fewer GPUs for each worker. */
    public PoolRequest withGpus(SchedulingClass schedulingClass, PoolRequest poolRequest, int gpus) {
        return poolRequest.with(poolRequest
                .quotaRequest()
                .with(poolRequest.poolCapacity().gpuMilliOf(GpuRequest.whole(gpus)) * schedulingClass.workersOfHead()));
    }

    /** The placement request of the head with fewer GPUs for each worker. */
    public PlacementRequest withGpus(SchedulingClass schedulingClass, int gpus) {
        return placementRequest(schedulingClass)
                .with(schedulingClass.key().shape().with(GpuRequest.whole(gpus)));
    }

    private Predicate<Node> nodes(SchedulingClass schedulingClass) {
        Optional<NodeId> only = schedulingClass.key().pinnedNode();
        return only.isPresent() ? node -> node.id().equals(only.get()) : colocationFilter(schedulingClass);
    }

    /** Surplus workers stay in the domain that the workload requires, and in the domain of their slice. */
    private Predicate<Node> colocationFilter(SchedulingClass schedulingClass) {
        if (!(schedulingClass.head().state() instanceof WorkloadPhase.Holding holding)) {
            return node -> true;
        }
        Shape shape = schedulingClass.key().shape();
        Allocation held = holding.allocation();
        if (shape.isPlain() && shape.requiredLevel().isEmpty() && shape.slice().isEmpty()) {
            return node -> true;
        }
        int number = schedulingClass.numbersWanted().getFirst();
        Shape.WorkerSet set = shape.setOf(number);
        Allocation ofSet = new Allocation(held.pool(), set.of(held));
        Predicate<Node> beside =
                set.set().requiredLevel().map(level -> beside(ofSet, level)).orElse(node -> true);
        if (shape.together().isPresent()) {
            beside = beside.and(beside(held, shape.together().get()));
        }
        if (set.set().slice().isPresent()) {
            List<Allocation.Worker> ofSlice = ofSet.workers().stream()
                    .filter(worker -> set.sliceOf(worker.number()) == set.sliceOf(number))
                    .toList();
            beside = beside.and(beside(
                    new Allocation(held.pool(), ofSlice),
                    set.set().slice().get().level()));
        }
        return beside;
    }

    private Predicate<Node> beside(Allocation held, String level) {
        Pool pool = declaredState.pools().get(held.pool());
        int depth = pool == null ? 0 : pool.topologyLevels().indexOf(level) + 1;
        Optional<List<String>> domain = domain(held, depth);
        return node -> domain.isEmpty()
                || (node.topology().size() >= depth
                        && node.topology().subList(0, depth).equals(domain.get()));
    }

    private Optional<List<String>> domain(Allocation allocation, int depth) {
        for (Allocation.Worker worker : allocation.workers()) {
            if (worker.place() instanceof Allocation.Place.OnNode place) {
                Node node = declaredState.nodes().get(place.node());
                if (node != null && node.topology().size() >= depth) {
                    return Optional.of(node.topology().subList(0, depth));
                }
            }
        }
        return Optional.empty();
    }
}
