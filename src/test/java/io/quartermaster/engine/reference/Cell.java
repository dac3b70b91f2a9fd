package io.quartermaster.engine.reference;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** The pools and the quota trees of one plan, with D and F, which are fixed for the plan. */
final class Cell {
    private final Facts facts;
    final SortedMap<PoolId, Placement> pools = new TreeMap<>();
    final SortedMap<Scope, Tree> trees = new TreeMap<>();

    Cell(Facts facts) {
        this.facts = facts;
        SortedSet<QuotaPath> used = new TreeSet<>();
        facts.workloads.values().forEach(workload -> used.add(workload.path()));
        boolean overAll = facts.quotas.containsKey(Scope.ALL_POOLS);
        facts.pools.values().forEach(pool -> pools.put(pool.id(), new Placement(pool, facts.nodes.values())));
        for (PoolId pool : pools.keySet()) {
            Scope scope = Scope.of(pool);
            if (!overAll && !facts.quotas.containsKey(scope)) {
                trees.put(scope, new Tree(scope, new TreeMap<>(), used, pools.values()));
            }
        }
        facts.quotas.forEach((scope, quotas) -> trees.put(scope, new Tree(scope, quotas, used, pools.values())));
        Holdings holdings = Holdings.of(facts.workloads.values());
        trees.values().forEach(tree -> tree.divide(waiting(tree), holdings));
    }

    /** The leaves at which work counts: in the pool's tree, then in the tree over all pools, where they exist. */
    List<QuotaBranch> leaves(PoolId pool, QuotaPath path) {
        List<QuotaBranch> leaves = new ArrayList<>();
        for (Scope scope : List.of(Scope.of(pool), Scope.ALL_POOLS)) {
            Tree tree = trees.get(scope);
            if (tree != null) {
                leaves.add(tree.leaf(path));
            }
        }
        return leaves;
    }

    /**
     * Waiting work counts in each pool that it may use, and once in the tree over all pools, as in its first pool.
     * It counts with all the workers that it wants. Work that may not start anywhere is no demand.
     */
    private SortedMap<QuotaPath, Long> waiting(Tree tree) {
        SortedMap<QuotaPath, Long> waiting = new TreeMap<>();
        for (Workload workload : facts.workloads.values()) {
            if (workload.held() || facts.status(workload.path()) != Change.AccountStatus.ACTIVE) {
                continue;
            }
            Set<Integer> has = new HashSet<>();
            List<PoolId> wanted = workload.pools();
            if (workload.state() instanceof WorkloadPhase.Holding holding) {
                wanted = List.of(holding.allocation().pool());
                has.addAll(Holdings.numbers(holding.allocation()));
                has.removeAll(Holdings.leaving(holding));
                if (workload.nomination().isEmpty() && !holding.phase().isStaying()) {
                    continue;
                }
            }
            if (workload.nomination().isPresent()) {
                // The workers for which the nomination has no devices wait in its pool (ADR 13).
                wanted = List.of(workload.nomination().get().pool());
                has.addAll(Holdings.numbers(workload.nomination().get()));
            }
            List<Integer> missing = new ArrayList<>();
            for (int number = 0; number < workload.shape().allWorkers(); number++) {
                if (!has.contains(number)) {
                    missing.add(number);
                }
            }
            wanted.stream()
                    .map(pools::get)
                    .filter(placement -> placement != null
                            && placement.pool.takesWork()
                            && tree.counts(placement.pool.id())
                            && isNamed(placement.pool.id(), workload.path()))
                    .findFirst()
                    .ifPresent(placement ->
                            waiting.merge(workload.path(), placement.gpuMilliOf(workload.shape(), missing), Long::sum));
        }
        return waiting;
    }

    /** Whether a quota names the path in the pool, so that work may start there. */
    private boolean isNamed(PoolId pool, QuotaPath path) {
        return leaves(pool, path).getFirst().terms.named();
    }
}
