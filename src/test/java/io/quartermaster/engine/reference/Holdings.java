package io.quartermaster.engine.reference;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * All devices that are held or nominated, one entry per worker. A change gives a new list, so a what-if needs no undo.
 */
final class Holdings {
    private final List<Entry> entries;

    private Holdings(List<Entry> entries) {
        this.entries = List.copyOf(entries);
    }

    /**
     * One worker at its place.
     *
     * @param current whether it holds the place now
     * @param projected whether it holds the place once all evicted work has left
     * @param kept whether it is a backfill reservation, which holds devices and counts in no tree
     */
    record Entry(
            WorkloadId workload,
            QuotaPath path,
            Optional<String> user,
            boolean preemptible,
            Shape shape,
            PoolId pool,
            Allocation.Worker worker,
            boolean current,
            boolean projected,
            boolean kept) {
        boolean in(Moment.View view) {
            return view == Moment.View.CURRENT ? current : projected;
        }

        long gpuMilli() {
            return worker.place().gpuMilli();
        }
    }

    /** The owner of workers in the list. */
    record Owner(WorkloadId workload, QuotaPath path, Optional<String> user, boolean preemptible, Shape shape) {
        static Owner of(Workload workload) {
            return new Owner(workload.id(), workload.path(), workload.user(), workload.preemptible(), workload.shape());
        }
    }

    static Holdings of(Collection<Workload> workloads) {
        List<Entry> entries = new ArrayList<>();
        for (Workload workload : workloads) {
            Owner owner = Owner.of(workload);
            if (workload.state() instanceof WorkloadPhase.Holding holding) {
                SortedSet<Integer> leaving = leaving(holding);
                for (Allocation.Worker worker : holding.allocation().workers()) {
                    entries.add(entry(
                            owner, holding.allocation().pool(), worker, true, !leaving.contains(worker.number())));
                }
            }
            workload.nomination().ifPresent(place -> place.workers()
                    .forEach(worker -> entries.add(entry(owner, place.pool(), worker, false, true))));
        }
        return new Holdings(entries);
    }

    private static Entry entry(Owner owner, PoolId pool, Allocation.Worker worker, boolean current, boolean projected) {
        return new Entry(
                owner.workload,
                owner.path,
                owner.user,
                owner.preemptible,
                owner.shape.of(worker.number()),
                pool,
                worker,
                current,
                projected,
                false);
    }

    /** The numbers of the workers that are stopping. */
    static SortedSet<Integer> leaving(WorkloadPhase.Holding holding) {
        return switch (holding.phase()) {
            case WorkloadPhase.Phase.Running running -> new TreeSet<>();
            case WorkloadPhase.Phase.Incomplete incomplete -> new TreeSet<>();
            case WorkloadPhase.Phase.Stopping stopping -> numbers(holding.allocation());
            case WorkloadPhase.Phase.Shrinking shrinking -> shrinking.workers();
        };
    }

    static SortedSet<Integer> numbers(Allocation allocation) {
        SortedSet<Integer> numbers = new TreeSet<>();
        allocation.workers().forEach(worker -> numbers.add(worker.number()));
        return numbers;
    }

    List<Entry> entries() {
        return entries;
    }

    /** Only the entries on a node. */
    Holdings on(NodeId node) {
        return new Holdings(entries.stream()
                .filter(entry -> entry.worker.place() instanceof Allocation.Place.OnNode place
                        && place.node().equals(node))
                .toList());
    }

    /** The amount of the entries that hold something in a view. */
    long used(Moment.View view, Predicate<Entry> which) {
        long used = 0;
        for (Entry entry : entries) {
            used += entry.in(view) && which.test(entry) ? entry.gpuMilli() : 0;
        }
        return used;
    }

    /** With an allocation that counts in the given views. */
    Holdings with(Owner owner, Allocation allocation, List<Moment.View> views) {
        List<Entry> more = new ArrayList<>(entries);
        for (Allocation.Worker worker : allocation.workers()) {
            more.add(entry(
                    owner,
                    allocation.pool(),
                    worker,
                    views.contains(Moment.View.CURRENT),
                    views.contains(Moment.View.PROJECTED)));
        }
        return new Holdings(more);
    }

    /** With an allocation once all evicted work has left. */
    Holdings withLater(Owner owner, Allocation allocation) {
        return with(owner, allocation, List.of(Moment.View.PROJECTED));
    }

    /** With devices that a backfill reservation keeps. They count as held later, so that no other work starts there. */
    Holdings withKept(Owner owner, PoolId pool, Allocation.Worker worker) {
        List<Entry> more = new ArrayList<>(entries);
        more.add(new Entry(
                owner.workload,
                owner.path,
                owner.user,
                owner.preemptible,
                owner.shape.of(worker.number()),
                pool,
                worker,
                false,
                true,
                true));
        return new Holdings(more);
    }

    /** Without the devices that the backfill reservation of a workload keeps. */
    Holdings withoutKept(WorkloadId workload) {
        return new Holdings(entries.stream()
                .filter(entry -> !entry.kept || !entry.workload.equals(workload))
                .toList());
    }

    /** Without an allocation of a workload, once all evicted work has left. It still holds it now. */
    Holdings withoutLater(WorkloadId workload, Allocation allocation) {
        List<Entry> less = new ArrayList<>();
        for (Entry entry : entries) {
            boolean goes = entry.projected
                    && !entry.kept
                    && entry.workload.equals(workload)
                    && entry.pool.equals(allocation.pool())
                    && allocation.workers().contains(entry.worker);
            if (!goes) {
                less.add(entry);
            } else if (entry.current) {
                less.add(new Entry(
                        entry.workload,
                        entry.path,
                        entry.user,
                        entry.preemptible,
                        entry.shape,
                        entry.pool,
                        entry.worker,
                        true,
                        false,
                        false));
            }
        }
        return new Holdings(less);
    }
}
