package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.NominationEnd;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.order.AttemptSelector;
import io.quartermaster.engine.order.Candidate;
import io.quartermaster.engine.order.CandidateQueue;
import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.placement.Booking;
import io.quartermaster.engine.placement.PlacementRequest;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.placement.RequestSignature;
import io.quartermaster.engine.preemption.ChurnGuard;
import io.quartermaster.engine.preemption.EvictionPlan;
import io.quartermaster.engine.preemption.EvictionPlanner;
import io.quartermaster.engine.preemption.Preemptor;
import io.quartermaster.engine.quota.Budgets;
import io.quartermaster.engine.quota.QuotaAdmission;
import io.quartermaster.engine.quota.QuotaTree;
import io.quartermaster.engine.quota.UsageHistory;
import io.quartermaster.engine.quota.UsageView;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.FailedAttempts;
import io.quartermaster.engine.state.PoolRequest;
import io.quartermaster.engine.state.PoolRequestFactory;
import io.quartermaster.engine.state.SchedulingClass;
import io.quartermaster.engine.state.SchedulingState;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Makes one plan. It fixes the fair shares and starts nominated workloads. Then it tries the candidates in their order:
 * each is placed, gets room made, or is blocked until the next plan. Every decision takes effect immediately.
 */
public final class Planner {
    private final Settings settings;
    private final DeclaredState declaredState;
    private final SchedulingState schedulingState;
    private final DemandCounter demand;
    private final CandidateQueue candidates;
    private final PoolRequestFactory poolRequestFactory;
    private final BackfillReservations backfillReservations;
    private final EvictionPlanner evictionPlanner;
    private final AttemptSelector attemptSelector;
    private final NominationCheck nominationCheck;
    private final ChurnGuard churnGuard;
    private final Optional<UsageHistory> usageHistory;
    private final Budgets budgets;
    private final long nowMillis;
    private final PlanListener planListener;
    private final PlanBuilder planBuilder;
    private final MandatoryEvictions mandatoryEvictions;
    /** The classes that start reduced, because no room could be made for their full request in this plan. */
    private final Set<SchedulingClass> startingReduced = new HashSet<>();
    /** Whether some search for moves was left to the next plan. */
    private boolean searchesExhausted;

    private boolean mustContinue;

    public Planner(
            Settings settings,
            DeclaredState declaredState,
            SchedulingState schedulingState,
            DemandCounter demand,
            CandidateQueue candidates,
            ReservationHistory reservationHistory,
            ChurnGuard churnGuard,
            Optional<UsageHistory> past,
            Budgets budgets,
            long nowMillis,
            PlanListener planListener) {
        this.planListener = planListener;
        this.budgets = budgets;
        this.usageHistory = past;
        this.settings = settings;
        this.declaredState = declaredState;
        this.schedulingState = schedulingState;
        this.demand = demand;
        this.candidates = candidates;
        this.poolRequestFactory = new PoolRequestFactory(declaredState, schedulingState);
        this.backfillReservations = new BackfillReservations(
                settings, declaredState, schedulingState, poolRequestFactory, reservationHistory, nowMillis);
        this.evictionPlanner = new EvictionPlanner(
                settings, schedulingState.cluster(), schedulingState.runningWork(), churnGuard, nowMillis);
        this.attemptSelector =
                new AttemptSelector(settings, declaredState, schedulingState, poolRequestFactory, evictionPlanner);
        this.nominationCheck = new NominationCheck(declaredState, schedulingState);
        this.churnGuard = churnGuard;
        this.nowMillis = nowMillis;
        this.planBuilder = new PlanBuilder(
                settings, declaredState, schedulingState, evictionPlanner, churnGuard, past, nowMillis, planListener);
        this.mandatoryEvictions =
                new MandatoryEvictions(settings, declaredState, schedulingState, budgets, planBuilder, nowMillis);
    }

    public List<Decision> makeDecisions() {
        schedulingState.advanceTo(nowMillis, List.of(settings.minRuntimeMillis(), settings.longestMinRuntimeMillis()));
        if (churnGuard.takeFreedSome()) {
            schedulingState.recordReclaimable();
        }
        computeFairShares();
        planListener.planBegins(declaredState, schedulingState);
        startOrWithdrawNominated();
        mandatoryEvictions.evictAll();
        updateCapacities();
        backfillReservations.reserve();
        attemptSelector.begin(candidates);
        while (!attemptSelector.isExhausted(candidates)) {
            Candidate candidate = candidates.next();
            planListener.attemptBegins(candidate, candidates);
            tryCandidate(candidate);
            attemptSelector.refresh(candidates);
        }
        moveBack();
        attemptSelector.end();
        backfillReservations.releaseAll();
        mustContinue = schedulingState.cluster().moveSearches().endPlan(searchesExhausted);
        return planBuilder.decisions();
    }

    /** Whether an eviction or a search was postponed to the next plan, which must follow immediately. */
    public boolean hasPostponed() {
        return planBuilder.hasPostponed() || mustContinue;
    }

    /** Moves work to pools that it prefers, into free room that no waiting workload can use. */
    private void moveBack() {
        for (Workload workload : SchedulingClass.inPriorityOrder(schedulingState.outsidePreferredPool())) {
            if (declaredState.accountStatus(workload.path()) == Change.AccountStatus.ACTIVE) {
                poolRequestFactory
                        .moveBack(workload, evictionPlanner, settings.graceMillis())
                        .filter(eviction -> planBuilder.permitOrPostponeEviction(workload.id()))
                        .ifPresent(eviction -> {
                            churnGuard.recordEviction(workload.id());
                            planBuilder.evict(eviction, Optional.empty());
                        });
            }
        }
    }

    private void computeFairShares() {
        budgets.publish(schedulingState.cluster().meters());
        demand.count();
        updateCapacities();
        for (QuotaTree tree : schedulingState.cluster().trees()) {
            tree.setNowMillis(nowMillis);
            usageHistory.ifPresent(kept -> kept.publish(tree));
            tree.divide(upGpuMilli(tree), schedulingState::recordFairShareChange);
        }
        if (usageHistory.isPresent() || !budgets.isEmpty()) {
            schedulingState.changes().invalidate();
        }
    }

    /**
     * Sets the capacity of each tree: what is up, and what is held beside it, which takes nothing from other work. The
     * cluster keeps the latter up to date within the plan.
     */
    private void updateCapacities() {
        boolean anyBeside = false;
        for (QuotaTree tree : schedulingState.cluster().trees()) {
            long up = upGpuMilli(tree);
            for (UsageView view : UsageView.values()) {
                long beside = heldBesideGpuMilli(tree, view);
                anyBeside |= beside > 0;
                if (tree.setCapacityGpuMilli(view, up + beside)) {
                    schedulingState.changes().invalidate();
                }
            }
        }
        schedulingState.cluster().setHoldsBesideCapacity(anyBeside);
    }

    private long heldBesideGpuMilli(QuotaTree tree, UsageView view) {
        long held =
                tree.scope().equals(Scope.ALL_POOLS) ? schedulingState.cluster().heldInUnknownPoolsGpuMilli(view) : 0;
        for (PoolCapacity poolCapacity : schedulingState.cluster().poolCapacities()) {
            held += tree.counts(poolCapacity.pool().id()) ? poolCapacity.heldBeyondCapacityGpuMilli(view) : 0;
        }
        return held;
    }

    private long upGpuMilli(QuotaTree tree) {
        long up = 0;
        for (PoolCapacity poolCapacity : schedulingState.cluster().poolCapacities()) {
            up += tree.counts(poolCapacity.pool().id()) ? poolCapacity.capacityGpuMilli() : 0;
        }
        return up;
    }

    /** Starts workloads whose nominated place is free now, and withdraws nominations that are no longer valid. */
    private void startOrWithdrawNominated() {
        mandatoryEvictions.withdrawDrainedNominations();
        for (Workload workload : SchedulingClass.inPriorityOrder(schedulingState.nominated())) {
            Allocation place = workload.nomination().orElseThrow();
            Booking booking = SchedulingState.booking(workload, place);
            Optional<PoolCapacity> poolCapacity = poolRequestFactory.poolCapacity(place.pool());
            Optional<NominationEnd> nominationEnd = poolCapacity
                    .map(there -> nominationCheck.of(workload, booking, there))
                    .orElse(Optional.of(NominationEnd.NO_POOL));
            if (nominationEnd.isPresent()) {
                planBuilder.withdrawNomination(workload, nominationEnd.get());
            } else if (isFreeToStart(workload)
                    && poolCapacity.get().fits(booking, Availability.IGNORING_NOMINATIONS)
                    && QuotaAdmission.forNominated(nominationCheck.quotaRequest(workload, place), UsageView.CURRENT)
                            .isEmpty()) {
                planBuilder.start(workload, place, Decision.Rule.NOMINATED);
            }
        }
    }

    private static boolean isFreeToStart(Workload workload) {
        return switch (workload.state()) {
            case WorkloadPhase.Waiting waiting -> true;
            case WorkloadPhase.Holding holding -> holding.phase().isStaying();
        };
    }

    private void tryCandidate(Candidate candidate) {
        switch (candidate.attempt()) {
            case START -> tryStart(candidate);
            case RECLAIM_RESERVED -> tryReclaimReserved(candidate);
            case EVICT -> tryEvict(candidate);
            case SKIP -> startReducedOrBlock(candidate.schedulingClass());
        }
    }

    private void tryStart(Candidate candidate) {
        Optional<Allocation> place = freePlace(candidate);
        if (place.isPresent()) {
            planBuilder.start(
                    candidate.schedulingClass(),
                    place.get(),
                    rule(candidate),
                    backfillReservations.hasReservation(candidate.schedulingClass()));
            backfillReservations.endReservation(candidate.schedulingClass());
            backfillReservations.holdAgain(place.get());
        } else {
            attemptSelector.recordNoFreeRoom(candidate);
            backfillReservations.resumeSuspended();
        }
    }

    private void tryReclaimReserved(Candidate candidate) {
        if (startingReduced.contains(candidate.schedulingClass())) {
            attemptSelector.recordNothingToReclaim(candidate);
            return;
        }
        switch (planEvictions(candidate, candidate.poolRequest(), Preemptor.AllowedActions.RECLAIM_RESERVED)) {
            case MADE -> {}
            case POSTPONED -> attemptSelector.block(candidate.schedulingClass());
            case NONE -> attemptSelector.recordNothingToReclaim(candidate);
        }
    }

    private void tryEvict(Candidate candidate) {
        if (startingReduced.contains(candidate.schedulingClass())) {
            startReducedOrBlock(candidate.schedulingClass());
            return;
        }
        if (settings.spill() == Settings.Spill.AFTER_PREEMPTING) {
            switch (planEvictions(candidate, candidate.poolRequest(), Preemptor.AllowedActions.EVICT)) {
                case MADE -> {}
                case POSTPONED -> attemptSelector.block(candidate.schedulingClass());
                case NONE -> {
                    attemptSelector.recordNoRoom(candidate);
                    if (candidate.schedulingClass().acceptsFewerGpus()
                            && attemptSelector.hasTriedAll(candidate.schedulingClass())) {
                        startReducedOrBlock(candidate.schedulingClass());
                    }
                }
            }
            return;
        }
        EvictionOutcome made = EvictionOutcome.NONE;
        for (PoolRequest poolRequest : poolRequestFactory.forClass(candidate.schedulingClass())) {
            if (made == EvictionOutcome.NONE && poolRequest.isOpenAndFunded()) {
                made = planEvictions(candidate, poolRequest, Preemptor.AllowedActions.EVICT);
            }
        }
        switch (made) {
            case MADE -> {}
            case POSTPONED -> attemptSelector.block(candidate.schedulingClass());
            case NONE -> startReducedOrBlock(candidate.schedulingClass());
        }
    }

    /** The result of an attempt to make room. */
    private enum EvictionOutcome {
        MADE,
        /** This plan has started a victim, or its searches have ended. The next plan, which follows, makes the room. */
        POSTPONED,
        NONE
    }

    /**
     * Ends the attempts of a class whose full request cannot be met. Its head starts reduced if it accepts that and the
     * GPUs are free; otherwise the class is blocked.
     */
    private void startReducedOrBlock(SchedulingClass schedulingClass) {
        for (PoolRequest poolRequest : schedulingClass.acceptsFewerGpus()
                ? poolRequestFactory.forClass(schedulingClass)
                : List.<PoolRequest>of()) {
            if (startReduced(schedulingClass, poolRequest)) {
                startingReduced.add(schedulingClass);
                return;
            }
        }
        attemptSelector.block(schedulingClass);
    }

    /** Starts the head with as many GPUs as the pool can give it now. Returns false if that is less than it accepts. */
    private boolean startReduced(SchedulingClass schedulingClass, PoolRequest poolRequest) {
        Optional<ReducedStart> best = Optional.empty();
        int low = ((GpuRequest.Whole) schedulingClass.key().shape().gpus()).fewest();
        int high = ((GpuRequest.Whole) poolRequestFactory
                                .effectiveShape(schedulingClass)
                                .gpus())
                        .count()
                - 1;
        // If an amount fits and is admitted, every smaller amount is, too.
        while (low <= high) {
            int gpus = best.isEmpty() ? low : (low + high + 1) / 2;
            Optional<ReducedStart> found = reduced(schedulingClass, poolRequest, gpus);
            if (found.isPresent()) {
                best = found;
                low = gpus + 1;
            } else if (best.isEmpty()) {
                return false;
            } else {
                high = gpus - 1;
            }
        }
        best.ifPresent(found -> {
            planBuilder.start(schedulingClass, found.place(), rule(found.candidate()), false);
            backfillReservations.endReservation(schedulingClass);
            backfillReservations.holdAgain(found.place());
        });
        return best.isPresent();
    }

    /** A start with fewer GPUs than requested. */
    private record ReducedStart(Candidate candidate, Allocation place) {}

    private Optional<ReducedStart> reduced(SchedulingClass schedulingClass, PoolRequest wanted, int gpus) {
        PoolRequest poolRequest = poolRequestFactory.withGpus(schedulingClass, wanted, gpus);
        if (!poolRequest.isOpenAndFunded()
                || QuotaAdmission.current(poolRequest.quotaRequest()).isPresent()) {
            return Optional.empty();
        }
        Candidate candidate = Candidate.of(schedulingClass, poolRequest, Candidate.Attempt.START, null);
        backfillReservations.suspendFor(candidate, candidate.poolCapacity(), false);
        Optional<Allocation> place =
                poolRequest.poolCapacity().place(poolRequestFactory.withGpus(schedulingClass, gpus), Availability.NOW);
        backfillReservations.resumeSuspended();
        return place.map(found -> new ReducedStart(candidate, found));
    }

    /**
     * The place where the candidate's head could start now, beside the backfill reservations or, as backfill, before
     * they need it. A request that does not fit even without reservations is not tried again until capacity is freed.
     */
    private Optional<Allocation> freePlace(Candidate candidate) {
        Optional<RequestSignature> signature = candidate.poolRequest().signature();
        Optional<FailedAttempts> failed = candidate.poolRequest().failedAttempts();
        boolean within = candidate.withinReserved();
        if (signature.filter(RequestSignature::isKnownNotToFitNow).isPresent()
                || failed.filter(attempts -> attempts.isStartKnownToFail(within))
                        .isPresent()
                || QuotaAdmission.current(candidate.quotaRequest()).isPresent()) {
            return Optional.empty();
        }
        PlacementRequest placementRequest = poolRequestFactory.placementRequest(candidate.schedulingClass());
        backfillReservations.suspendFor(candidate, candidate.poolCapacity(), false);
        Optional<Allocation> place = candidate.poolCapacity().place(placementRequest, Availability.NOW);
        if (place.isEmpty() && backfillReservations.hasReservations()) {
            backfillReservations.suspendFor(candidate, candidate.poolCapacity(), true);
            place = candidate.poolCapacity().place(placementRequest, Availability.NOW);
        }
        if (place.isEmpty() && signature.isPresent()) {
            backfillReservations.suspendAll(candidate.poolCapacity());
            if (candidate.poolCapacity().isFreeOfReservations()
                    && candidate
                            .poolCapacity()
                            .place(placementRequest, Availability.NOW)
                            .isEmpty()) {
                signature.get().recordMissNow();
            }
        }
        if (place.isEmpty()) {
            failed.ifPresent(attempts -> attempts.recordStartFailure(within));
        }
        return place;
    }

    private static Decision.Rule rule(Candidate candidate) {
        if (candidate.leaf().tree().isOpen()) {
            return Decision.Rule.OPEN;
        }
        return candidate.withinReserved() ? Decision.Rule.WITHIN_RESERVED : Decision.Rule.OVER_QUOTA;
    }

    /**
     * Evicts victims and nominates their place for the head of a class. It does nothing if no room can be made, or if
     * it would come too late.
     */
    private EvictionOutcome planEvictions(
            Candidate candidate, PoolRequest poolRequest, Preemptor.AllowedActions allowedActions) {
        SchedulingClass schedulingClass = candidate.schedulingClass();
        if (!poolRequestFactory.couldEverFit(schedulingClass, poolRequest)
                || !poolRequest.mayStartIn(settings.graceMillis())) {
            return EvictionOutcome.NONE;
        }
        Optional<RequestSignature> signature = schedulingClass.isGrowth() ? Optional.empty() : poolRequest.signature();
        Workload head = schedulingClass.head();
        Preemptor.AllowedActions allowed =
                allowedActions(head, poolRequest.poolCapacity().pool(), allowedActions);
        boolean within = candidate.withinReserved();
        boolean byMovesOnly = allowed == Preemptor.AllowedActions.MOVE_ONLY;
        // Which reservations bind the candidate depends on whether it stays within its reservation.
        boolean sameReservationsBind = candidate.poolRequest() == poolRequest
                || poolRequest.quotaRequest().withinReserved() == within;
        Optional<FailedAttempts> failed = sameReservationsBind ? poolRequest.failedAttempts() : Optional.empty();
        if (failed.filter(attempts -> attempts.isRoomKnownToFail(within, byMovesOnly))
                .isPresent()) {
            return EvictionOutcome.NONE;
        }
        boolean areMovesKnownToFail =
                signature.filter(RequestSignature::areMovesKnownToFail).isPresent();
        backfillReservations.suspendFor(candidate, poolRequest.poolCapacity(), false);
        PlacementRequest placementRequest = poolRequestFactory.placementRequest(schedulingClass);
        Preemptor preemptor = poolRequest.preemptor(head, placementRequest, allowed);
        Optional<EvictionPlan> evictionPlan = evictionPlanner.plan(
                preemptor,
                signature,
                backfillReservations.suspended(poolRequest.poolCapacity()),
                failed.filter(attempts -> attempts.areReleasesKnownToFail(within))
                        .isPresent());
        boolean isLeftToTheNextPlan = evictionPlanner.takeSearchesExhausted();
        EvictionOutcome made = isLeftToTheNextPlan
                ? EvictionOutcome.POSTPONED
                : evictionPlan.map(found -> start(found, head)).orElse(EvictionOutcome.NONE);
        if (isLeftToTheNextPlan) {
            searchesExhausted = true;
            planListener.movesPostponed(head, poolRequest.pool());
        } else if (areMovesKnownToFail) {
            planListener.movesNotRepeated(head, poolRequest.pool());
        }
        if (made == EvictionOutcome.MADE) {
            backfillReservations.endReservation(schedulingClass);
            backfillReservations.holdAllAgain();
        } else {
            backfillReservations.resumeSuspended();
        }
        if (made == EvictionOutcome.NONE && allowedActions == Preemptor.AllowedActions.EVICT) {
            boolean admitted =
                    QuotaAdmission.projected(poolRequest.quotaRequest()).isEmpty();
            failed.ifPresent(attempts ->
                    attempts.recordRoomFailure(within, admitted, byMovesOnly, evictionPlanner.mayReclaim(preemptor)));
            if (admitted) {
                failed.ifPresent(attempts -> attempts.recordReleasesFailure(within));
            }
        }
        return made;
    }

    private EvictionOutcome start(EvictionPlan evictionPlan, Workload head) {
        boolean now = evictionPlan.evictions().stream()
                .allMatch(eviction -> planBuilder.permitOrPostponeEviction(
                        eviction.candidate().id()));
        if (!now) {
            return EvictionOutcome.POSTPONED;
        }
        evictionPlan.evictions().forEach(eviction -> planBuilder.evict(eviction, Optional.of(head.id())));
        planBuilder.nominate(head, evictionPlan.place());
        return EvictionOutcome.MADE;
    }

    /** The requested actions, or only moves while the pool waits before it preempts. */
    private Preemptor.AllowedActions allowedActions(
            Workload claimant, Pool pool, Preemptor.AllowedActions allowedActions) {
        return pool.waitBeforePreemptingMillis() > 0
                        && nowMillis - claimant.waitsSinceMillis() < pool.waitBeforePreemptingMillis()
                ? Preemptor.AllowedActions.MOVE_ONLY
                : allowedActions;
    }
}
