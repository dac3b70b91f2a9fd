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

/** Who stops though nobody claims what he holds: a limit has to be met by now, a pool has closed, a budget is used up, lost workers were not replaced. */
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

    void stop() {
        stopIncomplete();
        drain();
        close();
        endBudgets();
    }

    /** Where a branch holds more than it may go on holding, what only waits for its place gives that up before anything that runs is stopped. */
    void giveUpWhatIsToBeDrained() {
        for (QuotaNode node : dueToDrain()) {
            for (Workload workload :
                    SchedulingClass.inTurn(schedulingState.nominated()).reversed()) {
                boolean counts =
                        node.tree().counts(workload.nomination().orElseThrow().pool())
                                && node.covers(node.tree().leaf(workload.path()));
                if (counts && node.used().projected() > node.keptGpuMilli()) {
                    planBuilder.withdrawNomination(workload, NominationEnd.LIMIT);
                }
            }
        }
    }

    /** Stops what is left of work whose lost workers were not replaced in time. */
    private void stopIncomplete() {
        for (Workload workload : schedulingState.incomplete()) {
            OptionalLong due = incompleteUntil(settings, workload);
            if (due.isPresent() && due.getAsLong() <= nowMillis && planBuilder.mayEvict(workload.id())) {
                if (workload.nomination().isPresent()) {
                    planBuilder.withdrawNomination(workload, NominationEnd.INCOMPLETE);
                }
                stopIncomplete(declaredState.workload(workload.id()));
            }
        }
    }

    private void stopIncomplete(Workload workload) {
        List<EvictionReceipt.Considered> considered =
                List.of(new EvictionReceipt.Considered(workload.id(), EvictionReceipt.Outcome.STOPPED));
        planBuilder.stop(
                workload,
                EvictionCause.INCOMPLETE,
                new EvictionReceipt(EvictionReceipt.Right.INCOMPLETE, List.of(), List.of(), considered));
    }

    /** Until when lost workers of a workload may be replaced; empty where nobody sets an end to that, or it misses none. */
    public static OptionalLong incompleteUntil(Settings settings, Workload workload) {
        return settings.staleGangGraceMillis().isPresent()
                        && workload.state() instanceof WorkloadPhase.Holding holding
                        && holding.phase() instanceof WorkloadPhase.Phase.Incomplete incomplete
                ? OptionalLong.of(incomplete.sinceMillis()
                        + settings.staleGangGraceMillis().getAsLong())
                : OptionalLong.empty();
    }

    /** Stops what is held beyond limits that hold for what runs, too. */
    private void drain() {
        for (QuotaNode node : dueToDrain()) {
            new ExcessVictims(schedulingState.cluster(), schedulingState.running())
                    .of(node)
                    .forEach(this::evict);
        }
    }

    private void evict(EvictionPlan.Eviction eviction) {
        if (planBuilder.mayEvict(eviction.candidate().id())) {
            planBuilder.evict(eviction, Optional.empty());
        }
    }

    private List<QuotaNode> dueToDrain() {
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

    /** Stops what runs in pools that are closed and let nothing go on. */
    private void close() {
        for (PoolCapacity poolCapacity : declaredState.calendar().anyPreemptsAtClose()
                ? schedulingState.cluster().spaces()
                : List.<PoolCapacity>of()) {
            boolean stops = poolCapacity
                    .pool()
                    .hours()
                    .filter(hours -> hours.atClose() == Hours.AtClose.PREEMPT && !hours.isOpenAt(nowMillis))
                    .isPresent();
            if (stops) {
                new ExcessVictims(schedulingState.cluster(), schedulingState.running())
                        .ofClosed(poolCapacity.pool().id())
                        .forEach(this::evict);
            }
        }
    }

    /** Stops what runs on budgets of which no more is left than its grace. */
    private void endBudgets() {
        for (BudgetMeter budgetMeter : schedulingState.cluster().meters()) {
            if (budgetMeter.isUsedUp()) {
                budgets.useUp(budgetMeter);
                for (PoolCapacity poolCapacity : schedulingState.cluster().spaces()) {
                    if (budgetMeter.counts(poolCapacity.pool().id())) {
                        new ExcessVictims(schedulingState.cluster(), schedulingState.running())
                                .ofBudget(poolCapacity.pool().id(), budgetMeter)
                                .forEach(this::evict);
                    }
                }
            }
        }
    }
}
