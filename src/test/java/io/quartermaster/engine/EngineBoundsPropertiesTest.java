package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What is never passed, and what is kept for whom, in every cell, over random cells and histories. A failure names its seed. */
class EngineBoundsPropertiesTest {

    @Test
    void noDeviceIsHeldBeyondItself() {
        RandomCells.forEach(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                cell.plan();
                heldPerDevice(cell)
                        .forEach((device, gpuMilli) ->
                                assertThat(gpuMilli).as(device).isLessThanOrEqualTo(1000));
                for (Pool pool : cell.pools.values()) {
                    if (pool.capacity() instanceof Pool.Capacity.Count count) {
                        assertThat(heldIn(cell, pool.id())).isLessThanOrEqualTo(count.gpuMilli());
                    }
                }
            }
        });
    }

    @Test
    void noStartPassesALimit() {
        RandomCells.forEach(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                Map<String, Long> before = heldPerQuota(cell);
                cell.plan();
                Map<String, Long> after = heldPerQuota(cell);
                cell.quotas.forEach((key, quota) -> {
                    Quota standing = quota.at(cell.nowMillis);
                    long limit = standing.limitGpuMilli().isPresent()
                            ? standing.limitGpuMilli().getAsLong()
                                    + RandomCalendar.raises(cell.calendar, quota, cell.nowMillis)
                            : Long.MAX_VALUE;
                    assertThat(after.getOrDefault(key, 0L))
                            .as(key)
                            .isLessThanOrEqualTo(Math.max(before.getOrDefault(key, 0L), limit));
                });
            }
        });
    }

    @Test
    void whatIsBeyondALimitIsGoneByItsDateExceptWhatCannotBePreempted() {
        RandomCells.forEach(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
            }
            cell.settle(200);
            for (Quota quota : cell.quotas.values()) {
                if (quota.drainByMillis().orElse(Long.MAX_VALUE) <= cell.nowMillis
                        && quota.at(cell.nowMillis).limitGpuMilli().isPresent()) {
                    long limit = quota.at(cell.nowMillis).limitGpuMilli().getAsLong()
                            + RandomCalendar.raises(cell.calendar, quota, cell.nowMillis);
                    List<Workload> holding = cell.workloads.values().stream()
                            .filter(workload -> counts(quota, workload))
                            .toList();
                    assertThat(holding.stream()
                                                    .mapToLong(workload -> ((WorkloadState.Holding) workload.state())
                                                            .allocation()
                                                            .gpuMilli())
                                                    .sum()
                                            <= limit
                                    || holding.stream().noneMatch(Workload::preemptible))
                            .as("%s: %s", quota, holding)
                            .isTrue();
                }
            }
        });
    }

    private static boolean counts(Quota quota, Workload workload) {
        return quota.path().covers(workload.path())
                && workload.state() instanceof WorkloadState.Holding holding
                && (quota.scope().equals(Scope.ALL_POOLS)
                        || quota.scope().equals(Scope.of(holding.allocation().pool())));
    }

    @Test
    void nothingStartsOutsideThePoolsHoursNorRunsOnWhereItPreemptsThen() {
        RandomCells.forEach(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                for (Decision decision : cell.plan().decisions()) {
                    if (decision instanceof Decision.Start start) {
                        Pool pool = Objects.requireNonNull(
                                cell.pools.get(start.allocation().pool()));
                        assertThat(pool.at(cell.nowMillis).open()).isTrue();
                    }
                }
            }
            cell.settle(200);
            for (Workload workload : cell.workloads.values()) {
                if (workload.state() instanceof WorkloadState.Holding holding && workload.preemptible()) {
                    Pool pool = Objects.requireNonNull(
                            cell.pools.get(holding.allocation().pool()));
                    boolean goesOn = pool.hours()
                            .filter(hours -> hours.atClose() == Hours.AtClose.PREEMPT)
                            .isEmpty();
                    assertThat(goesOn || pool.at(cell.nowMillis).open()).isTrue();
                }
            }
        });
    }

    @Test
    void nothingStartsOnABudgetThatIsUsedUp() {
        RandomCells.forEach(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                List<Decision> decisions = cell.plan().decisions();
                for (Change.BudgetSet budget : cell.engine.budgets()) {
                    for (Decision decision : decisions) {
                        if (decision instanceof Decision.Start start && budget.leftGpuMilliMillis() <= 0) {
                            PoolId pool = start.allocation().pool();
                            boolean counts = budget.scope().equals(Scope.ALL_POOLS)
                                    || budget.scope().equals(Scope.of(pool));
                            assertThat(counts
                                            && budget.path()
                                                    .covers(cell.workload(start.workload())
                                                            .path()))
                                    .as("%s: %s", budget, start)
                                    .isFalse();
                        }
                    }
                }
            }
        });
    }

    @Test
    void noCapIsPassed() {
        RandomCells.forEach(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                cell.plan();
                for (Caps caps : cell.caps.values()) {
                    Map<String, Long> ofUsers = new TreeMap<>();
                    int running = 0;
                    for (Workload workload : cell.workloads.values()) {
                        if (caps.path().covers(workload.path())
                                && workload.state() instanceof WorkloadState.Holding holding) {
                            long held = holding.allocation().gpuMilli();
                            ofUsers.merge(workload.user().orElseThrow(), held, Long::sum);
                            running++;
                        }
                    }
                    long most = caps.perUserGpuMilli().orElse(Long.MAX_VALUE);
                    assertThat(ofUsers.values())
                            .allSatisfy(held -> assertThat(held).isLessThanOrEqualTo(most));
                    assertThat(running).isLessThanOrEqualTo(caps.running().orElse(Integer.MAX_VALUE));
                }
            }
        });
    }

    @Test
    void whereReservationsCanBeHonouredTheyAre() {
        RandomCells.forEach(seed -> {
            RandomCell cell = RandomCell.ofWholeUnits(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                assertThat(cell.settle(200)).as("settles").isTrue();
                Map<String, Long> held = heldPerQuota(cell);
                for (Workload workload : cell.workloads.values()) {
                    if (workload.state() instanceof WorkloadState.Waiting) {
                        assertThat(withinReserved(cell, workload, held))
                                .as(workload.id() + " of " + workload.path() + " waits although within its reservation")
                                .isFalse();
                    }
                }
            }
        });
    }

    /** Whether the start would keep every named node of the path within what is reserved for it. */
    private static boolean withinReserved(RandomCell cell, Workload workload, Map<String, Long> held) {
        long gpuMilli = ((GpuRequest.Whole) workload.shape().gpus()).count() * 1000L;
        boolean within = true;
        for (Map.Entry<String, Quota> entry : cell.quotas.entrySet()) {
            if (entry.getValue().path().covers(workload.path())) {
                long used = held.getOrDefault(entry.getKey(), 0L);
                within &= used + gpuMilli <= entry.getValue().reservedGpuMilli();
            }
        }
        return within;
    }

    @Test
    void whatIsNotLentIsNotUsedByOthers() {
        RandomCells.forEach(seed -> {
            RandomCell cell = RandomCell.ofWholeUnits(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                cell.settle(200);
                Map<String, Long> held = heldPerQuota(cell);
                for (Pool pool : cell.pools.values()) {
                    long capacity = ((Pool.Capacity.Count) pool.capacity()).gpuMilli();
                    assertThat(heldIn(cell, pool.id()) + heldBack(cell, held)).isLessThanOrEqualTo(capacity);
                }
            }
        });
    }

    /** What all tenants together keep idle for themselves: each what it does not lend, or its groups if that is more. */
    private static long heldBack(RandomCell cell, Map<String, Long> held) {
        Map<String, Long> ofTenant = new TreeMap<>();
        Map<String, Long> ofGroups = new TreeMap<>();
        cell.quotas.forEach((key, quota) -> {
            long lendable = quota.lendableGpuMilli().orElse(quota.reservedGpuMilli());
            long kept = Math.max(0, quota.reservedGpuMilli() - lendable - held.getOrDefault(key, 0L));
            boolean tenant = quota.path().segments().size() == 1;
            (tenant ? ofTenant : ofGroups).merge(quota.path().tenant(), kept, Long::sum);
        });
        long sum = 0;
        for (Map.Entry<String, Long> tenant : ofTenant.entrySet()) {
            sum += Math.max(tenant.getValue(), ofGroups.getOrDefault(tenant.getKey(), 0L));
        }
        return sum;
    }

    private static Map<String, Integer> heldPerDevice(RandomCell cell) {
        Map<String, Integer> held = new TreeMap<>();
        for (Workload workload : cell.workloads.values()) {
            if (workload.state() instanceof WorkloadState.Holding holding) {
                for (Allocation.Worker worker : holding.allocation().workers()) {
                    if (worker.place() instanceof Allocation.Place.OnNode place) {
                        place.shares()
                                .forEach(share -> held.merge(
                                        place.node() + "/" + share.device(), share.gpuMilli(), Integer::sum));
                    }
                }
            }
        }
        return held;
    }

    private static long heldIn(RandomCell cell, PoolId pool) {
        long held = 0;
        for (Workload workload : cell.workloads.values()) {
            if (workload.state() instanceof WorkloadState.Holding holding
                    && holding.allocation().pool().equals(pool)) {
                held += holding.allocation().gpuMilli();
            }
        }
        return held;
    }

    private static Map<String, Long> heldPerQuota(RandomCell cell) {
        Map<String, Long> held = new TreeMap<>();
        cell.quotas.forEach((key, quota) -> {
            long sum = 0;
            for (Workload workload : cell.workloads.values()) {
                if (quota.path().covers(workload.path())
                        && workload.state() instanceof WorkloadState.Holding holding
                        && (quota.scope().equals(Scope.ALL_POOLS)
                                || quota.scope()
                                        .equals(Scope.of(holding.allocation().pool())))) {
                    sum += holding.allocation().gpuMilli();
                }
            }
            held.put(key, sum);
        });
        return held;
    }
}
