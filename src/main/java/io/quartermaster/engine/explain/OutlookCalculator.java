package io.quartermaster.engine.explain;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Hours;
import io.quartermaster.engine.model.Outlook;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.placement.PlacementRequest;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.placement.Transaction;
import io.quartermaster.engine.plan.ReleaseSchedule;
import io.quartermaster.engine.preemption.EvictionPlanner;
import io.quartermaster.engine.preemption.Preemptor;
import io.quartermaster.engine.quota.Cap;
import io.quartermaster.engine.quota.QuotaAdmission;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.FeasibilityCheck;
import io.quartermaster.engine.state.PoolRequest;
import io.quartermaster.engine.state.PoolRequestFactory;
import io.quartermaster.engine.state.Release;
import io.quartermaster.engine.state.SchedulingClass;
import io.quartermaster.engine.state.SchedulingState;
import io.quartermaster.engine.state.StrictQueue;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** Calculator of the outlook of one waiting workload. It tries changes in the scheduling state and undoes them. */
public final class OutlookCalculator {
    private final DeclaredState declaredState;
    private final SchedulingState schedulingState;
    private final PoolRequestFactory poolRequestFactory;
    private final EvictionPlanner evictionPlanner;
    private final Function<PoolId, List<Outlook.Relief>> remedies;
    private final long nowMillis;

    /** @param remedies finds, for one pool, the changes that are sufficient for the workload to start */
    public OutlookCalculator(
            DeclaredState declaredState,
            SchedulingState schedulingState,
            EvictionPlanner evictionPlanner,
            Function<PoolId, List<Outlook.Relief>> remedies,
            long nowMillis) {
        this.remedies = remedies;
        this.evictionPlanner = evictionPlanner;
        this.declaredState = declaredState;
        this.schedulingState = schedulingState;
        this.poolRequestFactory = new PoolRequestFactory(declaredState, schedulingState);
        this.nowMillis = nowMillis;
    }

    public Outlook of(Workload workload, SchedulingClass schedulingClass, List<Reason> reasons) {
        List<Outlook.InPool> perPool = new ArrayList<>();
        for (Reason reason : reasons) {
            perPool.add(inPool(workload, schedulingClass, reason));
        }
        Optional<WorkloadId> first = schedulingClass
                .queue()
                .flatMap(StrictQueue::first)
                .map(Workload::id)
                .filter(id -> !id.equals(workload.id()));
        return new Outlook(workload.id(), position(workload), first, perPool);
    }

    private int position(Workload workload) {
        int before = 0;
        for (SchedulingClass schedulingClass : schedulingState.schedulingClasses()) {
            if (schedulingClass.key().path().equals(workload.path()) && !schedulingClass.isGrowth()) {
                int byPriority = Integer.compare(schedulingClass.key().priority(), workload.priority());
                if (byPriority > 0) {
                    before += schedulingClass.members().size();
                } else if (byPriority == 0) {
                    before += schedulingClass.members().before(workload);
                }
            }
        }
        return before;
    }

    private Outlook.InPool inPool(Workload workload, SchedulingClass schedulingClass, Reason reason) {
        Optional<PoolCapacity> poolCapacity = poolRequestFactory.poolCapacity(reason.pool());
        boolean itsTurn = schedulingClass.queue().isEmpty() || schedulingClass.firstInQueue() == workload;
        boolean room = itsTurn && isRoom(reason);
        Optional<QuotaAdmission.Violation> cap = cap(schedulingClass, reason);
        return new Outlook.InPool(
                reason.pool(),
                reason.code(),
                cap.map(violation -> holders(workload, violation)).orElseGet(() -> holders(workload, reason)),
                couldLeavingHelp(reason) ? heldByOthers(workload, reason.pool()) : 0,
                remedies.apply(reason.pool()),
                room && poolCapacity.isPresent()
                        ? startsWhenOpen(schedulingClass, poolCapacity.get())
                        : OptionalLong.empty(),
                poolCapacity.isPresent()
                        ? preemptsFrom(workload, reason, poolCapacity.get().pool())
                        : OptionalLong.empty(),
                itsTurn && isCurable(reason) ? fence(workload, schedulingClass, reason) : Optional.empty());
    }

    /**
     * The time from which the pool evicts work for the workload, if the pool waits before preempting. Empty if that
     * time has passed, or if evictions would not help.
     */
    private OptionalLong preemptsFrom(Workload workload, Reason reason, Pool pool) {
        long from = workload.waitsSinceMillis() + pool.waitBeforePreemptingMillis();
        boolean waits = pool.waitBeforePreemptingMillis() > 0 && from > nowMillis;
        return waits && isCurable(reason) ? OptionalLong.of(from) : OptionalLong.empty();
    }

    /** The path of the fence that prevents a reclaim for the workload; empty if no fence does. */
    private Optional<QuotaPath> fence(Workload workload, SchedulingClass schedulingClass, Reason reason) {
        for (PoolRequest poolRequest : poolRequestFactory.forClass(schedulingClass)) {
            if (poolRequest.pool().equals(reason.pool())
                    && poolRequestFactory.couldEverFit(schedulingClass, poolRequest)) {
                return evictionPlanner.fenceInTheWay(poolRequest.preemptor(
                        workload,
                        poolRequestFactory.placementRequest(schedulingClass),
                        Preemptor.AllowedActions.EVICT));
            }
        }
        return Optional.empty();
    }

    /** Whether the eviction of other work could remove the reason. */
    private static boolean isCurable(Reason reason) {
        return switch (reason.code()) {
            case LIMIT, OVER_QUOTA_OFF, HELD_FOR_OTHERS, BEHIND, NO_CAPACITY, FRAGMENTED -> true;
            case NOT_PREEMPTIBLE, NODES_CLOSED, NO_SUCH_NODE, NOMINATED, BUDGET, CLOSED, NO_EXECUTOR, SUSPENDED ->
                false;
        };
    }

    private static boolean isRoom(Reason reason) {
        return reason.code() == Reason.Code.NO_CAPACITY
                || reason.code() == Reason.Code.FRAGMENTED
                || reason.code() == Reason.Code.BEHIND
                || reason.code() == Reason.Code.NODES_CLOSED;
    }

    /** Whether the workload would be closer to its start if other workloads ended. */
    private static boolean couldLeavingHelp(Reason reason) {
        return reason.code() != Reason.Code.NO_SUCH_NODE && reason.code() != Reason.Code.NO_EXECUTOR;
    }

    /**
     * The running workloads of the same tenant whose end could help: those under the path whose bound is reached, or
     * all in the pool if no bound is.
     */
    private List<WorkloadId> holders(Workload workload, Reason reason) {
        if (!couldLeavingHelp(reason)) {
            return List.of();
        }
        QuotaPath within = reason.path().orElse(QuotaPath.of(workload.path().tenant()));
        List<Workload> holders = new ArrayList<>();
        for (Workload other : declaredState.workloads()) {
            if (within.covers(other.path()) && heldIn(other, reason.pool()) > 0) {
                holders.add(other);
            }
        }
        return largest(holders, other -> heldIn(other, reason.pool()));
    }

    private static List<WorkloadId> largest(List<Workload> holders, ToLongFunction<Workload> held) {
        holders.sort(Comparator.comparingLong((Workload other) -> -held.applyAsLong(other))
                .thenComparing(Workload::id));
        return holders.stream().limit(Outlook.MAX_HOLDERS).map(Workload::id).toList();
    }

    /** The violated cap, if the reason is a cap and not a limit of a quota. */
    private Optional<QuotaAdmission.Violation> cap(SchedulingClass schedulingClass, Reason reason) {
        return reason.code() != Reason.Code.LIMIT
                ? Optional.empty()
                : poolRequestFactory.forClass(schedulingClass).stream()
                        .filter(poolRequest -> poolRequest.pool().equals(reason.pool()))
                        .findFirst()
                        .flatMap(poolRequest -> QuotaAdmission.current(poolRequest.quotaRequest()))
                        .filter(violation -> violation.cap().isPresent());
    }

    /** The running workloads that count against a cap. */
    private List<WorkloadId> holders(Workload workload, QuotaAdmission.Violation violation) {
        Cap cap = violation.cap().orElseThrow();
        List<Workload> holders = new ArrayList<>();
        for (Workload other : declaredState.workloads()) {
            boolean counts = cap.user().isEmpty() || other.user().equals(workload.user());
            if (counts && cap.path().covers(other.path()) && other.state() instanceof WorkloadPhase.Holding) {
                holders.add(other);
            }
        }
        return largest(holders, OutlookCalculator::held);
    }

    private long heldByOthers(Workload workload, PoolId pool) {
        long held = 0;
        for (Workload other : declaredState.workloads()) {
            held += other.path().tenant().equals(workload.path().tenant()) ? 0 : heldIn(other, pool);
        }
        return held;
    }

    private static long heldIn(Workload workload, PoolId pool) {
        return workload.state() instanceof WorkloadPhase.Holding holding
                        && holding.allocation().pool().equals(pool)
                ? holding.allocation().gpuMilli()
                : 0;
    }

    private static long held(Workload workload) {
        return workload.state() instanceof WorkloadPhase.Holding holding
                ? holding.allocation().gpuMilli()
                : 0;
    }

    /** When the workload fits and the pool is open to it; empty if no opening is long enough. */
    private OptionalLong startsWhenOpen(SchedulingClass schedulingClass, PoolCapacity poolCapacity) {
        OptionalLong fits = startsAt(schedulingClass, poolCapacity);
        Optional<Hours> hours = poolCapacity.pool().hours();
        if (fits.isEmpty() || hours.isEmpty()) {
            return fits;
        }
        return schedulingClass.isGrowth()
                ? hours.get().opensFor(fits.getAsLong(), 1)
                : FeasibilityCheck.opensAt(
                        hours.get(),
                        fits.getAsLong(),
                        schedulingClass.key().preemptible(),
                        schedulingClass.key().maxRuntimeMillis());
    }

    /**
     * The latest time at which the workload fits, if running work ends as stated; empty if too little of it states an
     * end.
     */
    private OptionalLong startsAt(SchedulingClass schedulingClass, PoolCapacity poolCapacity) {
        PlacementRequest placementRequest = poolRequestFactory.placementRequest(schedulingClass);
        ReleaseSchedule releaseSchedule =
                ReleaseSchedule.of(schedulingState, poolCapacity.pool().id(), nowMillis);
        Transaction transaction = schedulingState.cluster().transaction();
        Optional<Allocation> place = poolCapacity.place(placementRequest, Availability.AFTER_RELEASES);
        for (Release release : releaseSchedule.releases()) {
            if (place.isPresent() || release.statedMillis() == Release.NEVER) {
                break;
            }
            transaction.releaseOnDevices(release.booking());
            place = poolCapacity.freeGpuMilli(Availability.AFTER_RELEASES) >= placementRequest.leastGpuMilli()
                    ? poolCapacity.place(placementRequest, Availability.AFTER_RELEASES)
                    : Optional.empty();
        }
        int released = transaction.checkpoint();
        transaction.rollback();
        if (place.isEmpty()) {
            return OptionalLong.empty();
        }
        long at = releaseSchedule.freeAtMillis(place.get(), released);
        return released > 0 || at > nowMillis ? OptionalLong.of(at) : OptionalLong.empty();
    }
}
