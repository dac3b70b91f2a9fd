package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Test;

/** What must hold in every cell, over random cells and histories. A failure names its seed. */
class EnginePropertiesTest {
    private static final int CELLS = Integer.getInteger("engine.cells", 200);
    private static final int EVENTS = 12;

    private static void forRandomCells(LongConsumer property) {
        for (long seed = 0; seed < CELLS; seed++) {
            try {
                property.accept(seed);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }

    @Test
    void noDeviceIsHeldBeyondItself() {
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
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
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
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
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
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
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
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
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
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
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
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
    void nobodyPassesTheFirstOfAStrictQueue() {
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
                cell.happen();
                SortedMap<WorkloadId, Workload> before = new TreeMap<>(cell.workloads);
                for (Decision decision : cell.plan().decisions()) {
                    Workload workload = Objects.requireNonNull(before.get(decision.workload()));
                    boolean passes = workload.state() instanceof WorkloadState.Waiting
                            && workload.nomination().isEmpty()
                            && workload.queue()
                                    .filter(cell.strictQueues::contains)
                                    .isPresent();
                    if (passes) {
                        assertThat(waitingBefore(cell, before, workload))
                                .as(decision + " before")
                                .isEmpty();
                    }
                }
            }
        });
    }

    /** Those of its queue that could run, still wait with no place kept, and come before it. */
    private static boolean lendEverything(RandomCell cell) {
        return cell.quotas.values().stream()
                .allMatch(
                        quota -> quota.lendableGpuMilli().orElse(quota.reservedGpuMilli()) >= quota.reservedGpuMilli());
    }

    private static List<WorkloadId> waitingBefore(
            RandomCell cell, SortedMap<WorkloadId, Workload> before, Workload workload) {
        return before.values().stream()
                .filter(other -> other.queue().equals(workload.queue()))
                .filter(other -> other.state() instanceof WorkloadState.Waiting)
                .filter(other -> other.priority() > workload.priority()
                        || other.priority() == workload.priority() && Line.IN_GROUP.compare(other, workload) < 0)
                .map(other -> cell.workload(other.id()))
                .filter(other -> other.state() instanceof WorkloadState.Waiting
                        && other.nomination().isEmpty())
                .filter(other -> cell.engine.explain(other.id()).stream()
                        .flatMap(wait -> wait.perPool().stream())
                        .anyMatch(reason -> reason.code() == Reason.Code.NO_CAPACITY
                                || reason.code() == Reason.Code.FRAGMENTED
                                || reason.code() == Reason.Code.BEHIND))
                // What asks for more than the others ever lend holds nobody up, and may say the same.
                .filter(other -> lendEverything(cell))
                .map(Workload::id)
                .toList();
    }

    @Test
    void nobodyGivesWayToItself() {
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
                cell.happen();
                for (Decision decision : cell.plan().decisions()) {
                    if (decision instanceof Decision.Preempt preempt) {
                        assertThat(preempt.successor()).isNotEqualTo(Optional.of(preempt.workload()));
                    }
                }
            }
        });
    }

    @Test
    void nonPreemptibleWorkIsNeverToldToStop() {
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
                cell.happen();
                for (Decision decision : cell.plan().decisions()) {
                    boolean forWantOfWorkers =
                            decision instanceof Decision.Preempt preempt && preempt.cause() == Cause.INCOMPLETE;
                    boolean stops = decision instanceof Decision.Preempt || decision instanceof Decision.Shrink;
                    if (stops && !forWantOfWorkers) {
                        assertThat(cell.workload(decision.workload()).preemptible())
                                .isTrue();
                    }
                }
            }
        });
    }

    @Test
    void gangsAreNeverBelowTheirMinimum() {
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
                cell.happen();
                cell.plan();
                for (Workload workload : cell.workloads.values()) {
                    if (workload.state() instanceof WorkloadState.Holding holding) {
                        assertThat(holding.allocation().workers().size())
                                .isBetween(
                                        mayBeBelow(holding)
                                                ? 1
                                                : workload.shape().allMinWorkers(),
                                        workload.shape().allWorkers());
                        assertThat(mayBeBelow(holding) || workload.shape().isEnough(holding.allocation()))
                                .isTrue();
                        if (isIncomplete(holding)) {
                            assertThat(Unclaimed.incompleteUntil(cell.settings, workload)
                                            .orElse(0))
                                    .isGreaterThan(cell.nowMillis);
                        }
                    }
                }
            }
        });
    }

    @Test
    void workersOfOneSliceAreInOneDomain() {
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
                cell.happen();
                cell.plan();
                for (Workload workload : cell.workloads.values()) {
                    if (workload.shape().slice().isPresent()
                            && workload.state() instanceof WorkloadState.Holding holding) {
                        assertSlicesTogether(cell, workload.shape().slice().get(), holding.allocation());
                    }
                }
            }
        });
    }

    private static void assertSlicesTogether(RandomCell cell, Slice slice, Allocation held) {
        Map<Integer, List<String>> domains = new TreeMap<>();
        for (Allocation.Worker worker : held.workers()) {
            Node node = cell.nodes.get(((Allocation.Place.OnNode) worker.place()).node());
            List<String> domain = Objects.requireNonNull(node).topology();
            assertThat(domains.putIfAbsent(worker.number() / slice.workers(), domain))
                    .isIn(null, domain);
        }
    }

    /** Who lost workers, until others come in their place or the rest has stopped. */
    private static boolean mayBeBelow(WorkloadState.Holding holding) {
        return isIncomplete(holding) || holding.phase() instanceof WorkloadState.Phase.Stopping;
    }

    private static boolean isIncomplete(WorkloadState.Holding holding) {
        return holding.phase() instanceof WorkloadState.Phase.Incomplete;
    }

    @Test
    void plansOfOneInstantComeToAnEndAlthoughVictimsAskAgainAtOnce() {
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
                cell.happen();
                assertThat(cell.settle(200)).as("settles").isTrue();
            }
        });
    }

    @Test
    void anEngineBuiltFromTheTablesDecidesAndExplainsTheSame() {
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
                cell.happen();
                for (int i = 0; i < 3; i++) {
                    Engine rebuilt = cell.rebuilt(seed + i);
                    List<Decision> expected = rebuilt.plan(cell.nowMillis).decisions();
                    List<Wait> expectedWaits = rebuilt.waits();
                    Plan plan = cell.engine.plan(cell.nowMillis);
                    assertThat(plan.decisions()).isEqualTo(expected);
                    assertThat(cell.engine.waits()).isEqualTo(expectedWaits);
                    cell.carryOut(plan);
                    cell.leaveAllDue();
                }
                assertThat(cell.rebuilt(seed).waits()).isEmpty();
            }
        });
    }

    @Test
    void aRestoredSnapshotGivesTheSamePlan() {
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
                cell.happen();
                Engine restored = Engine.restore(cell.engine.snapshot());
                assertThat(cell.plan()).isEqualTo(restored.plan(cell.nowMillis));
            }
        });
    }

    @Test
    void everyDecisionHasAReceiptWhoseNumbersBearItOut() {
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
                cell.happen();
                List<DecisionReceipt> receipts = Receipts.of(cell.engine.snapshot(), cell.nowMillis);
                assertThat(receipts)
                        .extracting(DecisionReceipt::decision)
                        .isEqualTo(cell.plan().decisions());
                receipts.forEach(receipt -> {
                    assertThat(receipt.turn().isPresent()).as("%s", receipt).isEqualTo(hasATurn(receipt));
                    receipt.turn().stream()
                            .flatMap(turn -> turn.won().stream())
                            .forEach(won ->
                                    assertThat(isBorneOut(won)).as("%s", won).isTrue());
                });
            }
        });
    }

    private static boolean hasATurn(DecisionReceipt receipt) {
        return switch (receipt.decision()) {
            case Decision.Start start -> start.rule() != Decision.Rule.NOMINATED;
            case Decision.Grow grow -> grow.rule() != Decision.Rule.NOMINATED;
            case Decision.Nominate nominate ->
                receipt.stops().stream().noneMatch(stop -> stop.workload().equals(nominate.workload()));
            case Decision.Preempt preempt -> false;
            case Decision.Shrink shrink -> false;
            case Decision.Denominate denominate -> false;
        };
    }

    /** What an order states in words is written down here a second time, by the numbers of the receipt alone. */
    private static boolean isBorneOut(Turn.Comparison won) {
        Turn.Side own = won.own();
        Turn.Side other = won.other();
        return switch (won.by()) {
            case RANK -> own.rank() < other.rank();
            case SHARE_WITH_REQUEST ->
                own.rank() == other.rank()
                        && isLess(
                                own.usedGpuMilli() + own.requestedGpuMilli(),
                                own.shareGpuMilli(),
                                other.usedGpuMilli() + other.requestedGpuMilli(),
                                other.shareGpuMilli());
            case SHARE ->
                own.rank() == other.rank()
                        && isLess(own.usedGpuMilli(), own.shareGpuMilli(), other.usedGpuMilli(), other.shareGpuMilli());
            case PAST_USE, AT_HEAD, SUBMITTED -> own.rank() == other.rank();
            case PRIORITY, WHOLE, PLACE -> own.path().equals(other.path());
        };
    }

    private static boolean isLess(long used, long share, long usedByOther, long shareOfOther) {
        return share != 0 && (shareOfOther == 0 || used * shareOfOther < usedByOther * share);
    }

    @Test
    void whereReservationsCanBeHonouredTheyAre() {
        forRandomCells(seed -> {
            RandomCell cell = RandomCell.ofWholeUnits(seed);
            for (int event = 0; event < EVENTS; event++) {
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

    @Test
    void whatIsNotLentIsNotUsedByOthers() {
        forRandomCells(seed -> {
            RandomCell cell = RandomCell.ofWholeUnits(seed);
            for (int event = 0; event < EVENTS; event++) {
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
    void afterItSettledNothingChangesAnyMore() {
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            if (cell.settings.fairnessWindowMillis().isPresent()
                    || !cell.engine.budgets().isEmpty()) {
                return; // Shares that follow the past take turns, and budgets run out: changes that time alone brings.
            }
            for (int event = 0; event < EVENTS; event++) {
                cell.happen();
                cell.settle(200);
            }
            // Running work grows old enough to be stopped: that is the last change that time alone brings.
            for (int pass = 0; pass < 5; pass++) {
                cell.nowMillis += 60_000;
                assertThat(cell.settle(200)).as("settles").isTrue();
            }
            for (int plan = 0; plan < 50; plan++) {
                cell.nowMillis += 60_000;
                assertThat(cell.plan().decisions()).isEmpty();
            }
        });
    }

    @Test
    void everyWaitingWorkloadSaysWhy() {
        forRandomCells(seed -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < EVENTS; event++) {
                cell.happen();
                cell.settle(200);
                for (Workload workload : cell.workloads.values()) {
                    boolean waits = workload.state() instanceof WorkloadState.Waiting;
                    assertThat(cell.engine.explain(workload.id()).isPresent()).isEqualTo(waits);
                }
            }
        });
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
