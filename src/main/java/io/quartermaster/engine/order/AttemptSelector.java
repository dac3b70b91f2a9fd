package io.quartermaster.engine.order;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.placement.RequestSignature;
import io.quartermaster.engine.preemption.EvictionFeasibility;
import io.quartermaster.engine.preemption.EvictionPlanner;
import io.quartermaster.engine.quota.QuotaAdmission;
import io.quartermaster.engine.state.ChangeLog;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.FailedAttempts;
import io.quartermaster.engine.state.FairShareChange;
import io.quartermaster.engine.state.GroupState;
import io.quartermaster.engine.state.PoolRequest;
import io.quartermaster.engine.state.PoolRequestFactory;
import io.quartermaster.engine.state.SchedulingClass;
import io.quartermaster.engine.state.SchedulingState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Selects what each scheduling class tries next in a plan: a start in free room, then making room, and nothing once it
 * has tried all.
 *
 * <p>A class of one pool may be known not to fit, and known not to get room either. Its candidate keeps its position,
 * and with it its effect on the order, but it is not tried. A class of several pools tries them regardless of such
 * knowledge, since its position depends on the pool that it tries next.
 */
public final class AttemptSelector {
    private final Settings settings;
    private final DeclaredState declaredState;
    private final SchedulingState schedulingState;
    private final PoolRequestFactory poolRequestFactory;
    private final EvictionPlanner evictionPlanner;
    private final Set<SchedulingClass> blocked = new LinkedHashSet<>();
    private final Map<SchedulingClass, Set<PoolId>> withoutFreeRoom = new HashMap<>();
    private final Map<SchedulingClass, Set<PoolId>> withoutAnyRoom = new HashMap<>();
    private final Map<SchedulingClass, Set<PoolId>> withoutReclaimableRoom = new HashMap<>();
    private final Set<SchedulingClass> attempted = new LinkedHashSet<>();
    private final Map<SchedulingClass, @Nullable Candidate> exhaustive = new HashMap<>();
    private final CandidateQueue.Source source = new CandidateQueue.Source() {
        @Override
        public @Nullable Candidate nextCandidate(SchedulingClass schedulingClass, @Nullable Candidate before) {
            return next(schedulingClass, before);
        }

        @Override
        public Collection<SchedulingClass> boundByCapacity() {
            return AttemptSelector.this.boundByCapacity();
        }

        @Override
        public boolean isViable(Candidate candidate) {
            return AttemptSelector.this.isViable(candidate);
        }
    };
    private long seen;

    public AttemptSelector(
            Settings settings,
            DeclaredState declaredState,
            SchedulingState schedulingState,
            PoolRequestFactory poolRequestFactory,
            EvictionPlanner evictionPlanner) {
        this.settings = settings;
        this.declaredState = declaredState;
        this.schedulingState = schedulingState;
        this.poolRequestFactory = poolRequestFactory;
        this.evictionPlanner = evictionPlanner;
    }

    /** Brings the candidate queue, which is kept from plan to plan, up to date for a new plan. */
    public void begin(CandidateQueue candidateQueue) {
        for (SchedulingClass schedulingClass : schedulingState.irregularClasses()) {
            exhaustive.put(schedulingClass, selectExhaustively(schedulingClass, null));
            schedulingState.changes().add(schedulingClass);
        }
        seen = schedulingState.changes().takeCursor();
        refresh(candidateQueue);
    }

    /** Updates the queue after a decision. */
    public void refresh(CandidateQueue candidateQueue) {
        updateExhaustive();
        candidateQueue.refresh(schedulingState, source);
    }

    /** Whether every attempt that is left is known to fail. */
    public boolean isExhausted(CandidateQueue candidateQueue) {
        return candidateQueue.isExhausted(source);
    }

    private boolean isViable(Candidate candidate) {
        if (candidate.signature() != null) {
            return candidate.attempt() != Candidate.Attempt.SKIP;
        }
        for (PoolRequest poolRequest : poolRequestFactory.forClass(candidate.schedulingClass())) {
            if (!isRecorded(withoutAnyRoom, candidate.schedulingClass(), poolRequest)
                    && isViable(candidate.schedulingClass(), poolRequest)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a class with an exhaustive selection may start in a pool, or get room there. */
    private boolean isViable(SchedulingClass schedulingClass, PoolRequest poolRequest) {
        FailedAttempts failed = poolRequest.failedAttempts().orElse(null);
        if (failed == null) {
            return true;
        }
        boolean within = poolRequest.quotaRequest().withinReserved();
        boolean mayStart = !isRecorded(withoutFreeRoom, schedulingClass, poolRequest)
                && !failed.isStartKnownToFail(within)
                && QuotaAdmission.current(poolRequest.quotaRequest()).isEmpty();
        return poolRequest.isOpenAndFunded()
                && (mayStart
                        || switch (feasibility(schedulingClass, poolRequest)) {
                            case POSSIBLE -> !failed.isRoomKnownToFail(within, false);
                            case RELEASES_ONLY -> !failed.areMovesKnownToFail(within);
                            case IMPOSSIBLE -> false;
                        });
    }

    /** Selects again for the classes that the logged changes concern. */
    private void updateExhaustive() {
        ChangeLog changeLog = schedulingState.changes();
        if (!changeLog.covers(seen)) {
            List.copyOf(schedulingState.schedulingClasses()).forEach(this::refreshExhaustive);
        } else {
            for (long place = seen; place < changeLog.takeCursor(); place++) {
                switch (changeLog.get(place)) {
                    case SchedulingClass schedulingClass -> refreshExhaustive(schedulingClass);
                    case ChangeLog.AttemptChange attemptMade -> refreshExhaustive(attemptMade.schedulingClass());
                    case GroupState groupState -> refreshExhaustive(groupState.schedulingClasses());
                    case GroupState.TenantBoundsChange bounds ->
                        refreshExhaustive(bounds.group().tenant());
                    case ChangeLog.CapacityChange passed ->
                        List.copyOf(boundByCapacity()).forEach(this::refreshExhaustive);
                    case FairShareChange moved -> {}
                }
            }
        }
        seen = changeLog.takeCursor();
    }

    /** The classes whose next attempt depends on the capacity. For a class of one pool, its signature covers this. */
    private Collection<SchedulingClass> boundByCapacity() {
        return schedulingState.irregularClasses();
    }

    private void refreshExhaustive(List<SchedulingClass> schedulingClasses) {
        if (!exhaustive.isEmpty()) {
            schedulingClasses.forEach(this::refreshExhaustive);
        }
    }

    private void refreshExhaustive(SchedulingClass schedulingClass) {
        if (!schedulingClass.isEmpty() && !schedulingClass.isRegular()) {
            exhaustive.put(
                    schedulingClass,
                    blocked.contains(schedulingClass)
                            ? null
                            : selectExhaustively(schedulingClass, exhaustive.get(schedulingClass)));
        }
    }

    /** Ends the plan, so that the next plan may repeat failed attempts. */
    public void end() {
        blocked.forEach(this::recordChange);
        attempted.forEach(this::recordChange);
    }

    /** Records that there is no free room for a candidate in its pool. */
    public void recordNoFreeRoom(Candidate candidate) {
        recordAttempt(withoutFreeRoom, candidate);
    }

    /** Records that no room can be made for it in its pool without borrowing. */
    public void recordNothingToReclaim(Candidate candidate) {
        recordAttempt(withoutReclaimableRoom, candidate);
    }

    /** Records that no room at all can be made for it in its pool. */
    public void recordNoRoom(Candidate candidate) {
        recordAttempt(withoutAnyRoom, candidate);
    }

    private void recordAttempt(Map<SchedulingClass, Set<PoolId>> attempts, Candidate candidate) {
        attempts.computeIfAbsent(candidate.schedulingClass(), schedulingClass -> new HashSet<>())
                .add(candidate.poolRequest().pool());
        attempted.add(candidate.schedulingClass());
        recordChange(candidate.schedulingClass());
    }

    /** Blocks a class that has nothing left to try in this plan. */
    public void block(SchedulingClass schedulingClass) {
        blocked.add(schedulingClass);
        recordChange(schedulingClass);
    }

    private void recordChange(SchedulingClass schedulingClass) {
        schedulingState.changes().add(schedulingClass.attemptChange());
    }

    /** Whether a class with an exhaustive selection has tried all its pools. */
    public boolean hasTriedAll(SchedulingClass schedulingClass) {
        return selectExhaustively(schedulingClass, null) == null;
    }

    private static boolean isRecorded(
            Map<SchedulingClass, Set<PoolId>> attempts, SchedulingClass schedulingClass, PoolRequest poolRequest) {
        return !attempts.isEmpty()
                && attempts.getOrDefault(schedulingClass, Set.of()).contains(poolRequest.pool());
    }

    private @Nullable Candidate next(SchedulingClass schedulingClass, @Nullable Candidate before) {
        if (!blocked.isEmpty() && blocked.contains(schedulingClass)) {
            return null;
        }
        if (!schedulingClass.isRegular()) {
            return exhaustive.get(schedulingClass);
        }
        return declaredState.accountStatus(schedulingClass.key().path()) == Change.AccountStatus.ACTIVE
                ? selectWithHints(schedulingClass, before)
                : null;
    }

    /** The next attempt of a class of one pool, with what is known of its signature. */
    private @Nullable Candidate selectWithHints(SchedulingClass schedulingClass, @Nullable Candidate before) {
        if (!schedulingClass.isTurn()) {
            return null;
        }
        List<PoolRequest> only = poolRequestFactory.forClass(schedulingClass);
        if (only.isEmpty()
                || !only.getFirst().isOpenAndFunded()
                || isRecorded(withoutAnyRoom, schedulingClass, only.getFirst())) {
            return null;
        }
        PoolRequest poolRequest = only.getFirst();
        boolean free = !isRecorded(withoutFreeRoom, schedulingClass, poolRequest)
                && QuotaAdmission.ofTenantCurrent(poolRequest.quotaRequest()).isEmpty();
        RequestSignature requestSignature = poolRequest.signature().orElse(null);
        EvictionFeasibility evictionFeasibility =
                requestSignature == null ? EvictionFeasibility.POSSIBLE : feasibility(schedulingClass, poolRequest);
        return Candidate.of(schedulingClass, poolRequest, attempt(free), evictionFeasibility, requestSignature, before);
    }

    private EvictionFeasibility feasibility(SchedulingClass schedulingClass, PoolRequest poolRequest) {
        return poolRequestFactory.couldEverFit(schedulingClass, poolRequest)
                ? evictionPlanner.feasibility(
                        poolRequest.quotaRequest(), schedulingClass.key().priority(), poolRequest.ofGroup())
                : EvictionFeasibility.IMPOSSIBLE;
    }

    private static Candidate.Attempt attempt(boolean free) {
        return free ? Candidate.Attempt.START : Candidate.Attempt.EVICT;
    }

    /** The next attempt of the head, regardless of what is known; null if there is nothing left to try. */
    private @Nullable Candidate selectExhaustively(SchedulingClass schedulingClass, @Nullable Candidate before) {
        if (!schedulingClass.isTurn()
                || declaredState.accountStatus(schedulingClass.key().path()) != Change.AccountStatus.ACTIVE) {
            return null;
        }
        List<PoolRequest> all = poolRequestFactory.forClass(schedulingClass);
        if (settings.borrow() == Settings.Borrow.AFTER_RECLAIMING && all.size() > 1) {
            Candidate candidate = withoutBorrowing(schedulingClass, all, before);
            if (candidate != null) {
                return candidate;
            }
        }
        List<Candidate> lastResorts = new ArrayList<>();
        for (PoolRequest poolRequest : all) {
            boolean mayStart = poolRequest.isOpenAndFunded();
            if ((mayStart
                            || poolRequestFactory
                                    .minimum(schedulingClass, poolRequest)
                                    .isOpenAndFunded())
                    && !isRecorded(withoutAnyRoom, schedulingClass, poolRequest)) {
                boolean free = mayStart
                        && !isRecorded(withoutFreeRoom, schedulingClass, poolRequest)
                        && QuotaAdmission.current(poolRequest.quotaRequest()).isEmpty();
                Candidate candidate = Candidate.of(schedulingClass, poolRequest, attempt(free), before);
                if (free || settings.spill() == Settings.Spill.AFTER_PREEMPTING) {
                    return candidate;
                }
                lastResorts.add(candidate);
            }
        }
        for (Candidate candidate : lastResorts) {
            if (candidate.withinReserved()) {
                return candidate;
            }
        }
        return lastResorts.isEmpty() ? null : lastResorts.getFirst();
    }

    /**
     * The next attempt within the reservation: free room in any of the pools in which the head stays within its
     * reservation, then reclaiming that reservation.
     */
    private @Nullable Candidate withoutBorrowing(
            SchedulingClass schedulingClass, List<PoolRequest> all, @Nullable Candidate before) {
        PoolRequest reclaiming = null;
        for (PoolRequest poolRequest : all) {
            if (poolRequest.isOpenAndFunded() && poolRequest.quotaRequest().withinReserved()) {
                if (!isRecorded(withoutFreeRoom, schedulingClass, poolRequest)
                        && QuotaAdmission.current(poolRequest.quotaRequest()).isEmpty()) {
                    return Candidate.of(schedulingClass, poolRequest, Candidate.Attempt.START, before);
                }
                if (reclaiming == null && !isRecorded(withoutReclaimableRoom, schedulingClass, poolRequest)) {
                    reclaiming = poolRequest;
                }
            }
        }
        return reclaiming == null
                ? null
                : Candidate.of(schedulingClass, reclaiming, Candidate.Attempt.RECLAIM_RESERVED, before);
    }
}
