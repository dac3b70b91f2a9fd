package io.quartermaster.engine.preemption;

import io.quartermaster.engine.placement.Tenure;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Shape;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The smallest part of running work that can give way: one worker or slice beyond the minimum, or all that remain.
 *
 * @param core whether the workload as such stops with it
 */
public record Unit(Holder holder, List<Allocation.Worker> workers, boolean core) {

    /** Who gives way first, within a group: lowest priority, surplus before core, started last, submitted last. */
    public static final Comparator<Unit> FIRST_TO_GO = (a, b) -> {
        int byPriority = Integer.compare(a.holder.priority(), b.holder.priority());
        int bySurplus = byPriority != 0 ? byPriority : Boolean.compare(a.core, b.core);
        return bySurplus != 0 ? bySurplus : lastFirst(a, b);
    };

    private static int lastFirst(Unit a, Unit b) {
        int byStart = Long.compare(b.holder.startedMillis(), a.holder.startedMillis());
        int byAge = byStart != 0 ? byStart : Long.compare(b.holder.submittedMillis(), a.holder.submittedMillis());
        int bySequence = byAge != 0 ? byAge : Long.compare(b.holder.sequence(), a.holder.sequence());
        int byId = bySequence != 0 ? bySequence : b.holder.id().compareTo(a.holder.id());
        return byId != 0
                ? byId
                : Integer.compare(
                        b.workers.getFirst().number(), a.workers.getFirst().number());
    }

    public Unit {
        workers = List.copyOf(workers);
    }

    /** The units of one workload: its surplus workers or slices one by one, the highest number first, then the core. */
    public static List<Unit> of(Holder holder) {
        List<Allocation.Worker> workers = holder.allocation().workers();
        if (!holder.isComplete()) {
            return List.of(whole(holder));
        }
        List<Unit> units = new ArrayList<>();
        if (!holder.tenure().shape().isPlain()) {
            return ofSets(holder);
        }
        int step = holder.tenure().shape().step();
        int end = workers.size();
        while (end > holder.minWorkers()) {
            int slice = workers.get(end - 1).number() / step;
            int start = end - 1;
            while (start > holder.minWorkers() && workers.get(start - 1).number() / step == slice) {
                start--;
            }
            units.add(new Unit(holder, workers.subList(start, end), false));
            end = start;
        }
        units.add(new Unit(holder, workers.subList(0, end), true));
        return units;
    }

    /** Likewise where there are several sets: what each has beyond its minimum, and all minimums together. */
    private static List<Unit> ofSets(Holder holder) {
        List<Unit> units = new ArrayList<>();
        for (Shape.WorkerSet set : holder.tenure().shape().sets().reversed()) {
            List<Allocation.Worker> workers = set.of(holder.allocation());
            int end = workers.size();
            while (end > set.set().minWorkers()) {
                int slice = set.sliceOf(workers.get(end - 1).number());
                int start = end - 1;
                while (start > set.set().minWorkers()
                        && set.sliceOf(workers.get(start - 1).number()) == slice) {
                    start--;
                }
                units.add(new Unit(holder, workers.subList(start, end), false));
                end = start;
            }
        }
        units.add(new Unit(holder, holder.core(), true));
        return units;
    }

    /** A workload as one unit, to be moved as a whole. */
    public static Unit whole(Holder holder) {
        return new Unit(holder, holder.allocation().workers(), true);
    }

    /** This and another unit of the same workload together. */
    public Unit with(Unit other) {
        List<Allocation.Worker> both = new ArrayList<>(workers);
        both.addAll(other.workers);
        both.sort(Comparator.comparingInt(Allocation.Worker::number));
        return new Unit(holder, both, core || other.core);
    }

    /** Whether it, or the core that it belongs to, holds something in an area; without the core surplus cannot run. */
    public boolean concerns(SortedSet<NodeId> area) {
        return touches(workers, area) || (!core && touches(holder.core(), area));
    }

    private static boolean touches(List<Allocation.Worker> workers, SortedSet<NodeId> area) {
        for (Allocation.Worker worker : workers) {
            if (worker.place() instanceof Allocation.Place.OnNode place && area.contains(place.node())) {
                return true;
            }
        }
        return false;
    }

    /** The nodes that it is on; none in a counted pool. */
    public SortedSet<NodeId> nodes() {
        SortedSet<NodeId> nodes = new TreeSet<>();
        for (Allocation.Worker worker : workers) {
            if (worker.place() instanceof Allocation.Place.OnNode place) {
                nodes.add(place.node());
            }
        }
        return nodes;
    }

    public Tenure tenure() {
        return holder.tenure().of(new Allocation(holder.allocation().pool(), workers), core);
    }
}
