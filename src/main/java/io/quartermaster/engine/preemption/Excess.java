package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Cause;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Receipt;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.placement.Tenure;
import io.quartermaster.engine.quota.Meter;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.When;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Who stops though nobody claims what he holds. Where a branch holds more than it may go on holding: in the order of victims within the branch until the rest may stay, then
 * minimised. Neither how long somebody has run nor that some of its
 * workers are leaving already protects anybody from a date.
 */
public final class Excess {
    private final Cluster cluster;
    private final RunningWork work;

    public Excess(Cluster cluster, RunningWork work) {
        this.cluster = cluster;
        this.work = work;
    }

    /** Those who must stop, in the order of choice; too few where the rest cannot be stopped. Leaves the books as they are. */
    public List<Room.Eviction> of(QuotaNode node) {
        if (node.used().next() <= node.keptGpuMilli()) {
            return List.of();
        }
        VictimQueue queue = VictimQueue.under(node, cluster, work, unit -> true);
        Receipt.Share before = node.share();
        List<Unit> chosen = new ArrayList<>();
        Optional<Unit> next = Optional.empty();
        while (node.used().next() > node.keptGpuMilli() && (next = queue.poll(VictimQueue.Allowed.all())).isPresent()) {
            cluster.remove(next.get().tenure(), When.NEXT);
            chosen.add(next.get());
        }
        List<Unit> spared = spare(node, chosen);
        Receipt receipt =
                new Receipt(Receipt.Right.DRAINED, List.of(before), List.of(node.share()), considered(chosen, spared));
        chosen.reversed().forEach(unit -> cluster.add(unit.tenure(), When.NEXT));
        List<Room.Eviction> evictions = new ArrayList<>();
        for (Unit unit : Outcome.merged(chosen)) {
            evictions.add(new Room.Eviction(
                    unit.holder(), unit.tenure(), unit.core(), Cause.DRAIN, Optional.empty(), receipt));
        }
        return evictions;
    }

    /** All who run in a pool that lets nothing go on when it closes, and can be stopped. */
    public List<Room.Eviction> ofClosed(PoolId pool) {
        return all(pool, tenure -> true, Receipt.Right.CLOSED, Cause.CLOSE);
    }

    /** All who run in a pool on a budget, with GPUs, and can be stopped. */
    public List<Room.Eviction> ofBudget(PoolId pool, Meter meter) {
        return all(
                pool,
                tenure -> tenure.gpuMilli() > 0 && meter.path().covers(tenure.path()),
                Receipt.Right.BUDGET_USED_UP,
                Cause.BUDGET);
    }

    private List<Room.Eviction> all(PoolId pool, Predicate<Tenure> who, Receipt.Right right, Cause cause) {
        List<Room.Eviction> evictions = new ArrayList<>();
        work.running(pool).forEach((path, ofGroup) -> {
            for (Unit unit : ofGroup) {
                if (unit.core() && who.test(unit.holder().tenure())) {
                    Unit whole = Unit.whole(unit.holder());
                    Receipt receipt = new Receipt(right, List.of(), List.of(), considered(List.of(whole), List.of()));
                    evictions.add(
                            new Room.Eviction(whole.holder(), whole.tenure(), true, cause, Optional.empty(), receipt));
                }
            }
        });
        return evictions;
    }

    /** Puts back, in the reverse order of choice, whoever turns out not to be needed. */
    private List<Unit> spare(QuotaNode node, List<Unit> chosen) {
        Set<WorkloadId> whole = new HashSet<>();
        chosen.stream()
                .filter(Unit::core)
                .forEach(unit -> whole.add(unit.holder().id()));
        List<Unit> spared = new ArrayList<>();
        for (int i = chosen.size() - 1; i >= 0; i--) {
            Unit unit = chosen.get(i);
            boolean withoutItsCore =
                    !unit.core() && whole.contains(unit.holder().id());
            if (!withoutItsCore && node.used().next() + unit.tenure().gpuMilli() <= node.keptGpuMilli()) {
                cluster.add(unit.tenure(), When.NEXT);
                spared.add(chosen.remove(i));
                whole.remove(unit.holder().id());
            }
        }
        return spared;
    }

    private static List<Receipt.Considered> considered(List<Unit> chosen, List<Unit> spared) {
        Map<WorkloadId, Receipt.Outcome> outcomes = new LinkedHashMap<>();
        chosen.forEach(unit -> outcomes.put(unit.holder().id(), Receipt.Outcome.STOPPED));
        spared.forEach(unit -> outcomes.putIfAbsent(unit.holder().id(), Receipt.Outcome.SPARED));
        List<Receipt.Considered> considered = new ArrayList<>();
        outcomes.forEach((id, outcome) -> considered.add(new Receipt.Considered(id, outcome)));
        return considered;
    }
}
