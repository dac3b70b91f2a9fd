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
    record Life(PoolKey pool, long gpuMilli, AllocationMarks marks, StepFunction held) {
        PolicyInPool policyInPool() {
            return new PolicyInPool(pool, marks.policy());
        }
    }

    final TreeMap<PoolKey, StepFunction> reserved = new TreeMap<>();
    final TreeMap<PoolKey, StepFunction> unmet = new TreeMap<>();
    final TreeMap<PoolKey, StepFunction> held = new TreeMap<>();
    final TreeMap<PolicyInPool, StepFunction> policyReserved = new TreeMap<>();
    final TreeMap<PolicyInPool, StepFunction> policyHeld = new TreeMap<>();
    final TreeMap<AllocationId, Life> lives = new TreeMap<>();
    final List<BookEquations.Violation> violations = new ArrayList<>();

    private final TenantKey tenant;
    private final TreeMap<AllocationId, Life> live = new TreeMap<>();
    private long lastAtMillis;
    private long lastSeq;

    StatedLevels(BookState opening) {
        tenant = opening.tenant();
        lastAtMillis = opening.atMillis();
        lastSeq = opening.seq();
        for (BookState.PoolState pool : opening.pools()) {
            pool.reserved().forEach(level -> of(reserved, pool.pool()).level(level.fromMillis(), level.gpuMilli()));
            pool.unmet().forEach(level -> of(unmet, pool.pool()).level(level.fromMillis(), level.gpuMilli()));
            for (BookState.PolicyState policy : pool.policies()) {
                PolicyInPool key = new PolicyInPool(pool.pool(), policy.policy());
                policy.reserved().forEach(level -> of(policyReserved, key).level(level.fromMillis(), level.gpuMilli()));
            }
            for (BookState.AllocationState state : pool.allocations()) {
                begin(state.startMillis(), state.allocation(), pool.pool(), state.gpuMilli(), state.marks());
                state.freedMillis().ifPresent(at -> end(at, state.allocation()));
            }
        }
    }

    static <K> StepFunction of(TreeMap<K, StepFunction> stepFunction, K key) {
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
                if (lives.containsKey(e.allocation())) {
                    violations.add(BookEquations.violation(
                            BookEquations.Rule.ALLOCATED_ONCE, e.allocation().value(), at, 1, 2));
                } else {
                    begin(at, e.allocation(), e.pool(), e.gpuMilli(), e.marks());
                }
            }
            case UsageEvent.Freed e -> {
                if (!end(at, e.allocation())) {
                    violations.add(BookEquations.violation(
                            BookEquations.Rule.FREED_ONCE, e.allocation().value(), at, 1, 0));
                }
            }
            case UsageEvent.PhaseChanged e -> {
                if (!live.containsKey(e.allocation())) {
                    violations.add(BookEquations.violation(
                            BookEquations.Rule.PHASE_WHILE_HELD, e.allocation().value(), at, 1, 0));
                }
            }
            case UsageEvent.TenantReserved e -> of(reserved, e.pool()).level(at, e.gpuMilli());
            case UsageEvent.PolicyReserved e ->
                of(policyReserved, new PolicyInPool(e.pool(), e.policy())).level(at, e.gpuMilli());
            case UsageEvent.Unmet e -> of(unmet, e.pool()).level(at, e.gpuMilli());
        }
    }

    private void begin(
            long atMillis, AllocationId allocation, PoolKey pool, long gpuMilli, AllocationMarks allocationMarks) {
        Life life = new Life(pool, gpuMilli, allocationMarks, new StepFunction());
        lives.put(allocation, life);
        live.put(allocation, life);
        change(atMillis, life, gpuMilli);
    }

    private boolean end(long atMillis, AllocationId allocation) {
        Life life = live.remove(allocation);
        if (life == null) {
            return false;
        }
        change(atMillis, life, -life.gpuMilli());
        return true;
    }

    private void change(long atMillis, Life life, long byGpuMilli) {
        life.held().change(atMillis, byGpuMilli);
        of(held, life.pool()).change(atMillis, byGpuMilli);
        of(policyHeld, life.policyInPool()).change(atMillis, byGpuMilli);
    }
}
