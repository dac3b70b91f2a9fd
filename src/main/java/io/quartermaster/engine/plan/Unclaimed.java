package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Cause;
import io.quartermaster.engine.model.GivenUp;
import io.quartermaster.engine.model.Hours;
import io.quartermaster.engine.model.Receipt;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadState;
import io.quartermaster.engine.state.Books;
import io.quartermaster.engine.state.Facts;
import io.quartermaster.engine.state.Line;

import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.preemption.Excess;
import io.quartermaster.engine.preemption.Room;
import io.quartermaster.engine.quota.Budgets;
import io.quartermaster.engine.quota.Meter;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaTree;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Who stops though nobody claims what he holds: a limit has to be met by now, a pool has closed, a budget is used up, lost workers were not replaced. */
public final class Unclaimed {
    private final Settings settings;
    private final Facts facts;
    private final Books books;
    private final Budgets budgets;
    private final Decisions decisions;
    private final long nowMillis;

    Unclaimed(Settings settings, Facts facts, Books books, Budgets budgets, Decisions decisions, long nowMillis) {
        this.settings = settings;
        this.facts = facts;
        this.books = books;
        this.budgets = budgets;
        this.decisions = decisions;
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
            for (Workload workload : Line.inTurn(books.nominated()).reversed()) {
                boolean counts =
                        node.tree().counts(workload.nomination().orElseThrow().pool())
                                && node.covers(node.tree().leaf(workload.path()));
                if (counts && node.used().next() > node.keptGpuMilli()) {
                    decisions.giveUp(workload, GivenUp.LIMIT);
                }
            }
        }
    }

    /** Stops what is left of work whose lost workers were not replaced in time. */
    private void stopIncomplete() {
        for (Workload workload : books.incomplete()) {
            OptionalLong due = incompleteUntil(settings, workload);
            if (due.isPresent() && due.getAsLong() <= nowMillis && decisions.mayEvict(workload.id())) {
                if (workload.nomination().isPresent()) {
                    decisions.giveUp(workload, GivenUp.INCOMPLETE);
                }
                stopIncomplete(facts.workload(workload.id()));
            }
        }
    }

    private void stopIncomplete(Workload workload) {
        List<Receipt.Considered> considered = List.of(new Receipt.Considered(workload.id(), Receipt.Outcome.STOPPED));
        decisions.stop(
                workload, Cause.INCOMPLETE, new Receipt(Receipt.Right.INCOMPLETE, List.of(), List.of(), considered));
    }

    /** Until when lost workers of a workload may be replaced; empty where nobody sets an end to that, or it misses none. */
    public static OptionalLong incompleteUntil(Settings settings, Workload workload) {
        return settings.staleGangGraceMillis().isPresent()
                        && workload.state() instanceof WorkloadState.Holding holding
                        && holding.phase() instanceof WorkloadState.Phase.Incomplete incomplete
                ? OptionalLong.of(incomplete.sinceMillis()
                        + settings.staleGangGraceMillis().getAsLong())
                : OptionalLong.empty();
    }

    /** Stops what is held beyond limits that hold for what runs, too. */
    private void drain() {
        for (QuotaNode node : dueToDrain()) {
            new Excess(books.cluster(), books.running()).of(node).forEach(this::evict);
        }
    }

    private void evict(Room.Eviction eviction) {
        if (decisions.mayEvict(eviction.holder().id())) {
            decisions.evict(eviction, Optional.empty());
        }
    }

    private List<QuotaNode> dueToDrain() {
        List<QuotaNode> due = new ArrayList<>();
        for (QuotaTree tree : books.cluster().trees()) {
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
        for (Space space :
                facts.calendar().anyPreemptsAtClose() ? books.cluster().spaces() : List.<Space>of()) {
            boolean stops = space.pool()
                    .hours()
                    .filter(hours -> hours.atClose() == Hours.AtClose.PREEMPT && !hours.isOpenAt(nowMillis))
                    .isPresent();
            if (stops) {
                new Excess(books.cluster(), books.running())
                        .ofClosed(space.pool().id())
                        .forEach(this::evict);
            }
        }
    }

    /** Stops what runs on budgets of which no more is left than its grace. */
    private void endBudgets() {
        for (Meter meter : books.cluster().meters()) {
            if (meter.isUsedUp()) {
                budgets.useUp(meter);
                for (Space space : books.cluster().spaces()) {
                    if (meter.counts(space.pool().id())) {
                        new Excess(books.cluster(), books.running())
                                .ofBudget(space.pool().id(), meter)
                                .forEach(this::evict);
                    }
                }
            }
        }
    }
}
