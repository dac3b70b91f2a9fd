package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.placement.Booking;
import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.placement.Transaction;
import io.quartermaster.engine.quota.BudgetMeter;
import io.quartermaster.engine.quota.QuotaNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Chooses the victims of evictions without a preemptor. A branch may hold more than it may keep. Then units are chosen
 * in the order of victims within the branch until the rest may stay, and the set is minimised. Neither
 * {@code min-runtime} nor workers that are already leaving protect work from a drain-by date.
 */
public final class ExcessVictims {
    private final Cluster cluster;
    private final RunningWorkIndex runningWork;

    public ExcessVictims(Cluster cluster, RunningWorkIndex work) {
        this.cluster = cluster;
        this.runningWork = work;
    }

    /**
     * The evictions that bring a node down to the amount it may keep, in the order of choice. They are too few if the
     * rest is not preemptible.
     */
    public List<EvictionPlan.Eviction> of(QuotaNode node) {
        if (node.used().projected() <= node.keptGpuMilli()) {
            return List.of();
        }
        VictimQueue queue = VictimQueue.under(node, cluster, runningWork, evictionUnit -> true);
        EvictionReceipt.Share before = node.share();
        Transaction transaction = cluster.transaction();
        List<EvictionUnit> chosen = new ArrayList<>();
        Optional<EvictionUnit> next = Optional.empty();
        while (node.used().projected() > node.keptGpuMilli()
                && (next = queue.poll(VictimQueue.Allowed.all())).isPresent()) {
            transaction.releaseInTrees(next.get().booking());
            chosen.add(next.get());
        }
        List<EvictionUnit> spared = spare(node, chosen, transaction);
        EvictionReceipt evictionReceipt = new EvictionReceipt(
                EvictionReceipt.Right.DRAINED, List.of(before), List.of(node.share()), considered(chosen, spared));
        transaction.rollback();
        List<EvictionPlan.Eviction> evictions = new ArrayList<>();
        for (EvictionUnit evictionUnit : SolutionValidator.merged(chosen)) {
            evictions.add(new EvictionPlan.Eviction(
                    evictionUnit.candidate(),
                    evictionUnit.booking(),
                    evictionUnit.gangCore(),
                    EvictionCause.DRAIN,
                    Optional.empty(),
                    evictionReceipt));
        }
        return evictions;
    }

    /** The evictions of all preemptible work in a pool that preempts at closing. */
    public List<EvictionPlan.Eviction> ofClosed(PoolId pool) {
        return all(pool, booking -> true, EvictionReceipt.Right.CLOSED, EvictionCause.CLOSE);
    }

    /** The evictions of all preemptible work with GPUs that counts against a budget, in one pool. */
    public List<EvictionPlan.Eviction> ofBudget(PoolId pool, BudgetMeter budgetMeter) {
        return all(
                pool,
                booking -> booking.gpuMilli() > 0 && budgetMeter.path().covers(booking.path()),
                EvictionReceipt.Right.BUDGET_USED_UP,
                EvictionCause.BUDGET);
    }

    private List<EvictionPlan.Eviction> all(
            PoolId pool, Predicate<Booking> isCounted, EvictionReceipt.Right right, EvictionCause evictionCause) {
        List<EvictionPlan.Eviction> evictions = new ArrayList<>();
        runningWork.running(pool).forEach((path, ofGroup) -> {
            for (EvictionUnit evictionUnit : ofGroup) {
                if (evictionUnit.gangCore()
                        && isCounted.test(evictionUnit.candidate().booking())) {
                    EvictionUnit whole = EvictionUnit.whole(evictionUnit.candidate());
                    EvictionReceipt evictionReceipt =
                            new EvictionReceipt(right, List.of(), List.of(), considered(List.of(whole), List.of()));
                    evictions.add(new EvictionPlan.Eviction(
                            whole.candidate(),
                            whole.booking(),
                            true,
                            evictionCause,
                            Optional.empty(),
                            evictionReceipt));
                }
            }
        });
        return evictions;
    }

    /** Restores, in the reverse order of choice, each victim that proves unnecessary. */
    private List<EvictionUnit> spare(QuotaNode node, List<EvictionUnit> chosen, Transaction transaction) {
        Set<WorkloadId> whole = new HashSet<>();
        chosen.stream()
                .filter(EvictionUnit::gangCore)
                .forEach(evictionUnit -> whole.add(evictionUnit.candidate().id()));
        List<EvictionUnit> spared = new ArrayList<>();
        for (int i = chosen.size() - 1; i >= 0; i--) {
            EvictionUnit evictionUnit = chosen.get(i);
            boolean withoutItsCore = !evictionUnit.gangCore()
                    && whole.contains(evictionUnit.candidate().id());
            if (!withoutItsCore
                    && node.used().projected() + evictionUnit.booking().gpuMilli() <= node.keptGpuMilli()) {
                transaction.bookInTrees(evictionUnit.booking());
                spared.add(chosen.remove(i));
                whole.remove(evictionUnit.candidate().id());
            }
        }
        return spared;
    }

    private static List<EvictionReceipt.Considered> considered(List<EvictionUnit> chosen, List<EvictionUnit> spared) {
        Map<WorkloadId, EvictionReceipt.Outcome> outcomes = new LinkedHashMap<>();
        chosen.forEach(evictionUnit -> outcomes.put(evictionUnit.candidate().id(), EvictionReceipt.Outcome.STOPPED));
        spared.forEach(
                evictionUnit -> outcomes.putIfAbsent(evictionUnit.candidate().id(), EvictionReceipt.Outcome.SPARED));
        List<EvictionReceipt.Considered> considered = new ArrayList<>();
        outcomes.forEach((id, outcome) -> considered.add(new EvictionReceipt.Considered(id, outcome)));
        return considered;
    }
}
