package io.quartermaster.engine.preemption;

import io.quartermaster.engine.Allocation;
import io.quartermaster.engine.NodeId;
import io.quartermaster.engine.placement.Holder;
import io.quartermaster.engine.placement.Tenure;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedSet;

/**
 * The smallest part of running work that can give way: one worker beyond the minimum, or all that remain.
 *
 * @param core whether the workload as such stops with it
 */
record Unit(Holder holder, List<Allocation.Worker> workers, boolean core) {

    /** Who gives way first, within a group: lowest priority, surplus before core, started last, submitted last. */
    static final Comparator<Unit> FIRST_TO_GO = Comparator.<Unit>comparingInt(unit -> unit.holder.priority())
            .thenComparing(unit -> unit.core)
            .thenComparing(Comparator.comparingLong((Unit unit) -> unit.holder.startedMillis())
                    .reversed())
            .thenComparing(Comparator.comparingLong((Unit unit) -> unit.holder.submittedMillis())
                    .reversed())
            .thenComparing(Comparator.comparingLong((Unit unit) -> unit.holder.sequence())
                    .reversed())
            .thenComparing(Comparator.comparing((Unit unit) -> unit.holder.id()).reversed())
            .thenComparing(Comparator.comparingInt(
                            (Unit unit) -> unit.workers.getFirst().number())
                    .reversed());

    Unit {
        workers = List.copyOf(workers);
    }

    /** The units of one workload: its surplus workers one by one, the highest number first, then the core. */
    static List<Unit> of(Holder holder) {
        List<Allocation.Worker> workers = holder.allocation().workers();
        List<Unit> units = new ArrayList<>();
        for (int i = workers.size() - 1; i >= holder.minWorkers(); i--) {
            units.add(new Unit(holder, workers.subList(i, i + 1), false));
        }
        units.add(new Unit(holder, workers.subList(0, Math.min(workers.size(), holder.minWorkers())), true));
        return units;
    }

    /** A workload as one unit, to be moved as a whole. */
    static Unit whole(Holder holder) {
        return new Unit(holder, holder.allocation().workers(), true);
    }

    /** This and another unit of the same workload together. */
    Unit with(Unit other) {
        List<Allocation.Worker> both = new ArrayList<>(workers);
        both.addAll(other.workers);
        both.sort(Comparator.comparingInt(Allocation.Worker::number));
        return new Unit(holder, both, core || other.core);
    }

    boolean isCoreOf(Unit surplus) {
        return core && !surplus.core && holder.id().equals(surplus.holder.id());
    }

    boolean touches(SortedSet<NodeId> area) {
        for (Allocation.Worker worker : workers) {
            if (worker.place() instanceof Allocation.Place.OnNode place && area.contains(place.node())) {
                return true;
            }
        }
        return false;
    }

    Tenure tenure() {
        return holder.tenure().of(new Allocation(holder.allocation().pool(), workers));
    }
}
