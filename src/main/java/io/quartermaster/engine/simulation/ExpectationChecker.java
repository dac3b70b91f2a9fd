package io.quartermaster.engine.simulation;

import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checker that compares the state of a simulation with an expectation. */
final class ExpectationChecker {
    private final SimulatedCluster simulatedCluster;
    private final Engine engine;

    ExpectationChecker(SimulatedCluster simulatedCluster, Engine engine) {
        this.simulatedCluster = simulatedCluster;
        this.engine = engine;
    }

    /** A sentence for each claim that does not hold. */
    List<String> failures(Expectation expectation) {
        List<String> failures = new ArrayList<>();
        for (Expectation.Claim claim : expectation.claims()) {
            failure(claim)
                    .ifPresent(text -> failures.add("at " + GpuFormat.decimal(expectation.atMillis()) + "s: " + text));
        }
        return failures;
    }

    /** A sentence for each workload that a plan starts, in whole or in part, and evicts or moves as well. */
    static List<String> failures(Plan plan) {
        SortedSet<WorkloadId> started = new TreeSet<>();
        SortedSet<WorkloadId> both = new TreeSet<>();
        for (Decision decision : plan.decisions()) {
            switch (decision) {
                case Decision.Start start -> started.add(start.workload());
                case Decision.Grow grow -> started.add(grow.workload());
                case Decision.Evict evict -> both.add(evict.workload());
                case Decision.Shrink shrink -> both.add(shrink.workload());
                case Decision.Nominate nominate -> {}
                case Decision.WithdrawNomination withdrawNomination -> {}
            }
        }
        both.retainAll(started);
        return both.stream()
                .map(workload ->
                        "at " + GpuFormat.decimal(plan.nowMillis()) + "s: one plan starts and evicts " + workload)
                .toList();
    }

    private Optional<String> failure(Expectation.Claim claim) {
        return switch (claim) {
            case Expectation.Claim.Running running ->
                unless(
                        simulatedCluster.runs(running.workload()),
                        running.workload() + " runs",
                        found(running.workload()));
            case Expectation.Claim.OnlyRunning only -> onlyRunning(only);
            case Expectation.Claim.On on -> on(on);
            case Expectation.Claim.Pending pending -> pending(pending);
            case Expectation.Claim.Preempted preempted ->
                unless(
                        simulatedCluster.preempted.contains(preempted.workload()),
                        preempted.workload() + " was preempted",
                        "it was not");
            case Expectation.Claim.NotPreempted spared ->
                unless(
                        !simulatedCluster.preempted.contains(spared.workload()),
                        spared.workload() + " was not preempted",
                        "it was");
            case Expectation.Claim.UsedByPath used -> amount("used by " + used.path(), used.gpuMilli(), usedBy(used));
            case Expectation.Claim.UsedInPool used ->
                amount("used in " + used.pool(), used.gpuMilli(), simulatedCluster.usedInPool(used.pool()));
            case Expectation.Claim.Free free -> free(free);
            case Expectation.Claim.CountRunning count -> countRunning(count);
            case Expectation.Claim.SameDomain same -> sameDomain(same);
        };
    }

    private static Optional<String> unless(boolean holds, String expected, String found) {
        return holds ? Optional.empty() : Optional.of("expected: " + expected + "; found: " + found);
    }

    private static Optional<String> amount(String what, long expected, long found) {
        return unless(expected == found, GpuFormat.decimal(expected) + " " + what, GpuFormat.decimal(found));
    }

    private String found(WorkloadId id) {
        if (simulatedCluster.waits(id)) {
            Optional<WaitReasons> waitReasons = engine.explain(id);
            return "it waits"
                    + waitReasons
                            .map(why -> ", " + why.reason().code() + ": "
                                    + why.reason().sentence())
                            .orElse("");
        }
        return simulatedCluster.runs(id) ? "it runs on " + places(id) : "it has ended or is unknown";
    }

    private Optional<String> onlyRunning(Expectation.Claim.OnlyRunning only) {
        SortedSet<WorkloadId> expected = new TreeSet<>(only.workloads());
        return unless(
                expected.equals(simulatedCluster.running()),
                "only " + expected + " run",
                simulatedCluster.running().toString());
    }

    private Optional<String> on(Expectation.Claim.On on) {
        List<String> found = places(on.workload());
        // All workers are equal, so it does not matter which of them is on which node.
        boolean sameNodes = found.stream()
                .sorted()
                .toList()
                .equals(on.places().stream().sorted().toList());
        boolean pool = on.places().size() == 1
                && simulatedCluster
                        .allocation(on.workload())
                        .filter(allocation ->
                                allocation.pool().value().equals(on.places().getFirst()))
                        .isPresent();
        boolean allOnOne = on.places().size() == 1
                && !found.isEmpty()
                && found.stream().allMatch(on.places().getFirst()::equals);
        return unless(pool || allOnOne || sameNodes, on.workload() + " on " + on.places(), found.toString());
    }

    private List<String> places(WorkloadId id) {
        List<String> places = new ArrayList<>();
        simulatedCluster.allocation(id).ifPresent(allocation -> {
            for (Allocation.Worker worker : allocation.workers()) {
                places.add(
                        switch (worker.place()) {
                            case Allocation.Place.OnNode place -> place.node().value();
                            case Allocation.Place.Counted counted ->
                                allocation.pool().value();
                        });
            }
        });
        return places;
    }

    private Optional<String> pending(Expectation.Claim.Pending pending) {
        if (!simulatedCluster.waits(pending.workload()) || pending.code().isEmpty()) {
            return unless(
                    simulatedCluster.waits(pending.workload()),
                    pending.workload() + " waits",
                    found(pending.workload()));
        }
        Reason.Code expected = pending.code().get();
        Optional<WaitReasons> waitReasons = engine.explain(pending.workload());
        boolean same = waitReasons.isPresent() && waitReasons.get().reason().code() == expected;
        return unless(same, pending.workload() + " waits, " + expected, found(pending.workload()));
    }

    private long usedBy(Expectation.Claim.UsedByPath used) {
        long sum = 0;
        for (Workload workload : simulatedCluster.workloads.values()) {
            if (used.path().covers(workload.path())) {
                sum += simulatedCluster
                        .allocation(workload.id())
                        .map(Allocation::gpuMilli)
                        .orElse(0L);
            }
        }
        return sum;
    }

    private Optional<String> free(Expectation.Claim.Free free) {
        Pool pool = simulatedCluster.pools.get(free.pool());
        long found =
                pool == null ? 0 : simulatedCluster.capacityGpuMilli(pool) - simulatedCluster.usedInPool(free.pool());
        return amount("free in " + free.pool(), free.gpuMilli(), found);
    }

    private Optional<String> countRunning(Expectation.Claim.CountRunning count) {
        long found = simulatedCluster.running().stream()
                .filter(id -> id.value().matches(Pattern.quote(count.prefix()) + "-[0-9]+"))
                .count();
        return unless(found == count.count(), count.count() + " of " + count.prefix() + " run", String.valueOf(found));
    }

    private Optional<String> sameDomain(Expectation.Claim.SameDomain same) {
        SortedSet<String> domains = new TreeSet<>();
        simulatedCluster.allocation(same.workload()).ifPresent(allocation -> {
            Pool pool = simulatedCluster.pools.get(allocation.pool());
            int depth = pool == null ? 0 : pool.topologyLevels().indexOf(same.level()) + 1;
            for (String place : places(same.workload())) {
                domains.add(domain(simulatedCluster.nodes.get(new NodeId(place)), depth));
            }
        });
        return unless(domains.size() == 1, same.workload() + " in one " + same.level(), domains.toString());
    }

    private static String domain(@Nullable Node node, int depth) {
        boolean deepEnough = node != null && depth > 0 && node.topology().size() >= depth;
        return node != null && deepEnough ? String.join("/", node.topology().subList(0, depth)) : "none of that level";
    }
}
