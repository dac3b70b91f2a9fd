package io.quartermaster.ledger.audit;

import io.quartermaster.ledger.AllocationId;
import io.quartermaster.ledger.Book;
import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.Marks;
import io.quartermaster.ledger.PolicyId;
import io.quartermaster.ledger.PoolId;
import io.quartermaster.ledger.Steps;
import io.quartermaster.ledger.TenantId;
import io.quartermaster.ledger.UsageEvent;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * What events say of the levels of one tenant, without filling, cutting or any other work of {@link Book}: what was
 * reserved, missed and held, per pool, per policy in a pool, and per allocation.
 */
final class Stated {
    /** A policy in a pool. */
    record PolicyInPool(PoolId pool, PolicyId policy) implements Comparable<PolicyInPool> {
        @Override
        public int compareTo(PolicyInPool other) {
            int byPool = pool.compareTo(other.pool);
            return byPool != 0 ? byPool : policy.compareTo(other.policy);
        }
    }

    /** An allocation and when it was held. */
    record Life(PoolId pool, long gpuMilli, Marks marks, Steps held) {
        PolicyInPool policyInPool() {
            return new PolicyInPool(pool, marks.policy());
        }
    }

    final TreeMap<PoolId, Steps> reserved = new TreeMap<>();
    final TreeMap<PoolId, Steps> unmet = new TreeMap<>();
    final TreeMap<PoolId, Steps> held = new TreeMap<>();
    final TreeMap<PolicyInPool, Steps> policyReserved = new TreeMap<>();
    final TreeMap<PolicyInPool, Steps> policyHeld = new TreeMap<>();
    final TreeMap<AllocationId, Life> lives = new TreeMap<>();
    final List<Equations.Violation> violations = new ArrayList<>();

    private final TenantId tenant;
    private final TreeMap<AllocationId, Life> live = new TreeMap<>();
    private long lastAtMillis;
    private long lastSeq;

    Stated(BookState opening) {
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

    static <K> Steps of(TreeMap<K, Steps> steps, K key) {
        return steps.computeIfAbsent(key, k -> new Steps());
    }

    void add(UsageEvent event) {
        if (!event.tenant().equals(tenant)) {
            violations.add(Equations.violation(
                    Equations.Rule.ONE_TENANT, event.tenant().value(), event.atMillis(), 0, 1));
            return;
        }
        if (event.atMillis() < lastAtMillis || (event.atMillis() == lastAtMillis && event.seq() <= lastSeq)) {
            violations.add(Equations.violation(
                    Equations.Rule.STREAM_IN_ORDER,
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
                    violations.add(Equations.violation(
                            Equations.Rule.ALLOCATED_ONCE, e.allocation().value(), at, 1, 2));
                } else {
                    begin(at, e.allocation(), e.pool(), e.gpuMilli(), e.marks());
                }
            }
            case UsageEvent.Freed e -> {
                if (!end(at, e.allocation())) {
                    violations.add(Equations.violation(
                            Equations.Rule.FREED_ONCE, e.allocation().value(), at, 1, 0));
                }
            }
            case UsageEvent.PhaseChanged e -> {
                if (!live.containsKey(e.allocation())) {
                    violations.add(Equations.violation(
                            Equations.Rule.PHASE_WHILE_HELD, e.allocation().value(), at, 1, 0));
                }
            }
            case UsageEvent.TenantReserved e -> of(reserved, e.pool()).level(at, e.gpuMilli());
            case UsageEvent.PolicyReserved e ->
                of(policyReserved, new PolicyInPool(e.pool(), e.policy())).level(at, e.gpuMilli());
            case UsageEvent.Unmet e -> of(unmet, e.pool()).level(at, e.gpuMilli());
        }
    }

    private void begin(long atMillis, AllocationId allocation, PoolId pool, long gpuMilli, Marks marks) {
        Life life = new Life(pool, gpuMilli, marks, new Steps());
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
