package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.ConcurrencyCaps;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Hours;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Bounds that no plan exceeds, and capacity that stays with its owner, over random cells and histories. A failure names
 * its seed.
 */
@Tag("properties")
class EngineBoundsPropertiesTest {

    @Test
    void noDeviceIsHeldBeyondItself() {
        RandomCells.forEach(80, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                cell.plan();
                heldPerDevice(cell).forEach((device, gpuMilli) -> {
                    judged.check();
                    assertThat(gpuMilli).as(device).isLessThanOrEqualTo(1000);
                });
                for (Pool pool : cell.pools.values()) {
                    if (pool.capacity() instanceof Pool.Capacity.Count count) {
                        judged.check();
                        assertThat(heldIn(cell, pool.id())).isLessThanOrEqualTo(count.gpuMilli());
                    }
                }
            }
        });
    }

    @Test
    void noStartPassesALimit() {
        RandomCells.forEach(55, (seed, judged) -> {
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
                    if (limit < Long.MAX_VALUE && after.getOrDefault(key, 0L) > before.getOrDefault(key, 0L)) {
                        judged.check();
                    }
                    assertThat(after.getOrDefault(key, 0L))
                            .as(key)
                            .isLessThanOrEqualTo(Math.max(before.getOrDefault(key, 0L), limit));
                });
            }
        });
    }

    @Test
    void whatIsBeyondALimitIsGoneByItsDateExceptWhatCannotBePreempted() {
        RandomCells.forEach(4, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < 2 * RandomCells.EVENTS; event++) {
                cell.happen();
                cell.settle(200);
                for (Quota quota : cell.quotas.values()) {
                    Quota standing = quota.at(cell.nowMillis);
                    if (quota.drainByMillis().orElse(Long.MAX_VALUE) <= cell.nowMillis
                            && standing.limitGpuMilli().isPresent()) {
                        long limit = standing.limitGpuMilli().getAsLong()
                                + RandomCalendar.raises(cell.calendar, quota, cell.nowMillis);
                        List<Workload> holding = cell.workloads.values().stream()
                                .filter(workload -> counts(quota, workload))
                                .toList();
                        if (!holding.isEmpty()) {
                            judged.check();
                        }
                        assertThat(held(holding) <= limit || holding.stream().noneMatch(Workload::preemptible))
                                .as("%s: %s", quota, holding)
                                .isTrue();
                    }
                }
            }
        });
    }

    private static long held(List<Workload> holding) {
        return holding.stream()
                .mapToLong(workload ->
                        ((WorkloadPhase.Holding) workload.state()).allocation().gpuMilli())
                .sum();
    }

    private static boolean counts(Quota quota, Workload workload) {
        return quota.path().covers(workload.path())
                && workload.state() instanceof WorkloadPhase.Holding holding
                && (quota.scope().equals(Scope.ALL_POOLS)
                        || quota.scope().equals(Scope.of(holding.allocation().pool())));
    }

    @Test
    void nothingStartsOutsideThePoolsHoursNorRunsOnWhereItPreemptsThen() {
        RandomCells.forEach(10, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                for (Decision decision : cell.plan().decisions()) {
                    if (decision instanceof Decision.Start start) {
                        Pool pool = Objects.requireNonNull(
                                cell.pools.get(start.allocation().pool()));
                        if (pool.hours().isPresent()) {
                            judged.check();
                        }
                        assertThat(pool.at(cell.nowMillis).open()).isTrue();
                    }
                }
            }
            cell.settle(200);
            for (Workload workload : cell.workloads.values()) {
                if (workload.state() instanceof WorkloadPhase.Holding holding && workload.preemptible()) {
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
        RandomCells.forEach(25, (seed, judged) -> {
            RandomCell cell = RandomCell.ofTightBudgets(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                List<Decision> decisions = cell.plan().decisions();
                for (Change.BudgetSet budget : cell.engine.budgets()) {
                    if (budget.leftGpuMilliMillis() <= 0) {
                        boolean someWait = cell.workloads.values().stream()
                                .anyMatch(workload -> budget.path().covers(workload.path())
                                        && workload.state() instanceof WorkloadPhase.Waiting);
                        if (someWait) {
                            judged.check();
                        }
                        assertThat(decisions).noneMatch(decision -> startsOn(cell, budget, decision));
                    }
                }
            }
        });
    }

    private static boolean startsOn(RandomCell cell, Change.BudgetSet budget, Decision decision) {
        if (!(decision instanceof Decision.Start start)) {
            return false;
        }
        boolean inScope = budget.scope().equals(Scope.ALL_POOLS)
                || budget.scope().equals(Scope.of(start.allocation().pool()));
        return inScope && budget.path().covers(cell.workload(start.workload()).path());
    }

    @Test
    void noCapIsPassed() {
        RandomCells.forEach(8, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                cell.plan();
                for (ConcurrencyCaps concurrencyCaps : cell.caps.values()) {
                    Map<String, Long> ofUsers = new TreeMap<>();
                    int running = 0;
                    for (Workload workload : cell.workloads.values()) {
                        if (concurrencyCaps.path().covers(workload.path())
                                && workload.state() instanceof WorkloadPhase.Holding holding) {
                            long held = holding.allocation().gpuMilli();
                            ofUsers.merge(workload.user().orElseThrow(), held, Long::sum);
                            running++;
                        }
                    }
                    if (running > 0) {
                        judged.check();
                    }
                    long most = concurrencyCaps.perUserGpuMilli().orElse(Long.MAX_VALUE);
                    assertThat(ofUsers.values())
                            .allSatisfy(held -> assertThat(held).isLessThanOrEqualTo(most));
                    assertThat(running)
                            .isLessThanOrEqualTo(concurrencyCaps.running().orElse(Integer.MAX_VALUE));
                }
            }
        });
    }

    @Test
    void whereReservationsCanBeHonouredTheyAre() {
        RandomCells.forEach(90, (seed, judged) -> {
            RandomCell cell = RandomCell.ofWholeUnits(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                assertThat(cell.settle(200)).as("settles").isTrue();
                Map<String, Long> held = heldPerQuota(cell);
                for (Workload workload : cell.workloads.values()) {
                    if (workload.state() instanceof WorkloadPhase.Waiting) {
                        judged.check();
                        assertThat(withinReserved(cell, workload, held))
                                .as(workload.id() + " of " + workload.path() + " waits although within its reservation")
                                .isFalse();
                    }
                }
            }
        });
    }

    /** Whether the start would keep every node of the path that has a quota within its reservation. */
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
        RandomCells.forEach(30, (seed, judged) -> {
            RandomCell cell = RandomCell.ofWholeUnits(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                cell.settle(200);
                Map<String, Long> held = heldPerQuota(cell);
                for (Pool pool : cell.pools.values()) {
                    long capacity = ((Pool.Capacity.Count) pool.capacity()).gpuMilli();
                    long heldBack = heldBack(cell, held);
                    if (heldBack > 0) {
                        judged.check();
                    }
                    assertThat(heldIn(cell, pool.id()) + heldBack).isLessThanOrEqualTo(capacity);
                }
            }
        });
    }

    /**
     * The idle amount that all tenants together do not lend: for each tenant its own amount, or the sum of its groups
     * if that is larger.
     */
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
            if (workload.state() instanceof WorkloadPhase.Holding holding) {
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
            if (workload.state() instanceof WorkloadPhase.Holding holding
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
                        && workload.state() instanceof WorkloadPhase.Holding holding
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
