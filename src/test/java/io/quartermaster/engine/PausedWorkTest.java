package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Outlook;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Waiting work that may start on one node only, because its paused processes are there. */
class PausedWorkTest {
    private static final PoolId POOL = new PoolId("pool");
    private static final QuotaPath ACME = QuotaPath.of("acme");
    private static final NodeId OWN = new NodeId("n1");
    private static final NodeId OTHER = new NodeId("n2");

    private final Engine engine = new Engine(Settings.DEFAULT);
    private long sequence;

    private void givenNodes(NodeId... nodes) {
        engine.apply(List.of(new Change.PoolSet(Pool.ofNodes(POOL))));
        List<Node.Device> devices = new ArrayList<>();
        for (int index = 0; index < 4; index++) {
            devices.add(new Node.Device(index, "", 0, false));
        }
        for (NodeId node : nodes) {
            engine.apply(List.of(new Change.NodeSet(new Node(
                    node,
                    POOL,
                    true,
                    true,
                    devices,
                    OptionalLong.empty(),
                    OptionalLong.empty(),
                    Collections.emptySortedMap(),
                    List.of()))));
        }
    }

    private WorkloadId state(String id, int gpus, int priority, WorkloadPhase state) {
        return state(id, gpus, priority, true, state);
    }

    private WorkloadId state(String id, int gpus, int priority, boolean preemptible, WorkloadPhase state) {
        Workload plain = Workload.waiting(
                new WorkloadId(id), ACME, Shape.ofWholeGpus(gpus), List.of(POOL), sequence, sequence++);
        engine.apply(List.of(new Change.WorkloadSet(new Workload(
                plain.id(),
                ACME,
                plain.user(),
                plain.profile(),
                plain.queue(),
                plain.shape(),
                plain.pools(),
                priority,
                preemptible,
                false,
                false,
                plain.submittedMillis(),
                plain.sequence(),
                plain.maxRuntimeMillis(),
                false,
                state,
                plain.nomination()))));
        return plain.id();
    }

    private WorkloadId paused(String id, int gpus, int priority) {
        return state(id, gpus, priority, WorkloadPhase.waitingAgain(0, Optional.of(OWN)));
    }

    private void running(String id, int gpus, int priority, NodeId on) {
        state(id, gpus, priority, WorkloadPhase.running(held(gpus, on), 0));
    }

    /** Adds a running workload that can neither be evicted nor moved. */
    private void immovable(String id, int gpus, NodeId on) {
        state(id, gpus, 50, false, WorkloadPhase.running(held(gpus, on), 0));
    }

    private static Allocation held(int gpus, NodeId on) {
        List<Allocation.Share> shares = new ArrayList<>();
        for (int index = 0; index < gpus; index++) {
            shares.add(Allocation.Share.whole(index));
        }
        return new Allocation(POOL, List.of(new Allocation.Worker(0, new Allocation.Place.OnNode(on, shares))));
    }

    @Test
    void itStartsOnItsOwnNodeAlthoughAnotherWouldBeFilledBetter() {
        givenNodes(OWN, OTHER);
        running("a", 3, 50, OTHER);
        WorkloadId paused = paused("p", 1, 50);
        assertThat(engine.plan(0).decisions()).singleElement().isInstanceOfSatisfying(Decision.Start.class, start -> {
            assertThat(start.workload()).isEqualTo(paused);
            assertThat(start.allocation().touches(OWN)).isTrue();
        });
    }

    @Test
    void whileItsNodeIsFullItWaitsThoughOthersHaveRoomAndOthersOfItsShapeStart() {
        givenNodes(OWN, OTHER);
        immovable("a", 3, OWN);
        WorkloadId paused = paused("p", 2, 50);
        WorkloadId free = state("w", 2, 50, WorkloadPhase.waiting());
        assertThat(engine.plan(0).decisions()).extracting(Decision::workload).containsExactly(free);
        Reason reason = engine.explain(paused).orElseThrow().reason();
        assertThat(reason.code()).isEqualTo(Reason.Code.NO_CAPACITY);
        assertThat(reason.numbers().freeGpuMilli()).isEqualTo(1_000);
        assertThat(reason.sentence())
                .isEqualTo(
                        "This workload needs 2 GPUs on the node in pool that this workload is paused on; 1 is free.");
        assertThat(engine.outlook(paused, 0).orElseThrow().perPool().getFirst().relief())
                .containsExactly(new Outlook.Relief(
                        Outlook.Relief.Kind.FREE_ON_ONE_NODE, Optional.empty(), Optional.of(Scope.of(POOL)), 1_000, 0));
    }

    @Test
    void itStartsAsSoonAsItsNodeHasRoom() {
        givenNodes(OWN, OTHER);
        immovable("a", 4, OWN);
        WorkloadId paused = paused("p", 2, 50);
        assertThat(engine.plan(0).decisions()).isEmpty();
        engine.apply(List.of(new Change.WorkloadRemoved(new WorkloadId("a"))));
        assertThat(engine.plan(1).decisions()).extracting(Decision::workload).containsExactly(paused);
        assertThat(engine.plan(2).decisions()).isEmpty();
    }

    @Test
    void roomIsMadeForItOnItsOwnNodeOnly() {
        givenNodes(OWN, OTHER);
        running("elsewhere", 4, 10, OTHER);
        running("there", 4, 20, OWN);
        paused("p", 4, 50);
        assertThat(engine.plan(0).decisions())
                .filteredOn(Decision.Evict.class::isInstance)
                .extracting(Decision::workload)
                .containsExactly(new WorkloadId("there"));
    }

    @Test
    void withoutItsNodeItSaysSo() {
        givenNodes(OTHER);
        WorkloadId paused = paused("p", 1, 50);
        assertThat(engine.plan(0).decisions()).isEmpty();
        assertThat(engine.explain(paused).orElseThrow().reason().code()).isEqualTo(Reason.Code.NO_SUCH_NODE);
    }

    @Test
    void onceItMayStartAnywhereItDoes() {
        givenNodes(OTHER);
        paused("p", 1, 50);
        engine.plan(0);
        state("p", 1, 50, WorkloadPhase.waitingAgain(0));
        assertThat(engine.plan(1).decisions()).singleElement().isInstanceOf(Decision.Start.class);
    }

    @Test
    void aSnapshotKeepsWhereItIsPaused() {
        givenNodes(OWN, OTHER);
        immovable("a", 4, OWN);
        paused("p", 1, 50);
        engine.plan(0);
        Engine restored = Engine.restore(engine.snapshot());
        restored.apply(List.of(new Change.WorkloadRemoved(new WorkloadId("a"))));
        assertThat(restored.plan(1).decisions())
                .singleElement()
                .isInstanceOfSatisfying(
                        Decision.Start.class,
                        start -> assertThat(start.allocation().touches(OWN)).isTrue());
    }
}
