package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.NominationEnd;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.preemption.ChurnGuard;
import io.quartermaster.engine.preemption.EvictionPlan;
import io.quartermaster.engine.preemption.EvictionPlanner;
import io.quartermaster.engine.quota.UsageHistory;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.SchedulingClass;
import io.quartermaster.engine.state.SchedulingState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The decisions of one plan, in order. Each is immediately applied to the declared state and to the scheduling state.
 */
final class PlanBuilder {
    private final Settings settings;
    private final DeclaredState declaredState;
    private final SchedulingState schedulingState;
    private final EvictionPlanner evictionPlanner;
    private final ChurnGuard churnGuard;
    private final Optional<UsageHistory> usageHistory;
    private final long nowMillis;
    private final PlanListener planListener;
    private final List<Decision> decisions = new ArrayList<>();
    private final Set<WorkloadId> started = new HashSet<>();
    private boolean postponed;

    PlanBuilder(
            Settings settings,
            DeclaredState declaredState,
            SchedulingState schedulingState,
            EvictionPlanner evictionPlanner,
            ChurnGuard churnGuard,
            Optional<UsageHistory> past,
            long nowMillis,
            PlanListener planListener) {
        this.settings = settings;
        this.declaredState = declaredState;
        this.schedulingState = schedulingState;
        this.evictionPlanner = evictionPlanner;
        this.churnGuard = churnGuard;
        this.usageHistory = past;
        this.nowMillis = nowMillis;
        this.planListener = planListener;
    }

    List<Decision> decisions() {
        return Collections.unmodifiableList(decisions);
    }

    /**
     * Whether this plan may evict or move a workload. It may not if the plan itself starts the workload or some of its
     * workers, because the shell could not carry out both. Such an eviction is postponed to the next plan, which then
     * follows immediately.
     */
    boolean permitOrPostponeEviction(WorkloadId workload) {
        boolean startedHere = started.contains(workload);
        postponed |= startedHere;
        return !startedHere;
    }

    /** Whether an eviction was postponed to the next plan. */
    boolean hasPostponed() {
        return postponed;
    }

    /**
     * Evicts a workload or some of its workers.
     *
     * @param successor the preemptor, if there is one
     */
    void evict(EvictionPlan.Eviction eviction, Optional<WorkloadId> successor) {
        Workload victim = declaredState.workload(eviction.candidate().id());
        WorkloadPhase.Holding holding = (WorkloadPhase.Holding) victim.state();
        long deadline = nowMillis + settings.graceMillis();
        if (successor.isPresent()) {
            churnGuard.recordEviction(victim.id());
        }
        if (eviction.whole()) {
            stop(victim, eviction.cause(), successor, eviction.movedTo(), eviction.receipt());
        } else {
            var workers = SchedulingState.numbers(eviction.leaving().allocation());
            var allWorkers = new TreeSet<>(workers);
            long lastLeave = deadline;
            if (holding.phase() instanceof WorkloadPhase.Phase.Shrinking already) {
                allWorkers.addAll(already.workers());
                lastLeave = Math.max(deadline, already.deadlineMillis());
            }
            WorkloadPhase shrinking =
                    holding.in(new WorkloadPhase.Phase.Shrinking(eviction.cause(), allWorkers, lastLeave));
            update(victim, victim.withState(shrinking));
            add(new Decision.Shrink(victim.id(), workers, eviction.cause(), successor, deadline, eviction.receipt()));
        }
    }

    /**
     * Starts the head of a class, or lets it grow.
     *
     * @param fromReservation whether it starts from a backfill reservation
     */
    void start(SchedulingClass schedulingClass, Allocation place, Decision.Rule rule, boolean fromReservation) {
        Workload head = schedulingClass.head();
        started.add(head.id());
        churnGuard.recordGain(head.id());
        if (head.state() instanceof WorkloadPhase.Waiting) {
            Workload running = head.withState(WorkloadPhase.running(place, nowMillis, fromReservation));
            declaredState.put(running);
            evictionPlanner.invalidate();
            schedulingState.start(schedulingClass, running);
            countEntry(head, place);
            add(new Decision.Start(head.id(), place, rule, fromReservation));
        } else {
            start(head, place, rule);
        }
    }

    /**
     * Adds the entry penalty to the past use, if the settings have one. Evicted work and evicted workers that start
     * again are exempt.
     */
    private void countEntry(Workload workload, Allocation place) {
        if (usageHistory.isPresent() && settings.entryPenaltyMillis() > 0) {
            long gpuMilli =
                    switch (workload.state()) {
                        case WorkloadPhase.Waiting waiting -> waiting.atHead() ? 0 : place.gpuMilli();
                        case WorkloadPhase.Holding holding ->
                            place.without(holding.hadBefore()).gpuMilli();
                    };
            usageHistory
                    .get()
                    .start(
                            workload.path(),
                            schedulingState.cluster().leaves(place.pool(), workload.path()),
                            gpuMilli,
                            nowMillis);
        }
    }

    /** Starts a workload at its nominated place, or lets it grow. */
    void start(Workload workload, Allocation place, Decision.Rule rule) {
        started.add(workload.id());
        churnGuard.recordGain(workload.id());
        countEntry(workload, place);
        switch (workload.state()) {
            case WorkloadPhase.Waiting waiting -> {
                update(
                        workload,
                        workload.withState(WorkloadPhase.running(place, nowMillis))
                                .withNomination(Optional.empty()));
                add(new Decision.Start(workload.id(), place, rule));
            }
            case WorkloadPhase.Holding holding -> {
                WorkloadPhase grown = holding.with(place, workload.shape());
                update(workload, workload.withState(grown).withNomination(Optional.empty()));
                add(new Decision.Grow(workload.id(), place, rule));
            }
        }
    }

    private void add(Decision decision) {
        decisions.add(decision);
        planListener.decisionMade(decision);
    }

    private void update(Workload before, Workload after) {
        evictionPlanner.invalidate();
        declaredState.put(after);
        schedulingState.replace(before, after);
    }

    /** Withdraws the nomination of a workload. */
    void withdrawNomination(Workload workload, NominationEnd nominationEnd) {
        planListener.nominationWithdrawn(workload.nomination().orElseThrow(), nominationEnd);
        update(workload, workload.withNomination(Optional.empty()));
        add(new Decision.WithdrawNomination(workload.id()));
    }

    /** Nominates a place for a workload until the place is free. */
    void nominate(Workload workload, Allocation place) {
        update(workload, workload.withNomination(Optional.of(place)));
        add(new Decision.Nominate(workload.id(), place));
    }

    /** Evicts the whole workload, without a preemptor and without another place. */
    void stop(Workload workload, EvictionCause evictionCause, EvictionReceipt evictionReceipt) {
        stop(workload, evictionCause, Optional.empty(), Optional.empty(), evictionReceipt);
    }

    private void stop(
            Workload workload,
            EvictionCause evictionCause,
            Optional<WorkloadId> successor,
            Optional<Allocation> movedTo,
            EvictionReceipt evictionReceipt) {
        WorkloadPhase.Holding holding = (WorkloadPhase.Holding) workload.state();
        long deadline = nowMillis + settings.graceMillis();
        WorkloadPhase stopping = holding.in(new WorkloadPhase.Phase.Stopping(evictionCause, deadline));
        update(workload, workload.withState(stopping).withNomination(movedTo));
        add(new Decision.Evict(workload.id(), evictionCause, successor, deadline, evictionReceipt));
        movedTo.ifPresent(place -> add(new Decision.Nominate(workload.id(), place)));
    }
}
