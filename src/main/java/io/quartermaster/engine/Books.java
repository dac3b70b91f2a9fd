package io.quartermaster.engine;

import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.placement.Holder;
import io.quartermaster.engine.placement.Tenure;
import io.quartermaster.engine.quota.QuotaTree;
import io.quartermaster.engine.quota.When;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Every workload booked where its state puts it: on devices and in trees, among those who run, in a line, among those
 * for whom a place is kept. What a workload's record says is all there is to it, so booking it out is booking it in
 * backwards.
 */
final class Books {
    private final boolean backfills;
    private final Cluster cluster;
    private final Map<Line.Key, Line> lines = new LinkedHashMap<>();
    private final Map<String, Set<Line>> ofTenant = new HashMap<>();
    private final List<Line> emptied = new ArrayList<>();
    private final SortedMap<WorkloadId, Workload> nominated = new TreeMap<>();

    /** @param backfills whether it matters how long work will run */
    Books(Facts facts, boolean backfills) {
        this.backfills = backfills;
        cluster =
                Cluster.of(facts.pools().values(), facts.nodes().values(), facts.quotas(), facts.caps(), facts.paths());
        facts.workloads().values().forEach(this::enter);
    }

    Cluster cluster() {
        return cluster;
    }

    /** Lines with somebody in them. */
    Collection<Line> lines() {
        return Collections.unmodifiableCollection(lines.values());
    }

    Set<Line> linesOf(String tenant) {
        return ofTenant.getOrDefault(tenant, new LinkedHashSet<>());
    }

    /** Lines that nobody is in any more since this was asked last. */
    List<Line> takeEmptied() {
        List<Line> taken = List.copyOf(emptied);
        emptied.clear();
        return taken;
    }

    Optional<Line> line(Workload workload) {
        return Optional.ofNullable(lines.get(key(workload)));
    }

    /** All for whom a place is kept, in order of their ids. */
    List<Workload> nominated() {
        return List.copyOf(nominated.values());
    }

    /** Whether the trees have a place for the path. */
    boolean knows(QuotaPath path) {
        for (QuotaTree tree : cluster.trees()) {
            if (!tree.knows(path)) {
                return false;
            }
        }
        return true;
    }

    void enter(Workload workload) {
        workload.nomination().ifPresent(place -> {
            cluster.add(tenure(workload, place), When.NEXT);
            nominated.put(workload.id(), workload);
        });
        switch (workload.state()) {
            case WorkloadState.Waiting waiting -> {
                if (!workload.held() && workload.nomination().isEmpty()) {
                    join(key(workload), workload);
                }
            }
            case WorkloadState.Holding holding -> {
                cluster.add(tenure(workload, holding.allocation()), When.NOW);
                remaining(holding).ifPresent(rest -> cluster.add(tenure(workload, rest), When.NEXT));
                holder(workload, holding).ifPresent(cluster::addRunning);
                growth(workload, holding).ifPresent(key -> join(key, workload));
            }
        }
    }

    /** Undoes {@link #enter}. */
    void leave(Workload workload) {
        workload.nomination().ifPresent(place -> {
            cluster.remove(tenure(workload, place), When.NEXT);
            nominated.remove(workload.id());
        });
        switch (workload.state()) {
            case WorkloadState.Waiting waiting -> quit(key(workload), workload);
            case WorkloadState.Holding holding -> {
                cluster.remove(tenure(workload, holding.allocation()), When.NOW);
                remaining(holding).ifPresent(rest -> cluster.remove(tenure(workload, rest), When.NEXT));
                holder(workload, holding).ifPresent(cluster::removeRunning);
                growth(workload, holding).ifPresent(key -> quit(key, workload));
            }
        }
    }

    /** The line of waiting work; its user and its running time tell it apart where they matter. */
    private Line.Key key(Workload workload) {
        boolean userMatters = cluster.ceilings().tellUsersApart(workload.path());
        return Line.Key.waiting(
                workload,
                userMatters ? workload.user() : Optional.empty(),
                backfills ? workload.maxRuntimeMillis() : OptionalLong.empty());
    }

    private void join(Line.Key key, Workload workload) {
        Line line = lines.get(key);
        if (line == null) {
            line = new Line(key);
            lines.put(key, line);
            ofTenant.computeIfAbsent(key.path().tenant(), tenant -> new LinkedHashSet<>())
                    .add(line);
        }
        line.add(workload);
    }

    private void quit(Line.Key key, Workload workload) {
        Line line = lines.get(key);
        if (line != null) {
            line.remove(workload);
            if (line.isEmpty()) {
                lines.remove(key);
                linesOf(key.path().tenant()).remove(line);
                emptied.add(line);
            }
        }
    }

    static Tenure tenure(Workload workload, Allocation allocation) {
        boolean whole = !(workload.state() instanceof WorkloadState.Holding holding)
                || holding.allocation().equals(allocation)
                || !(holding.phase() instanceof WorkloadState.Phase.Running);
        return new Tenure(
                workload.path(), workload.user(), workload.shape(), workload.preemptible(), allocation, whole);
    }

    /** What is left once all who were told to stop have left. */
    static Optional<Allocation> remaining(WorkloadState.Holding holding) {
        return switch (holding.phase()) {
            case WorkloadState.Phase.Running running -> Optional.of(holding.allocation());
            case WorkloadState.Phase.Stopping stopping -> Optional.empty();
            case WorkloadState.Phase.Shrinking shrinking ->
                Optional.of(holding.allocation().without(shrinking.workers()));
        };
    }

    /** Running work that may have to give way, with what it keeps; not while a place is kept for more of it. */
    private static Optional<Holder> holder(Workload workload, WorkloadState.Holding holding) {
        Optional<Allocation> keeps = remaining(holding);
        if (!workload.preemptible() || keeps.isEmpty() || workload.nomination().isPresent()) {
            return Optional.empty();
        }
        OptionalLong leavingBy = holding.phase() instanceof WorkloadState.Phase.Shrinking shrinking
                ? OptionalLong.of(shrinking.deadlineMillis())
                : OptionalLong.empty();
        return Optional.of(new Holder(
                workload.id(),
                tenure(workload, keeps.get()),
                workload.priority(),
                workload.shape().minWorkers(),
                holding.startedMillis(),
                workload.submittedMillis(),
                workload.sequence(),
                leavingBy));
    }

    /** The line for the workers that an elastic workload still misses. */
    private static Optional<Line.Key> growth(Workload workload, WorkloadState.Holding holding) {
        boolean wants = holding.phase() instanceof WorkloadState.Phase.Running
                && workload.nomination().isEmpty()
                && !workload.held()
                && holding.allocation().workers().size() < workload.shape().workers();
        return wants
                ? Optional.of(Line.Key.growing(workload, holding.allocation().pool()))
                : Optional.empty();
    }

    /** The numbers of an allocation's workers. */
    static SortedSet<Integer> numbers(Allocation allocation) {
        SortedSet<Integer> numbers = new TreeSet<>();
        allocation.workers().forEach(worker -> numbers.add(worker.number()));
        return numbers;
    }
}
