package io.quartermaster.ledger;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/** One tenant's usage and reserved amounts in one pool: the fill of the tenant's amount and of each policy's. */
final class PoolAccount {
    final PoolKey pool;
    final ReservationFill tenantFill = new ReservationFill();
    final TreeMap<PolicyId, ReservationFill> policyFills = new TreeMap<>();
    final Timeline<Long> idle = new Timeline<>();
    final Timeline<Long> unmet = new Timeline<>();

    /** The allocations that are live or were freed since the last closed hour. */
    private final TreeSet<Holding> holdings = new TreeSet<>();

    PoolAccount(PoolKey pool) {
        this.pool = pool;
    }

    Collection<Holding> holdings() {
        return holdings;
    }

    void reserveForTenant(long atMillis, long gpuMilli) {
        List<Holding> touched = new ArrayList<>();
        tenantFill.setReserved(atMillis, gpuMilli, touched);
        recordFills(atMillis, touched);
    }

    void reserveForPolicy(long atMillis, PolicyId policy, long gpuMilli) {
        List<Holding> touched = new ArrayList<>();
        policyFill(policy).setReserved(atMillis, gpuMilli, touched);
        recordFills(atMillis, touched);
    }

    void recordUnmet(long atMillis, long gpuMilli) {
        unmet.set(atMillis, gpuMilli);
    }

    void allocate(long atMillis, Holding holding) {
        holdings.add(holding);
        List<Holding> touched = new ArrayList<>();
        tenantFill.add(holding, touched);
        policyFill(holding.marks.policy()).add(holding, touched);
        recordFills(atMillis, touched);
    }

    /** Frees an allocation. Drops it immediately if it held nothing at any time after {@code closedUntilMillis}. */
    boolean free(long atMillis, long closedUntilMillis, Holding holding) {
        List<Holding> touched = new ArrayList<>();
        tenantFill.remove(holding, touched);
        policyFill(holding.marks.policy()).remove(holding, touched);
        holding.free(atMillis);
        recordFills(atMillis, touched);
        boolean dropped = atMillis <= Math.max(holding.startMillis, closedUntilMillis);
        if (dropped) {
            holdings.remove(holding);
        }
        return dropped;
    }

    /** Adds an allocation of a stored state, with its history. */
    void addRestored(Holding holding) {
        holdings.add(holding);
        if (holding.isLive()) {
            tenantFill.add(holding, new ArrayList<>());
            policyFill(holding.marks.policy()).add(holding, new ArrayList<>());
        }
    }

    ReservationFill policyFill(PolicyId policy) {
        return policyFills.computeIfAbsent(policy, p -> new ReservationFill());
    }

    Holding.Fill fillOf(Holding holding) {
        return new Holding.Fill(
                tenantFill.fillOf(holding), policyFill(holding.marks.policy()).fillOf(holding));
    }

    private void recordFills(long atMillis, List<Holding> touched) {
        for (Holding holding : touched) {
            holding.fills.set(atMillis, fillOf(holding));
        }
        idle.set(atMillis, tenantFill.idleGpuMilli());
    }

    /** The segments before {@code untilMillis}, not yet cut at hours. */
    void forEachSegment(TenantKey tenant, long untilMillis, Consumer<Segment> consumer) {
        forEachLevelSegment(tenant, idle, UsageClass.RESERVED_IDLE, untilMillis, consumer);
        forEachLevelSegment(tenant, unmet, UsageClass.RESERVED_UNMET, untilMillis, consumer);
        for (Holding holding : holdings) {
            holding.forEachSegment(tenant, untilMillis, consumer);
        }
    }

    private void forEachLevelSegment(
            TenantKey tenant,
            Timeline<Long> level,
            UsageClass usageClass,
            long untilMillis,
            Consumer<Segment> consumer) {
        level.forEachUntil(untilMillis, (from, to, gpuMilli) -> {
            if (gpuMilli > 0) {
                consumer.accept(Segment.notHeld(tenant, pool, usageClass, gpuMilli, from, to));
            }
        });
    }

    /** Drops the history before {@code atMillis}; adds the allocations that it drops to {@code dropped}. */
    void dropBefore(long atMillis, List<AllocationId> dropped) {
        idle.dropBefore(atMillis);
        unmet.dropBefore(atMillis);
        tenantFill.reserved.dropBefore(atMillis);
        policyFills.values().forEach(reservationFill -> reservationFill.reserved.dropBefore(atMillis));
        holdings.removeIf(holding -> {
            if (holding.freedMillis() <= atMillis) {
                dropped.add(holding.allocation);
                return true;
            }
            holding.fills.dropBefore(atMillis);
            holding.phases.dropBefore(atMillis);
            return false;
        });
        policyFills
                .values()
                .removeIf(reservationFill -> reservationFill.isEmpty() && isAlwaysZero(reservationFill.reserved));
    }

    /** Whether the pool has no held, reserved or unmet amount, and had none since the last closed hour. */
    boolean isEmpty() {
        return holdings.isEmpty()
                && policyFills.isEmpty()
                && isAlwaysZero(tenantFill.reserved)
                && isAlwaysZero(idle)
                && isAlwaysZero(unmet);
    }

    private static boolean isAlwaysZero(Timeline<Long> level) {
        return level.entries().stream().allMatch(entry -> entry.value() == 0);
    }
}
