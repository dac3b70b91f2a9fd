package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.Hours;
import io.quartermaster.engine.model.NominationEnd;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.preemption.EvictionPlan;
import io.quartermaster.engine.preemption.ExcessVictims;
import io.quartermaster.engine.quota.BudgetMeter;
import io.quartermaster.engine.quota.Budgets;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaTree;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.SchedulingClass;
import io.quartermaster.engine.state.SchedulingState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The evictions without a preemptor: for a drain-by date, a pool that closes, a budget that is used up, or lost workers
 * that were not replaced.
 */
public final class MandatoryEvictions {
    private final Settings settings;
    private final DeclaredState declaredState;
    private final SchedulingState schedulingState;
    private final Budgets budgets;
    private final PlanBuilder planBuilder;
    private final long nowMillis;

    MandatoryEvictions(
            Settings settings,
            DeclaredState declaredState,
            SchedulingState schedulingState,
            Budgets budgets,
            PlanBuilder planBuilder,
            long nowMillis) {
        this.settings = settings;
        this.declaredState = declaredState;
        this.schedulingState = schedulingState;
        this.budgets = budgets;
        this.planBuilder = planBuilder;
        this.nowMillis = nowMillis;
    }

    void evictAll() {
        evictIncomplete();
        evictExcess();
        evictFromClosedPools();
        evictBeyondBudgets();
    }

    /** Withdraws nominations from a branch that holds more than it may keep, before any running work is evicted. */
    void withdrawDrainedNominations() {
        for (QuotaNode node : nodesToDrain()) {
            for (Workload workload :
                    SchedulingClass.inPriorityOrder(schedulingState.nominated()).reversed()) {
                boolean counts =
                        node.tree().counts(workload.nomination().orElseThrow().pool())
                                && node.covers(node.tree().leaf(workload.path()));
                if (counts && node.used().projected() > node.keptGpuMilli()) {
                    planBuilder.withdrawNomination(workload, NominationEnd.LIMIT);
                }
            }
        }
    }

    /** Evicts the rest of work whose lost workers were not replaced in time. */
    private void evictIncomplete() {
        for (Workload workload : schedulingState.incomplete()) {
            OptionalLong due = incompleteUntil(settings, workload);
            if (due.isPresent()
                    && due.getAsLong() <= nowMillis
                    && planBuilder.permitOrPostponeEviction(workload.id())) {
                if (workload.nomination().isPresent()) {
                    planBuilder.withdrawNomination(workload, NominationEnd.INCOMPLETE);
                }
                evictIncomplete(declaredState.workload(workload.id()));
            }
        }
    }

    private void evictIncomplete(Workload workload) {
        List<EvictionReceipt.Considered> considered =
                List.of(new EvictionReceipt.Considered(workload.id(), EvictionReceipt.Outcome.STOPPED));
        planBuilder.stop(
                workload,
                EvictionCause.INCOMPLETE,
                new EvictionReceipt(EvictionReceipt.Right.INCOMPLETE, List.of(), List.of(), considered));
    }

    /**
     * The time until which lost workers of a workload may be replaced. Empty if no time is set, or if no worker is
     * missing.
     */
    public static OptionalLong incompleteUntil(Settings settings, Workload workload) {
        return settings.staleGangGraceMillis().isPresent()
                        && workload.state() instanceof WorkloadPhase.Holding holding
                        && holding.phase() instanceof WorkloadPhase.Phase.Incomplete incomplete
                ? OptionalLong.of(incomplete.sinceMillis()
                        + settings.staleGangGraceMillis().getAsLong())
                : OptionalLong.empty();
    }

    /** Evicts work beyond limits whose drain-by date has come. */
    private void evictExcess() {
        for (QuotaNode node : nodesToDrain()) {
            new ExcessVictims(schedulingState.cluster(), schedulingState.runningWork())
                    .of(node)
                    .forEach(this::evict);
        }
    }

    private void evict(EvictionPlan.Eviction eviction) {
        if (planBuilder.permitOrPostponeEviction(eviction.candidate().id())) {
            planBuilder.evict(eviction, Optional.empty());
        }
    }

    private List<QuotaNode> nodesToDrain() {
        List<QuotaNode> due = new ArrayList<>();
        for (QuotaTree tree : schedulingState.cluster().trees()) {
            for (QuotaNode node : tree.drained()) {
                if (node.drainByMillis().getAsLong() <= nowMillis) {
                    due.add(node);
                }
            }
        }
        return due;
    }

    /** Evicts work from closed pools that preempt at closing. */
    private void evictFromClosedPools() {
        for (PoolCapacity poolCapacity : declaredState.calendar().anyPreemptsAtClose()
                ? schedulingState.cluster().poolCapacities()
                : List.<PoolCapacity>of()) {
            boolean stops = poolCapacity
                    .pool()
                    .hours()
                    .filter(hours -> hours.atClose() == Hours.AtClose.PREEMPT && !hours.isOpenAt(nowMillis))
                    .isPresent();
            if (stops) {
                new ExcessVictims(schedulingState.cluster(), schedulingState.runningWork())
                        .ofClosed(poolCapacity.pool().id())
                        .forEach(this::evict);
            }
        }
    }

    /** Evicts work on budgets that cover no more than its grace period. */
    private void evictBeyondBudgets() {
        for (BudgetMeter budgetMeter : schedulingState.cluster().meters()) {
            if (budgetMeter.isUsedUp()) {
                budgets.useUp(budgetMeter);
                for (PoolCapacity poolCapacity : schedulingState.cluster().poolCapacities()) {
                    if (budgetMeter.counts(poolCapacity.pool().id())) {
                        new ExcessVictims(schedulingState.cluster(), schedulingState.runningWork())
                                .ofBudget(poolCapacity.pool().id(), budgetMeter)
                                .forEach(this::evict);
                    }
                }
            }
        }
    }
}
