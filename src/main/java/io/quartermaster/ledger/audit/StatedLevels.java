package io.quartermaster.ledger.audit;

import io.quartermaster.ledger.AllocationId;
import io.quartermaster.ledger.AllocationMarks;
import io.quartermaster.ledger.Book;
import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.PolicyId;
import io.quartermaster.ledger.PoolKey;
import io.quartermaster.ledger.StepFunction;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.UsageEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * The levels of one tenant as its events state them, without the filling, cutting or other logic of {@link Book}: the
 * reserved, unmet and held amounts per pool, per policy in a pool, and per allocation.
 */
final class StatedLevels {
    /** A policy in a pool. */
    record PolicyInPool(PoolKey pool, PolicyId policy) implements Comparable<PolicyInPool> {
        @Override
        public int compareTo(PolicyInPool other) {
            int byPool = pool.compareTo(other.pool);
            return byPool != 0 ? byPool : policy.compareTo(other.policy);
        }
    }

    /** An allocation and the time for which it was held. */
    record AllocationLife(PoolKey pool, long gpuMilli, AllocationMarks marks, StepFunction held) {
        PolicyInPool policyInPool() {
            return new PolicyInPool(pool, marks.policy());
        }
    }

    final TreeMap<PoolKey, StepFunction> reserved = new TreeMap<>();
    final TreeMap<PoolKey, StepFunction> unmet = new TreeMap<>();
    final TreeMap<PoolKey, StepFunction> held = new TreeMap<>();
    final TreeMap<PolicyInPool, StepFunction> policyReserved = new TreeMap<>();
    final TreeMap<PolicyInPool, StepFunction> policyHeld = new TreeMap<>();
    final TreeMap<AllocationId, AllocationLife> allocations = new TreeMap<>();
    final List<BookEquations.Violation> violations = new ArrayList<>();

    private final TenantKey tenant;
    private final TreeMap<AllocationId, AllocationLife> liveAllocations = new TreeMap<>();
    private long lastAtMillis;
    private long lastSeq;

    StatedLevels(BookState opening) {
        tenant = opening.tenant();
        lastAtMillis = opening.atMillis();
        lastSeq = opening.seq();
        for (BookState.PoolState pool : opening.pools()) {
            pool.reserved()
                    .forEach(level -> levelOf(reserved, pool.pool()).setLevel(level.fromMillis(), level.gpuMilli()));
            pool.unmet().forEach(level -> levelOf(unmet, pool.pool()).setLevel(level.fromMillis(), level.gpuMilli()));
            for (BookState.PolicyState policy : pool.policies()) {
                PolicyInPool key = new PolicyInPool(pool.pool(), policy.policy());
                policy.reserved()
                        .forEach(level -> levelOf(policyReserved, key).setLevel(level.fromMillis(), level.gpuMilli()));
            }
            for (BookState.AllocationState state : pool.allocations()) {
                startAllocation(state.startMillis(), state.allocation(), pool.pool(), state.gpuMilli(), state.marks());
                state.freedMillis().ifPresent(at -> endAllocation(at, state.allocation()));
            }
        }
    }

    static <K> StepFunction levelOf(TreeMap<K, StepFunction> stepFunction, K key) {
        return stepFunction.computeIfAbsent(key, k -> new StepFunction());
    }

    void add(UsageEvent event) {
        if (!event.tenant().equals(tenant)) {
            violations.add(BookEquations.violation(
                    BookEquations.Rule.ONE_TENANT, event.tenant().value(), event.atMillis(), 0, 1));
            return;
        }
        if (event.atMillis() < lastAtMillis || (event.atMillis() == lastAtMillis && event.seq() <= lastSeq)) {
            violations.add(BookEquations.violation(
                    BookEquations.Rule.STREAM_IN_ORDER,
                    "seq " + event.seq(),
                    event.atMillis(),
                    lastAtMillis,
                    event.atMillis()));
            return;
        }
        lastAtMillis = event.atMillis();
        lastSeq = event.seq();
        long at = event.atMillis();
        switch (event) {
            case UsageEvent.Allocated e -> {
                if (allocations.containsKey(e.allocation())) {
                    violations.add(BookEquations.violation(
                            BookEquations.Rule.ALLOCATED_ONCE, e.allocation().value(), at, 1, 2));
                } else {
                    startAllocation(at, e.allocation(), e.pool(), e.gpuMilli(), e.marks());
                }
            }
            case UsageEvent.Freed e -> {
                if (!endAllocation(at, e.allocation())) {
                    violations.add(BookEquations.violation(
                            BookEquations.Rule.FREED_ONCE, e.allocation().value(), at, 1, 0));
                }
            }
            case UsageEvent.PhaseChanged e -> {
                if (!liveAllocations.containsKey(e.allocation())) {
                    violations.add(BookEquations.violation(
                            BookEquations.Rule.PHASE_WHILE_HELD, e.allocation().value(), at, 1, 0));
                }
            }
            case UsageEvent.TenantReserved e -> levelOf(reserved, e.pool()).setLevel(at, e.gpuMilli());
            case UsageEvent.PolicyReserved e ->
                levelOf(policyReserved, new PolicyInPool(e.pool(), e.policy())).setLevel(at, e.gpuMilli());
            case UsageEvent.Unmet e -> levelOf(unmet, e.pool()).setLevel(at, e.gpuMilli());
        }
    }

    private void startAllocation(
            long atMillis, AllocationId allocation, PoolKey pool, long gpuMilli, AllocationMarks allocationMarks) {
        AllocationLife life = new AllocationLife(pool, gpuMilli, allocationMarks, new StepFunction());
        allocations.put(allocation, life);
        liveAllocations.put(allocation, life);
        changeHeld(atMillis, life, gpuMilli);
    }

    private boolean endAllocation(long atMillis, AllocationId allocation) {
        AllocationLife life = liveAllocations.remove(allocation);
        if (life == null) {
            return false;
        }
        changeHeld(atMillis, life, -life.gpuMilli());
        return true;
    }

    private void changeHeld(long atMillis, AllocationLife life, long byGpuMilli) {
        life.held().changeBy(atMillis, byGpuMilli);
        levelOf(held, life.pool()).changeBy(atMillis, byGpuMilli);
        levelOf(policyHeld, life.policyInPool()).changeBy(atMillis, byGpuMilli);
    }
}
