package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.placement.Booking;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The smallest part of a running workload that can be evicted: one worker or slice beyond the minimum, or the core.
 *
 * @param gangCore whether the whole workload stops with it
 */
public record EvictionUnit(EvictionCandidate candidate, List<Allocation.Worker> workers, boolean gangCore) {

    /** The order of eviction within a group: lowest priority, surplus before core, started last, submitted last. */
    public static final Comparator<EvictionUnit> FIRST_TO_GO = (a, b) -> {
        int byPriority = Integer.compare(a.candidate.priority(), b.candidate.priority());
        int bySurplus = byPriority != 0 ? byPriority : Boolean.compare(a.gangCore, b.gangCore);
        return bySurplus != 0 ? bySurplus : lastFirst(a, b);
    };

    private static int lastFirst(EvictionUnit a, EvictionUnit b) {
        int byStart = Long.compare(b.candidate.startedMillis(), a.candidate.startedMillis());
        int byAge = byStart != 0 ? byStart : Long.compare(b.candidate.submittedMillis(), a.candidate.submittedMillis());
        int bySequence = byAge != 0 ? byAge : Long.compare(b.candidate.sequence(), a.candidate.sequence());
        int byId = bySequence != 0 ? bySequence : b.candidate.id().compareTo(a.candidate.id());
        return byId != 0
                ? byId
                : Integer.compare(
                        b.workers.getFirst().number(), a.workers.getFirst().number());
    }

    public EvictionUnit {
        workers = List.copyOf(workers);
    }

    /** The units of one workload: its surplus workers or slices, the highest number first, then the core. */
    public static List<EvictionUnit> of(EvictionCandidate evictionCandidate) {
        List<Allocation.Worker> workers = evictionCandidate.allocation().workers();
        if (!evictionCandidate.isComplete()) {
            return List.of(whole(evictionCandidate));
        }
        List<EvictionUnit> evictionUnits = new ArrayList<>();
        if (!evictionCandidate.booking().shape().isPlain()) {
            return ofSets(evictionCandidate);
        }
        int step = evictionCandidate.booking().shape().step();
        int end = workers.size();
        while (end > evictionCandidate.minWorkers()) {
            int slice = workers.get(end - 1).number() / step;
            int start = end - 1;
            while (start > evictionCandidate.minWorkers()
                    && workers.get(start - 1).number() / step == slice) {
                start--;
            }
            evictionUnits.add(new EvictionUnit(evictionCandidate, workers.subList(start, end), false));
            end = start;
        }
        evictionUnits.add(new EvictionUnit(evictionCandidate, workers.subList(0, end), true));
        return evictionUnits;
    }

    /**
     * The units of a workload with several worker sets: the surplus of each set, then the minimums of all sets
     * together.
     */
    private static List<EvictionUnit> ofSets(EvictionCandidate evictionCandidate) {
        List<EvictionUnit> evictionUnits = new ArrayList<>();
        for (Shape.WorkerSet set : evictionCandidate.booking().shape().sets().reversed()) {
            List<Allocation.Worker> workers = set.of(evictionCandidate.allocation());
            int end = workers.size();
            while (end > set.set().minWorkers()) {
                int slice = set.sliceOf(workers.get(end - 1).number());
                int start = end - 1;
                while (start > set.set().minWorkers()
                        && set.sliceOf(workers.get(start - 1).number()) == slice) {
                    start--;
                }
                evictionUnits.add(new EvictionUnit(evictionCandidate, workers.subList(start, end), false));
                end = start;
            }
        }
        evictionUnits.add(new EvictionUnit(evictionCandidate, evictionCandidate.gangCore(), true));
        return evictionUnits;
    }

    /** The workload as one unit, to be moved as a whole. */
    public static EvictionUnit whole(EvictionCandidate evictionCandidate) {
        return new EvictionUnit(
                evictionCandidate, evictionCandidate.allocation().workers(), true);
    }

    /** This unit together with another unit of the same workload. */
    public EvictionUnit with(EvictionUnit other) {
        List<Allocation.Worker> both = new ArrayList<>(workers);
        both.addAll(other.workers);
        both.sort(Comparator.comparingInt(Allocation.Worker::number));
        return new EvictionUnit(candidate, both, gangCore || other.gangCore);
    }

    /**
     * The nodes that the eviction of the unit concerns: those of the unit and, for surplus, those of the core, without
     * which it cannot run.
     */
    SortedSet<NodeId> concernedNodes() {
        SortedSet<NodeId> nodes = nodes();
        if (!gangCore) {
            addNodes(candidate.gangCore(), nodes);
        }
        return nodes;
    }

    /** The nodes of the unit; none in a counted pool. */
    public SortedSet<NodeId> nodes() {
        SortedSet<NodeId> nodes = new TreeSet<>();
        addNodes(workers, nodes);
        return nodes;
    }

    private static void addNodes(List<Allocation.Worker> workers, SortedSet<NodeId> nodes) {
        for (Allocation.Worker worker : workers) {
            if (worker.place() instanceof Allocation.Place.OnNode place) {
                nodes.add(place.node());
            }
        }
    }

    /** The amount that it holds, in thousandths of a GPU. */
    long gpuMilli() {
        long gpuMilli = 0;
        for (Allocation.Worker worker : workers) {
            gpuMilli += worker.place().gpuMilli();
        }
        return gpuMilli;
    }

    public Booking booking() {
        return candidate.booking().of(new Allocation(candidate.allocation().pool(), workers), gangCore);
    }
}
