package io.quartermaster.engine.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.benchmark.PlanChecker.Rule;
import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The checker of the benchmarks finds each kind of wrong plan, and finds nothing wrong with right ones. */
class PlanCheckerTest {
    private static final PoolId POOL = new PoolId("pool");
    private static final PoolId OTHER_POOL = new PoolId("other");
    private static final long NOW_MILLIS = 100_000;
    private static final long MIN_RUNTIME_MILLIS = 10_000;
    private static final QuotaPath TENANT = QuotaPath.of("a");
    private static final QuotaPath GROUP = QuotaPath.of("a", "g");
    private static final QuotaPath SISTER = QuotaPath.of("a", "h");
    private static final QuotaPath OTHER = QuotaPath.of("b", "g");

    private final PlanChecker checker = new PlanChecker(MIN_RUNTIME_MILLIS);
    private int submitted;

    /** Two racks of two nodes with four GPUs each; every quota has a reservation and lends it. */
    @BeforeEach
    void cell() {
        List<Change> changes = new ArrayList<>();
        changes.add(new Change.PoolSet(pool(POOL)));
        changes.add(new Change.PoolSet(pool(OTHER_POOL)));
        for (int n = 0; n < 4; n++) {
            changes.add(new Change.NodeSet(node(n)));
        }
        for (QuotaPath path : List.of(TENANT, GROUP, SISTER, QuotaPath.of("b"), OTHER)) {
            changes.add(new Change.QuotaSet(Quota.reserving(path, Scope.of(POOL), 4_000)));
        }
        checker.apply(changes);
    }

    private static Pool pool(PoolId id) {
        return new Pool(
                id,
                new Pool.Capacity.Nodes(OptionalLong.empty()),
                Pool.Placement.PACK,
                Pool.Sharing.TENANT,
                List.of(),
                List.of("rack"),
                true);
    }

    private static Node node(int number) {
        return new Node(
                new NodeId("n" + number),
                POOL,
                true,
                true,
                IntStream.range(0, 4)
                        .mapToObj(index -> new Node.Device(index, "H100", 81_920, false))
                        .toList(),
                OptionalLong.of(32_000),
                OptionalLong.of(256_000),
                Collections.emptySortedMap(),
                List.of("r" + number / 2));
    }

    private Workload submit(QuotaPath path, Shape shape) {
        int number = submitted++;
        return submit(Workload.waiting(new WorkloadId("w" + number), path, shape, List.of(POOL), number, number));
    }

    private Workload submit(Workload workload) {
        checker.apply(List.of(new Change.WorkloadSet(workload)));
        return workload;
    }

    private Workload running(QuotaPath path, Shape shape, Allocation allocation) {
        Workload workload = submit(path, shape);
        return submit(workload.withState(WorkloadPhase.running(allocation, 0)));
    }

    private void change(Change change) {
        checker.apply(List.of(change));
    }

    private static Allocation wholes(int node, int... devices) {
        return new Allocation(POOL, List.of(worker(0, node, devices)));
    }

    private static Allocation.Worker worker(int number, int node, int... devices) {
        return new Allocation.Worker(
                number,
                new Allocation.Place.OnNode(
                        new NodeId("n" + node),
                        IntStream.of(devices).mapToObj(Allocation.Share::whole).toList()));
    }

    private static Allocation part(int node, int device, int gpuMilli) {
        return new Allocation(
                POOL,
                List.of(new Allocation.Worker(
                        0,
                        new Allocation.Place.OnNode(
                                new NodeId("n" + node),
                                List.of(new Allocation.Share(device, gpuMilli, Optional.empty()))))));
    }

    private static Shape half() {
        return Shape.ofWorkers(1, new GpuRequest.Fraction(1, 500)).shape();
    }

    private static Decision start(Workload workload, Allocation allocation) {
        return new Decision.Start(workload.id(), allocation, Decision.Rule.OVER_QUOTA);
    }

    private static Decision evict(Workload victim, Optional<Workload> successor, EvictionCause cause) {
        return new Decision.Evict(
                victim.id(),
                cause,
                successor.map(Workload::id),
                NOW_MILLIS,
                new EvictionReceipt(EvictionReceipt.Right.RESERVED, List.of(), List.of(), List.of()));
    }

    private List<Rule> broken(Decision... decisions) {
        return broken(NOW_MILLIS, decisions);
    }

    private List<Rule> broken(long nowMillis, Decision... decisions) {
        return checker.replay(new Plan(nowMillis, List.of(decisions), List.of(), OptionalLong.empty())).stream()
                .map(PlanChecker.Violation::rule)
                .distinct()
                .toList();
    }

    @Test
    void rightPlansBreakNoRule() {
        Workload gang = submit(GROUP, gangInRack());
        Workload victim = running(OTHER, Shape.ofWholeGpus(4), wholes(2, 0, 1, 2, 3));
        Workload first = submit(GROUP, half());
        Workload second = submit(GROUP, half());
        Workload preemptor = submit(SISTER, Shape.ofWholeGpus(4));
        assertThat(broken(
                        start(gang, new Allocation(POOL, List.of(worker(0, 0, 0, 1), worker(1, 1, 0, 1)))),
                        start(first, part(3, 0, 500)),
                        start(second, part(3, 0, 500)),
                        evict(victim, Optional.of(preemptor), EvictionCause.RECLAIM),
                        new Decision.Nominate(preemptor.id(), wholes(2, 0, 1, 2, 3))))
                .isEmpty();
        change(new Change.WorkloadSet(victim.withState(WorkloadPhase.waitingAgain(NOW_MILLIS))));
        assertThat(broken(start(preemptor, wholes(2, 0, 1, 2, 3)))).isEmpty();
    }

    private static Shape gangInRack() {
        return Shape.gang(2, 2).toBuilder().requiredLevel(Optional.of("rack")).shape();
    }

    @Test
    void aThousandthIsNotHeldTwice() {
        running(GROUP, Shape.ofWholeGpus(1), wholes(0, 0));
        assertThat(broken(start(submit(GROUP, half()), part(0, 0, 500)))).containsExactly(Rule.DEVICE);
    }

    @Test
    void devicesOfAVictimAreHeldUntilItLeaves() {
        Workload victim = running(OTHER, Shape.ofWholeGpus(1), wholes(0, 0));
        Workload preemptor = submit(GROUP, Shape.ofWholeGpus(1));
        assertThat(broken(evict(victim, Optional.of(preemptor), EvictionCause.RECLAIM), start(preemptor, wholes(0, 0))))
                .contains(Rule.DEVICE);
    }

    @Test
    void nominatedDevicesAreNotGivenAway() {
        Workload nominated = submit(GROUP, Shape.ofWholeGpus(2));
        Workload other = submit(GROUP, Shape.ofWholeGpus(1));
        assertThat(broken(new Decision.Nominate(nominated.id(), wholes(0, 0, 1)), start(other, wholes(0, 1))))
                .containsExactly(Rule.DEVICE);
    }

    @Test
    void tenantsDoNotShareAGpu() {
        running(OTHER, half(), part(0, 0, 500));
        assertThat(broken(start(submit(GROUP, half()), part(0, 0, 500)))).containsExactly(Rule.SHARING);
    }

    @Test
    void aNodeHasEnoughCpuAndMemory() {
        Shape cpu = Shape.ofWholeGpus(1).toBuilder().cpuMilli(20_000).shape();
        Shape memory = Shape.ofWholeGpus(1).toBuilder().memoryMiB(200_000).shape();
        running(GROUP, cpu, wholes(0, 0));
        running(GROUP, memory, wholes(1, 0));
        assertThat(broken(start(submit(GROUP, cpu), wholes(0, 1)))).containsExactly(Rule.NODE_CAPACITY);
        assertThat(broken(start(submit(GROUP, memory), wholes(1, 1)))).containsExactly(Rule.NODE_CAPACITY);
    }

    @Test
    void workStartsOnNodesThatTakeIt() {
        change(new Change.NodeSet(node(0).down()));
        change(new Change.NodeSet(node(1).withSchedulable(false)));
        assertThat(broken(start(submit(GROUP, Shape.ofWholeGpus(1)), wholes(0, 0))))
                .containsExactly(Rule.NODE);
        assertThat(broken(start(submit(GROUP, Shape.ofWholeGpus(1)), wholes(1, 0))))
                .containsExactly(Rule.NODE);
        assertThat(broken(start(submit(GROUP, Shape.ofWholeGpus(1)), wholes(2, 7))))
                .containsExactly(Rule.NODE);
    }

    @Test
    void workStartsInAnOpenPoolOfItsList() {
        Workload elsewhere = submit(GROUP, Shape.ofWholeGpus(1));
        Allocation other = new Allocation(OTHER_POOL, wholes(0, 0).workers());
        assertThat(broken(start(elsewhere, other))).contains(Rule.POOL);
        change(new Change.PoolSet(pool(POOL).withoutExecutor()));
        assertThat(broken(start(submit(GROUP, Shape.ofWholeGpus(1)), wholes(0, 1))))
                .containsExactly(Rule.POOL);
    }

    @Test
    void gangsStartWhole() {
        Workload gang = submit(GROUP, Shape.gang(2, 2));
        assertThat(broken(start(gang, wholes(0, 0, 1)))).containsExactly(Rule.GANG);
        Workload pair = submit(GROUP, Shape.ofWholeGpus(2));
        assertThat(broken(start(pair, wholes(1, 0)))).containsExactly(Rule.GANG);
    }

    @Test
    void workersStayInTheRequiredDomain() {
        Workload gang = submit(GROUP, gangInRack());
        Allocation apart = new Allocation(POOL, List.of(worker(0, 1, 0, 1), worker(1, 2, 0, 1)));
        assertThat(broken(start(gang, apart))).containsExactly(Rule.TOPOLOGY);
    }

    @Test
    void aPathNeedsAQuota() {
        Workload unnamed = submit(QuotaPath.of("a", "x"), Shape.ofWholeGpus(1));
        assertThat(broken(start(unnamed, wholes(0, 0)))).containsExactly(Rule.UNNAMED);
    }

    @Test
    void useStaysBelowTheLimitOfEveryNode() {
        change(new Change.QuotaSet(
                Quota.reserving(TENANT, Scope.of(POOL), 4_000).withLimit(2_000)));
        running(SISTER, Shape.ofWholeGpus(2), wholes(0, 0, 1));
        assertThat(broken(start(submit(GROUP, half()), part(1, 0, 500)))).containsExactly(Rule.LIMIT);
    }

    @Test
    void withoutOverQuotaUseStaysWithinTheReservation() {
        change(new Change.QuotaSet(quota(GROUP, 1_000, OptionalLong.empty(), false)));
        running(GROUP, Shape.ofWholeGpus(1), wholes(0, 0));
        assertThat(broken(start(submit(GROUP, half()), part(1, 0, 500)))).containsExactly(Rule.OVER_QUOTA);
    }

    private static Quota quota(QuotaPath path, long reserved, OptionalLong lendable, boolean overQuota) {
        return new Quota(
                path, Scope.of(POOL), reserved, OptionalLong.empty(), OptionalLong.empty(), lendable, 0, overQuota);
    }

    @Test
    void nonPreemptibleWorkStaysWithinTheReservation() {
        Workload preemptible = submit(GROUP, Shape.gang(2, 4));
        Workload other = submit(asNonPreemptible(submit(SISTER, Shape.gang(2, 4))));
        Allocation ofOther = new Allocation(POOL, List.of(worker(0, 2, 0, 1, 2, 3), worker(1, 3, 0, 1, 2, 3)));
        Allocation first = new Allocation(POOL, List.of(worker(0, 0, 0, 1, 2, 3), worker(1, 1, 0, 1, 2, 3)));
        assertThat(broken(start(preemptible, first))).isEmpty();
        assertThat(broken(start(other, ofOther))).containsExactly(Rule.NON_PREEMPTIBLE);
    }

    private static Workload asNonPreemptible(Workload workload) {
        return new Workload(
                workload.id(),
                workload.path(),
                workload.user(),
                workload.profile(),
                workload.queue(),
                workload.shape(),
                workload.pools(),
                workload.priority(),
                false,
                workload.dedicatedOnly(),
                workload.movesBack(),
                workload.submittedMillis(),
                workload.sequence(),
                workload.maxRuntimeMillis(),
                workload.held(),
                workload.state(),
                workload.nomination());
    }

    @Test
    void whatOthersDoNotLendStaysIdle() {
        change(new Change.QuotaSet(quota(OTHER, 4_000, OptionalLong.of(1_000), true)));
        Workload fits = submit(GROUP, Shape.gang(3, 4));
        Workload tooMuch = submit(GROUP, Shape.ofWholeGpus(2));
        assertThat(broken(start(
                        fits,
                        new Allocation(
                                POOL,
                                List.of(
                                        worker(0, 0, 0, 1, 2, 3),
                                        worker(1, 1, 0, 1, 2, 3),
                                        worker(2, 2, 0, 1, 2, 3))))))
                .isEmpty();
        assertThat(broken(start(tooMuch, wholes(3, 0, 1)))).containsExactly(Rule.LENDABLE);
    }

    @Test
    void nothingStartsTwice() {
        Workload workload = submit(GROUP, Shape.ofWholeGpus(1));
        assertThat(broken(start(workload, wholes(0, 0)), start(workload, wholes(0, 1))))
                .containsExactly(Rule.ONCE);
        assertThat(broken(start(submit(submit(GROUP, Shape.ofWholeGpus(1)).asHeld()), wholes(0, 2))))
                .containsExactly(Rule.ONCE);
    }

    @Test
    void aNominatedWorkloadStartsInItsPlace() {
        Workload nominated = submit(GROUP, Shape.ofWholeGpus(1));
        assertThat(broken(new Decision.Nominate(nominated.id(), wholes(0, 0)), start(nominated, wholes(0, 1))))
                .containsExactly(Rule.ONCE);
    }

    @Test
    void onlyRunningPreemptibleWorkIsEvicted() {
        Workload preemptor = submit(SISTER, Shape.ofWholeGpus(1));
        Optional<Workload> successor = Optional.of(preemptor);
        Workload lasting = running(GROUP, Shape.ofWholeGpus(1), wholes(0, 0));
        submit(asNonPreemptible(lasting));
        assertThat(broken(evict(lasting, successor, EvictionCause.RECLAIM))).containsExactly(Rule.EVICTION);
        Workload waiting = submit(GROUP, half());
        assertThat(broken(evict(waiting, successor, EvictionCause.RECLAIM))).containsExactly(Rule.EVICTION);
        Workload victim = running(GROUP, half(), part(1, 0, 500));
        assertThat(broken(
                        evict(victim, successor, EvictionCause.RECLAIM),
                        evict(victim, successor, EvictionCause.RECLAIM)))
                .containsExactly(Rule.EVICTION);
        Workload young = running(GROUP, half(), part(1, 1, 500));
        assertThat(broken(MIN_RUNTIME_MILLIS - 1, evict(young, successor, EvictionCause.RECLAIM)))
                .containsExactly(Rule.EVICTION);
    }

    @Test
    void aPlanDoesNotEvictWhatItStarts() {
        PlanChecker withoutMinRuntime = new PlanChecker(0);
        withoutMinRuntime.apply(List.of(
                new Change.PoolSet(pool(POOL)),
                new Change.NodeSet(node(0)),
                new Change.QuotaSet(Quota.reserving(TENANT, Scope.of(POOL), 4_000)),
                new Change.QuotaSet(Quota.reserving(GROUP, Scope.of(POOL), 4_000))));
        Workload workload = submit(GROUP, Shape.ofWholeGpus(1));
        withoutMinRuntime.apply(List.of(new Change.WorkloadSet(workload)));
        List<PlanChecker.Violation> found = withoutMinRuntime.replay(new Plan(
                NOW_MILLIS,
                List.of(start(workload, wholes(0, 0)), evict(workload, Optional.empty(), EvictionCause.CONSOLIDATE)),
                List.of(),
                OptionalLong.empty()));
        assertThat(found).extracting(PlanChecker.Violation::rule).containsExactly(Rule.EVICTION);
    }

    @Test
    void victimsAreThoseOfTheRight() {
        Workload preemptor = submit(GROUP, Shape.ofWholeGpus(1));
        Workload equal = running(GROUP, half(), part(0, 0, 500));
        Workload elsewhere = running(OTHER, half(), part(0, 1, 500));
        assertThat(broken(evict(equal, Optional.of(preemptor), EvictionCause.PREEMPT)))
                .containsExactly(Rule.VICTIM);
        assertThat(broken(evict(elsewhere, Optional.of(preemptor), EvictionCause.PREEMPT)))
                .containsExactly(Rule.VICTIM);
        Workload own = running(GROUP, half(), part(0, 2, 500));
        assertThat(broken(evict(own, Optional.of(preemptor), EvictionCause.RECLAIM)))
                .containsExactly(Rule.VICTIM);
    }

    @Test
    void workUnderAFenceReclaimsNothingFromOutside() {
        change(new Change.QuotaSet(
                Quota.reserving(TENANT, Scope.of(POOL), 4_000).fenced()));
        Workload preemptor = submit(GROUP, Shape.ofWholeGpus(1));
        Workload inside = running(SISTER, half(), part(0, 0, 500));
        Workload outside = running(OTHER, half(), part(0, 1, 500));
        assertThat(broken(evict(inside, Optional.of(preemptor), EvictionCause.RECLAIM)))
                .isEmpty();
        assertThat(broken(evict(outside, Optional.of(preemptor), EvictionCause.RECLAIM)))
                .containsExactly(Rule.FENCE);
    }

    @Test
    void alikeWorkloadsStartInTheirOrder() {
        Workload first = submit(GROUP, Shape.ofWholeGpus(1));
        Workload second = submit(GROUP, Shape.ofWholeGpus(1));
        assertThat(broken(start(second, wholes(0, 0)))).containsExactly(Rule.ORDER);
        assertThat(broken(start(first, wholes(0, 1)))).isEmpty();
        Workload older = submit(GROUP, Shape.ofWholeGpus(1));
        Workload urgent = submit(withPriority(submit(GROUP, Shape.ofWholeGpus(1)), 80));
        assertThat(broken(start(older, wholes(0, 2)))).containsExactly(Rule.ORDER);
        assertThat(broken(start(urgent, wholes(0, 3)))).isEmpty();
    }

    private static Workload withPriority(Workload workload, int priority) {
        return new Workload(
                workload.id(),
                workload.path(),
                workload.user(),
                workload.profile(),
                workload.queue(),
                workload.shape(),
                workload.pools(),
                priority,
                workload.preemptible(),
                workload.dedicatedOnly(),
                workload.movesBack(),
                workload.submittedMillis(),
                workload.sequence(),
                workload.maxRuntimeMillis(),
                workload.held(),
                workload.state(),
                workload.nomination());
    }
}
