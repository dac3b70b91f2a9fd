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
    final ReservationFill tenantFilling = new ReservationFill();
    final TreeMap<PolicyId, ReservationFill> policyFillings = new TreeMap<>();
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
        tenantFilling.reserve(atMillis, gpuMilli, touched);
        settle(atMillis, touched);
    }

    void reserveForPolicy(long atMillis, PolicyId policy, long gpuMilli) {
        List<Holding> touched = new ArrayList<>();
        policyFilling(policy).reserve(atMillis, gpuMilli, touched);
        settle(atMillis, touched);
    }

    void unmet(long atMillis, long gpuMilli) {
        unmet.set(atMillis, gpuMilli);
    }

    void allocate(long atMillis, Holding holding) {
        holdings.add(holding);
        List<Holding> touched = new ArrayList<>();
        tenantFilling.add(holding, touched);
        policyFilling(holding.marks.policy()).add(holding, touched);
        settle(atMillis, touched);
    }

    /** Frees an allocation. Drops it immediately if it held nothing at any time after {@code closedUntilMillis}. */
    boolean free(long atMillis, long closedUntilMillis, Holding holding) {
        List<Holding> touched = new ArrayList<>();
        tenantFilling.remove(holding, touched);
        policyFilling(holding.marks.policy()).remove(holding, touched);
        holding.free(atMillis);
        settle(atMillis, touched);
        boolean gone = atMillis <= Math.max(holding.startMillis, closedUntilMillis);
        if (gone) {
            holdings.remove(holding);
        }
        return gone;
    }

    /** Adds an allocation of a stored state, with its history. */
    void resume(Holding holding) {
        holdings.add(holding);
        if (holding.isLive()) {
            tenantFilling.add(holding, new ArrayList<>());
            policyFilling(holding.marks.policy()).add(holding, new ArrayList<>());
        }
    }

    ReservationFill policyFilling(PolicyId policy) {
        return policyFillings.computeIfAbsent(policy, p -> new ReservationFill());
    }

    Holding.Fill fillOf(Holding holding) {
        return new Holding.Fill(
                tenantFilling.fillOf(holding),
                policyFilling(holding.marks.policy()).fillOf(holding));
    }

    private void settle(long atMillis, List<Holding> touched) {
        for (Holding holding : touched) {
            holding.fills.set(atMillis, fillOf(holding));
        }
        idle.set(atMillis, tenantFilling.idleGpuMilli());
    }

    /** The segments before {@code untilMillis}, not yet cut at hours. */
    void segments(TenantKey tenant, long untilMillis, Consumer<Segment> taker) {
        level(tenant, idle, UsageClass.RESERVED_IDLE, untilMillis, taker);
        level(tenant, unmet, UsageClass.RESERVED_UNMET, untilMillis, taker);
        for (Holding holding : holdings) {
            holding.segments(tenant, untilMillis, taker);
        }
    }

    private void level(
            TenantKey tenant, Timeline<Long> level, UsageClass usageClass, long untilMillis, Consumer<Segment> taker) {
        level.forEachUntil(untilMillis, (from, to, gpuMilli) -> {
            if (gpuMilli > 0) {
                taker.accept(Segment.notHeld(tenant, pool, usageClass, gpuMilli, from, to));
            }
        });
    }

    /** Drops the history before {@code atMillis}; adds the allocations that it drops to {@code gone}. */
    void dropBefore(long atMillis, List<AllocationId> gone) {
        idle.dropBefore(atMillis);
        unmet.dropBefore(atMillis);
        tenantFilling.reserved.dropBefore(atMillis);
        policyFillings.values().forEach(reservationFill -> reservationFill.reserved.dropBefore(atMillis));
        holdings.removeIf(holding -> {
            if (holding.freedMillis() <= atMillis) {
                gone.add(holding.allocation);
                return true;
            }
            holding.fills.dropBefore(atMillis);
            holding.phases.dropBefore(atMillis);
            return false;
        });
        policyFillings
                .values()
                .removeIf(reservationFill -> reservationFill.isEmpty() && isQuiet(reservationFill.reserved));
    }

    /** Whether the pool has no held, reserved or unmet amount, and had none since the last closed hour. */
    boolean isEmpty() {
        return holdings.isEmpty()
                && policyFillings.isEmpty()
                && isQuiet(tenantFilling.reserved)
                && isQuiet(idle)
                && isQuiet(unmet);
    }

    private static boolean isQuiet(Timeline<Long> level) {
        return level.entries().stream().allMatch(entry -> entry.value() == 0);
    }
}
