package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.quota.BudgetMeter;
import io.quartermaster.engine.quota.Cap;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaTree;
import io.quartermaster.engine.state.ChangeLog;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.PoolRequest;
import io.quartermaster.engine.state.PoolRequestFactory;
import io.quartermaster.engine.state.SchedulingClass;
import io.quartermaster.engine.state.SchedulingState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;

/**
 * The waiting work, counted at the leaves of the quota trees: in the tree of each pool of a class, and once in the tree
 * over all pools. It recounts the classes that changed. With caps it recounts all classes, since a cap may leave later
 * classes less. A nominated workload may still want surplus workers; these wait in the pool of the nomination.
 */
public final class DemandCounter {
    private final DeclaredState declaredState;
    private final SchedulingState schedulingState;
    private final PoolRequestFactory poolRequestFactory;
    private final boolean workEndsAtClose;
    private final Map<SchedulingClass, CountedDemand> countedDemand = new LinkedHashMap<>();
    private final Map<WorkloadId, NominatedGrowth> growthPlaces = new LinkedHashMap<>();
    private long seen = -1;

    public DemandCounter(DeclaredState declaredState, SchedulingState schedulingState) {
        this.declaredState = declaredState;
        this.schedulingState = schedulingState;
        this.poolRequestFactory = new PoolRequestFactory(declaredState, schedulingState);
        this.workEndsAtClose = !schedulingState.cluster().meters().isEmpty()
                || declaredState.pools().values().stream()
                        .anyMatch(pool -> !pool.takesWork() || pool.hours().isPresent());
    }

    /** The counted workers of a class, with the requests by which they were counted. */
    private record CountedDemand(long workers, List<PoolRequest> poolRequests) {}

    /** The counted surplus workers of a nominated workload, with the leaves at which they count. */
    private record NominatedGrowth(List<QuotaNode> leaves, long gpuMilli) {}

    /** Updates the waiting amounts in the trees. */
    void count() {
        countGrowthPlaces();
        ChangeLog changeLog = schedulingState.changes();
        if (declaredState.caps().isEmpty() && changeLog.covers(seen)) {
            for (long place = seen; place < changeLog.takeCursor(); place++) {
                if (changeLog.get(place) instanceof SchedulingClass schedulingClass) {
                    count(schedulingClass, workersOf(schedulingClass));
                }
            }
        } else {
            countAll();
        }
        seen = changeLog.takeCursor();
    }

    private void countGrowthPlaces() {
        Map<WorkloadId, NominatedGrowth> now = new LinkedHashMap<>();
        for (Workload workload : schedulingState.nominated()) {
            if (declaredState.accountStatus(workload.path()) == Change.AccountStatus.ACTIVE) {
                growthPlace(workload).ifPresent(nominatedGrowth -> now.put(workload.id(), nominatedGrowth));
            }
        }
        growthPlaces.entrySet().removeIf(before -> {
            boolean gone = !before.getValue().equals(now.get(before.getKey()));
            if (gone) {
                add(before.getValue(), -before.getValue().gpuMilli());
            }
            return gone;
        });
        now.forEach((workload, nominatedGrowth) -> {
            if (growthPlaces.putIfAbsent(workload, nominatedGrowth) == null) {
                add(nominatedGrowth, nominatedGrowth.gpuMilli());
            }
        });
    }

    /** Empty if a cap may leave the workload less. */
    private Optional<NominatedGrowth> growthPlace(Workload workload) {
        Allocation place = workload.nomination().orElseThrow();
        Shape shape = workload.shape();
        if (shape.allMinWorkers() == shape.allWorkers()
                || !schedulingState
                        .cluster()
                        .caps()
                        .over(workload.path(), workload.user())
                        .isEmpty()) {
            return Optional.empty();
        }
        SortedSet<Integer> numbers = SchedulingState.numbers(place);
        if (workload.state() instanceof WorkloadPhase.Holding holding) {
            SchedulingState.remaining(holding).ifPresent(keeps -> numbers.addAll(SchedulingState.numbers(keeps)));
        }
        return poolRequestFactory
                .poolCapacity(place.pool())
                .filter(poolCapacity -> poolCapacity.pool().takesWork())
                .map(poolCapacity -> new NominatedGrowth(
                        leaves(poolCapacity, workload), growthGpuMilli(numbers, shape, poolCapacity)))
                .filter(nominatedGrowth -> nominatedGrowth.gpuMilli() > 0
                        && !nominatedGrowth.leaves().isEmpty());
    }

    private List<QuotaNode> leaves(PoolCapacity poolCapacity, Workload workload) {
        List<QuotaNode> leaves =
                schedulingState.cluster().leaves(poolCapacity.pool().id(), workload.path());
        return leaves.getFirst().isNamed() ? leaves : List.of();
    }

    private static long growthGpuMilli(SortedSet<Integer> numbers, Shape shape, PoolCapacity poolCapacity) {
        long beyond = 0;
        for (Shape.WorkerSet set : shape.sets()) {
            long there = numbers.stream().filter(set::has).count();
            beyond += poolCapacity.gpuMilliOf(set.set().gpus()) * (set.set().workers() - there);
        }
        return beyond;
    }

    private static void add(NominatedGrowth nominatedGrowth, long gpuMilli) {
        nominatedGrowth.leaves().forEach(leaf -> leaf.addWaiting(gpuMilli));
    }

    private void countAll() {
        for (SchedulingClass schedulingClass : List.copyOf(countedDemand.keySet())) {
            if (schedulingClass.isEmpty()) {
                count(schedulingClass, 0);
            }
        }
        List<SchedulingClass> schedulingClasses = new ArrayList<>(schedulingState.schedulingClasses());
        if (!declaredState.caps().isEmpty()) {
            schedulingClasses.sort(Comparator.comparing(SchedulingClass::head, SchedulingClass.FIRST_SUBMITTED));
        }
        Map<Cap, Long> ofCeilings = new HashMap<>();
        for (SchedulingClass schedulingClass : schedulingClasses) {
            long wanted = workersOf(schedulingClass);
            count(
                    schedulingClass,
                    declaredState.caps().isEmpty() || wanted == 0
                            ? wanted
                            : withinCaps(schedulingClass, wanted, ofCeilings));
        }
    }

    /** The number of workers that a class wants beyond those that run; 0 if nothing may start. */
    private long workersOf(SchedulingClass schedulingClass) {
        boolean may = !schedulingClass.isEmpty()
                && declaredState.accountStatus(schedulingClass.key().path()) == Change.AccountStatus.ACTIVE;
        return may ? schedulingClass.workersWanted() : 0;
    }

    private void count(SchedulingClass schedulingClass, long wanted) {
        List<PoolRequest> poolRequests = wanted == 0 ? List.of() : admissiblePools(schedulingClass);
        CountedDemand before = wanted == 0
                ? countedDemand.remove(schedulingClass)
                : countedDemand.put(schedulingClass, new CountedDemand(wanted, poolRequests));
        if (before != null && before.poolRequests().equals(poolRequests)) {
            add(schedulingClass, poolRequests, wanted - before.workers());
            return;
        }
        if (before != null) {
            add(schedulingClass, before.poolRequests(), -before.workers());
        }
        add(schedulingClass, poolRequests, wanted);
    }

    /**
     * The pools of a class without those that are closed to it and those without any budget left. In these it competes
     * with no other work. A budget that is merely low is no reason to leave out a pool, since that depends on running
     * work and so on the shares.
     */
    private List<PoolRequest> admissiblePools(SchedulingClass schedulingClass) {
        List<PoolRequest> poolRequests = poolRequestFactory.forClass(schedulingClass);
        if (!workEndsAtClose) {
            return poolRequests;
        }
        return poolRequests.stream()
                .filter(poolRequest ->
                        poolRequest.isOpen() && poolRequest.meters().stream().allMatch(BudgetMeter::hasLeft))
                .toList();
    }

    private void add(SchedulingClass schedulingClass, List<PoolRequest> poolRequests, long more) {
        if (more == 0) {
            return;
        }
        List<QuotaTree> countedIn = new ArrayList<>(2);
        for (PoolRequest poolRequest : poolRequests) {
            long gpuMilli = schedulingClass.gpuMilliOf(poolRequest.poolCapacity(), more);
            List<QuotaNode> leaves = schedulingState
                    .cluster()
                    .leaves(
                            poolRequest.poolCapacity().pool().id(),
                            schedulingClass.key().path());
            for (QuotaNode leaf : leaves.getFirst().isNamed() ? leaves : List.<QuotaNode>of()) {
                if (!countedIn.contains(leaf.tree())) {
                    countedIn.add(leaf.tree());
                    leaf.addWaiting(gpuMilli);
                }
            }
        }
    }

    /** The number of workers of a class that the caps permit, after the classes before it. */
    private long withinCaps(SchedulingClass schedulingClass, long wanted, Map<Cap, Long> ofCeilings) {
        SchedulingClass.Key key = schedulingClass.key();
        List<Cap> caps = schedulingState.cluster().caps().over(key.path(), key.user());
        List<PoolRequest> poolRequests = poolRequestFactory.forClass(schedulingClass);
        if (caps.isEmpty() || poolRequests.isEmpty()) {
            return wanted;
        }
        int perWorkload = schedulingClass.isGrowth() ? 1 : key.shape().allWorkers();
        long ofOne = schedulingClass.gpuMilliOf(poolRequests.getFirst().poolCapacity(), perWorkload);
        long left = wanted;
        for (Cap cap : caps) {
            long each = cap.countOf(ofOne, !schedulingClass.isGrowth());
            long room = cap.max() - cap.used().projected() - ofCeilings.getOrDefault(cap, 0L);
            left = each == 0 ? left : Math.min(left, Math.max(0, room) / each * perWorkload);
        }
        for (Cap cap : caps) {
            ofCeilings.merge(cap, left / perWorkload * cap.countOf(ofOne, !schedulingClass.isGrowth()), Long::sum);
        }
        return left;
    }
}
