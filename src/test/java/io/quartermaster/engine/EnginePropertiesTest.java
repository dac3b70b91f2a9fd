package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.WorkerSlice;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.plan.MandatoryEvictions;
import io.quartermaster.engine.state.SchedulingClass;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Properties of the course of workloads, over random cells and histories. A failure names its seed. */
@Tag("properties")
class EnginePropertiesTest {

    @Test
    void nobodyPassesTheFirstOfAStrictQueue() {
        RandomCells.forEach(20, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                SortedMap<WorkloadId, Workload> before = new TreeMap<>(cell.workloads);
                for (Decision decision : cell.plan().decisions()) {
                    Workload workload = Objects.requireNonNull(before.get(decision.workload()));
                    boolean passes = workload.state() instanceof WorkloadPhase.Waiting
                            && workload.nomination().isEmpty()
                            && workload.queue()
                                    .filter(cell.strictQueues::contains)
                                    .isPresent();
                    if (passes) {
                        judged.check();
                        assertThat(waitingBefore(cell, before, workload))
                                .as(decision + " before")
                                .isEmpty();
                    }
                }
            }
        });
    }

    private static boolean lendEverything(RandomCell cell) {
        return cell.quotas.values().stream()
                .allMatch(
                        quota -> quota.lendableGpuMilli().orElse(quota.reservedGpuMilli()) >= quota.reservedGpuMilli());
    }

    /** The workloads of its queue that come before it, could run, and still wait without a nomination. */
    private static List<WorkloadId> waitingBefore(
            RandomCell cell, SortedMap<WorkloadId, Workload> before, Workload workload) {
        return before.values().stream()
                .filter(other -> other.queue().equals(workload.queue()))
                .filter(other -> other.state() instanceof WorkloadPhase.Waiting)
                .filter(other -> other.priority() > workload.priority()
                        || other.priority() == workload.priority()
                                && SchedulingClass.IN_GROUP.compare(other, workload) < 0)
                .map(other -> cell.workload(other.id()))
                .filter(other -> other.state() instanceof WorkloadPhase.Waiting
                        && other.nomination().isEmpty())
                .filter(other -> cell.engine.explain(other.id()).stream()
                        .flatMap(waitReasons -> waitReasons.perPool().stream())
                        .anyMatch(reason -> reason.code() == Reason.Code.NO_CAPACITY
                                || reason.code() == Reason.Code.FRAGMENTED
                                || reason.code() == Reason.Code.BEHIND))
                // A workload that needs more than other tenants ever lend blocks no workload, but has the same reason.
                .filter(other -> lendEverything(cell))
                .map(Workload::id)
                .toList();
    }

    @Test
    void nobodyGivesWayToItself() {
        RandomCells.forEach(30, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                for (Decision decision : cell.plan().decisions()) {
                    if (decision instanceof Decision.Evict evict) {
                        judged.check();
                        assertThat(evict.successor()).isNotEqualTo(Optional.of(evict.workload()));
                    }
                }
            }
        });
    }

    @Test
    void aPlanNeverEvictsOrMovesWhatItStarts() {
        AtomicInteger withNominated = new AtomicInteger();
        RandomCells.forEach(40, (seed, judged) -> {
            RandomCell cell = RandomCell.ofVictimsThatVary(seed);
            for (int event = 0; event < 4 * RandomCells.EVENTS; event++) {
                cell.happen();
                List<Decision> decisions = cell.plan().decisions();
                Set<WorkloadId> started = started(decisions);
                Set<WorkloadId> evicted = evicted(decisions);
                if (!started.isEmpty() && !evicted.isEmpty()) {
                    judged.check();
                }
                withNominated.addAndGet(evicted.isEmpty() || !startsNominated(decisions) ? 0 : 1);
                started.retainAll(evicted);
                assertThat(started).as("%s", decisions).isEmpty();
            }
        });
        RandomCells.requireHappened(
                50, withNominated.get(), "plans that evict some work and start other work on a nomination");
    }

    @Test
    void whatStartedFromAReservationIsNotReclaimedByFairShareBeforeThePatienceIsOver() {
        AtomicInteger starts = new AtomicInteger();
        AtomicInteger protectedRuns = new AtomicInteger();
        RandomCells.forEach(6, (seed, judged) -> {
            RandomCell cell = RandomCell.ofVictimsThatVary(seed);
            long patience = cell.settings.patienceMillis().orElseThrow();
            for (int event = 0; event < 4 * RandomCells.EVENTS; event++) {
                cell.happen();
                List<Decision> decisions = cell.plan().decisions();
                for (Decision decision : decisions) {
                    if (decision instanceof Decision.Start start && start.fromReservation()) {
                        starts.incrementAndGet();
                    }
                    boolean byFairShare = decision instanceof Decision.Evict evict
                                    && evict.receipt().right() == EvictionReceipt.Right.FAIR_SHARE
                            || decision instanceof Decision.Shrink shrink
                                    && shrink.receipt().right() == EvictionReceipt.Right.FAIR_SHARE;
                    if (byFairShare) {
                        judged.check();
                        WorkloadPhase.Holding victim = (WorkloadPhase.Holding)
                                cell.workload(decision.workload()).state();
                        assertThat(victim.fromReservation() && cell.nowMillis - victim.startedMillis() < patience)
                                .as("%s", decision)
                                .isFalse();
                    }
                }
                protectedRuns.addAndGet((int) cell.workloads.values().stream()
                        .filter(workload -> workload.state() instanceof WorkloadPhase.Holding holding
                                && holding.fromReservation()
                                && cell.nowMillis - holding.startedMillis() < patience)
                        .count());
            }
        });
        RandomCells.requireHappened(200, starts.get(), "starts from reservations");
        RandomCells.requireHappened(200, protectedRuns.get(), "running in their time slice after a plan");
    }

    private static Set<WorkloadId> started(List<Decision> decisions) {
        return decisions.stream()
                .filter(decision -> decision instanceof Decision.Start || decision instanceof Decision.Grow)
                .map(Decision::workload)
                .collect(Collectors.toSet());
    }

    private static Set<WorkloadId> evicted(List<Decision> decisions) {
        return decisions.stream()
                .filter(decision -> decision instanceof Decision.Evict || decision instanceof Decision.Shrink)
                .map(Decision::workload)
                .collect(Collectors.toSet());
    }

    private static boolean startsNominated(List<Decision> decisions) {
        return decisions.stream()
                .anyMatch(
                        decision -> decision instanceof Decision.Start start && start.rule() == Decision.Rule.NOMINATED
                                || decision instanceof Decision.Grow grow && grow.rule() == Decision.Rule.NOMINATED);
    }

    @Test
    void nonPreemptibleWorkIsNeverToldToStop() {
        RandomCells.forEach(30, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                for (Decision decision : cell.plan().decisions()) {
                    boolean forWantOfWorkers =
                            decision instanceof Decision.Evict evict && evict.cause() == EvictionCause.INCOMPLETE;
                    boolean stops = decision instanceof Decision.Evict || decision instanceof Decision.Shrink;
                    if (stops && !forWantOfWorkers) {
                        judged.check();
                        assertThat(cell.workload(decision.workload()).preemptible())
                                .isTrue();
                    }
                }
            }
        });
    }

    @Test
    void gangsAreNeverBelowTheirMinimum() {
        RandomCells.forEach(50, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                cell.plan();
                for (Workload workload : cell.workloads.values()) {
                    if (workload.state() instanceof WorkloadPhase.Holding holding) {
                        if (workload.shape().allWorkers() > 1) {
                            judged.check();
                        }
                        assertThat(holding.allocation().workers().size())
                                .isBetween(
                                        mayBeBelow(holding)
                                                ? 1
                                                : workload.shape().allMinWorkers(),
                                        workload.shape().allWorkers());
                        assertThat(mayBeBelow(holding) || workload.shape().isEnough(holding.allocation()))
                                .isTrue();
                        if (isIncomplete(holding)) {
                            assertThat(MandatoryEvictions.incompleteUntil(cell.settings, workload)
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
        RandomCells.forEach(2, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                cell.plan();
                for (Workload workload : cell.workloads.values()) {
                    if (workload.shape().slice().isPresent()
                            && workload.state() instanceof WorkloadPhase.Holding holding) {
                        judged.check();
                        assertSlicesTogether(cell, workload.shape().slice().get(), holding.allocation());
                    }
                }
            }
        });
    }

    private static void assertSlicesTogether(RandomCell cell, WorkerSlice workerSlice, Allocation held) {
        Map<Integer, List<String>> domains = new TreeMap<>();
        for (Allocation.Worker worker : held.workers()) {
            Node node = cell.nodes.get(((Allocation.Place.OnNode) worker.place()).node());
            List<String> domain = Objects.requireNonNull(node).topology();
            assertThat(domains.putIfAbsent(worker.number() / workerSlice.workers(), domain))
                    .isIn(null, domain);
        }
    }

    /** Whether the workload may have fewer workers than its minimum: it lost workers, or it is stopping. */
    private static boolean mayBeBelow(WorkloadPhase.Holding holding) {
        return isIncomplete(holding) || holding.phase() instanceof WorkloadPhase.Phase.Stopping;
    }

    private static boolean isIncomplete(WorkloadPhase.Holding holding) {
        return holding.phase() instanceof WorkloadPhase.Phase.Incomplete;
    }

    @Test
    void plansOfOneInstantComeToAnEndAlthoughVictimsAskAgainAtOnce() {
        RandomCells.forEach(100, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                judged.check();
                assertThat(cell.settle(200)).as("settles").isTrue();
            }
        });
    }

    @Test
    void afterItSettledNothingChangesAnyMore() {
        RandomCells.forEach(60, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            if (cell.settings.fairnessWindowMillis().isPresent()
                    || !cell.engine.budgets().isEmpty()) {
                return; // Past use changes the shares, and budgets run out, without any change of the inputs.
            }
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                cell.settle(200);
            }
            // Running work reaches its minimum run time: the last change that happens without a change of the inputs.
            for (int pass = 0; pass < 5; pass++) {
                cell.nowMillis += 60_000;
                assertThat(cell.settle(200)).as("settles").isTrue();
            }
            for (int plan = 0; plan < 50; plan++) {
                cell.nowMillis += 60_000;
                judged.check();
                assertThat(cell.plan().decisions()).isEmpty();
            }
        });
    }

    @Test
    void everyWaitingWorkloadSaysWhy() {
        RandomCells.forEach(95, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                cell.settle(200);
                for (Workload workload : cell.workloads.values()) {
                    boolean waits = workload.state() instanceof WorkloadPhase.Waiting;
                    if (waits) {
                        judged.check();
                    }
                    assertThat(cell.engine.explain(workload.id()).isPresent()).isEqualTo(waits);
                }
            }
        });
    }
}
