package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
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
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Room beside stopping work, which holds its devices until it has left, and on lost nodes. */
class WorkThatIsLeavingTest {
    private static final PoolId POOL = new PoolId("pool");
    private static final QuotaPath ACME = QuotaPath.of("acme");

    private final Engine engine = new Engine(Settings.DEFAULT);

    private static Change node(String id, boolean up, int devices) {
        return new Change.NodeSet(new Node(
                new NodeId(id),
                POOL,
                up,
                true,
                IntStream.range(0, devices)
                        .mapToObj(index -> new Node.Device(index, "", 0, false))
                        .toList(),
                OptionalLong.empty(),
                OptionalLong.empty(),
                new TreeMap<>(),
                List.of()));
    }

    private static Workload waiting(String id, Shape shape) {
        return Workload.waiting(new WorkloadId(id), ACME, shape, List.of(POOL), 0, 0);
    }

    private static WorkloadPhase stopping(String node, int gpuMilli) {
        Allocation place = new Allocation(
                POOL,
                List.of(new Allocation.Worker(
                        0,
                        new Allocation.Place.OnNode(
                                new NodeId(node), List.of(new Allocation.Share(0, gpuMilli, Optional.empty()))))));
        return new WorkloadPhase.Holding(
                place,
                0,
                new WorkloadPhase.Phase.Stopping(EvictionCause.DRAIN, 1_000_000),
                Collections.emptySortedSet(),
                false);
    }

    @Test
    void gangOfPartsDoesNotOverfillAGpuBesideIt() {
        engine.apply(List.of(
                new Change.PoolSet(Pool.ofNodes(POOL)),
                node("n", true, 2),
                new Change.WorkloadSet(waiting(
                                "leaving",
                                Shape.ofWorkers(1, new GpuRequest.Fraction(1, 850))
                                        .shape())
                        .withState(stopping("n", 850))),
                new Change.WorkloadSet(waiting(
                        "gang",
                        Shape.ofWorkers(2, new GpuRequest.Fraction(1, 100)).shape()))));

        List<Allocation.Share> shares = new ArrayList<>();
        for (Decision decision : engine.plan(0).decisions()) {
            ((Decision.Start) decision)
                    .allocation()
                    .workers()
                    .forEach(worker -> shares.addAll(((Allocation.Place.OnNode) worker.place()).shares()));
        }

        assertThat(shares).hasSize(2);
        assertThat(shares.stream()
                        .filter(share -> share.device() == 0)
                        .mapToInt(Allocation.Share::gpuMilli)
                        .sum())
                .isLessThanOrEqualTo(150);
    }

    @Test
    void onALostNodeItTakesNothingFromOtherWork() {
        engine.apply(List.of(
                new Change.PoolSet(Pool.ofNodes(POOL)),
                node("lost", false, 1),
                node("up", true, 1),
                new Change.WorkloadSet(waiting("leaving", Shape.ofWholeGpus(1)).withState(stopping("lost", 1000))),
                new Change.WorkloadSet(waiting("next", Shape.ofWholeGpus(1)))));

        assertThat(engine.plan(0).decisions())
                .singleElement()
                .isInstanceOfSatisfying(Decision.Start.class, start -> assertThat(start.workload())
                        .isEqualTo(new WorkloadId("next")));
    }

    @Test
    void nominationThatIsWithdrawnFromALostNodeAddsNoCapacity() {
        QuotaPath dedicated = QuotaPath.of("dedicated");
        Quota keepsAll = new Quota(
                dedicated,
                Scope.of(POOL),
                2_000,
                OptionalLong.empty(),
                OptionalLong.empty(),
                OptionalLong.of(0),
                0,
                true);
        Allocation onTheLostNode = new Allocation(
                POOL,
                List.of(new Allocation.Worker(
                        0,
                        new Allocation.Place.OnNode(
                                new NodeId("lost"), List.of(Allocation.Share.whole(0), Allocation.Share.whole(1))))));
        engine.apply(List.of(
                new Change.PoolSet(Pool.ofNodes(POOL)),
                node("lost", false, 2),
                node("up", true, 2),
                new Change.QuotaSet(keepsAll),
                new Change.QuotaSet(Quota.reserving(ACME, Scope.of(POOL), 0)),
                new Change.WorkloadSet(
                        waiting("big", Shape.ofWholeGpus(2)).withNomination(Optional.of(onTheLostNode)))));

        assertThat(engine.plan(0).decisions()).singleElement().isInstanceOf(Decision.WithdrawNomination.class);
    }

    @Test
    void onALostNodeItFreesNothingThatIsHeldForOthers() {
        QuotaPath dedicated = QuotaPath.of("dedicated");
        Quota keepsAll = new Quota(
                dedicated,
                Scope.of(POOL),
                2_000,
                OptionalLong.empty(),
                OptionalLong.empty(),
                OptionalLong.of(0),
                0,
                true);
        engine.apply(List.of(
                new Change.PoolSet(Pool.ofNodes(POOL)),
                node("lost", false, 1),
                node("up", true, 2),
                new Change.QuotaSet(keepsAll),
                new Change.QuotaSet(Quota.reserving(ACME, Scope.of(POOL), 0)),
                new Change.WorkloadSet(waiting("leaving", Shape.ofWholeGpus(1)).withState(stopping("lost", 1000))),
                new Change.WorkloadSet(waiting("next", Shape.ofWholeGpus(1)))));

        assertThat(engine.plan(0).decisions()).isEmpty();
        assertThat(engine.plan(1_000).decisions()).isEmpty();
    }

    @Test
    void onOtherDevicesItDelaysNoReservation() {
        Engine patient = new Engine(Settings.DEFAULT.toBuilder()
                .patienceMillis(OptionalLong.of(1_000))
                .consolidate(false)
                .settings());
        long minute = 60_000;
        patient.apply(List.of(
                new Change.PoolSet(Pool.ofNodes(POOL)),
                node("a", true, 2),
                node("b", true, 1),
                new Change.WorkloadSet(waiting("leaving", Shape.ofWholeGpus(1)).withState(stopping("b", 1000))),
                new Change.WorkloadSet(running("ends", "a", minute)),
                new Change.WorkloadSet(waiting("holder", Shape.ofWholeGpus(2))),
                new Change.WorkloadSet(ending(
                        Workload.waiting(
                                new WorkloadId("backfill"), ACME, Shape.ofWholeGpus(1), List.of(POOL), 1_900, 1),
                        9 * minute))));

        assertThat(patient.plan(2_000).decisions()).noneMatch(decision -> decision instanceof Decision.Start);
    }

    private static Workload running(String id, String node, long maxRuntimeMillis) {
        Allocation place = new Allocation(
                POOL,
                List.of(new Allocation.Worker(
                        0, new Allocation.Place.OnNode(new NodeId(node), List.of(Allocation.Share.whole(0))))));
        return ending(waiting(id, Shape.ofWholeGpus(1)), maxRuntimeMillis).withState(WorkloadPhase.running(place, 0));
    }

    private static Workload ending(Workload workload, long maxRuntimeMillis) {
        return new Workload(
                workload.id(),
                workload.path(),
                workload.user(),
                workload.profile(),
                workload.queue(),
                workload.shape(),
                workload.pools(),
                workload.priority(),
                workload.preemptible(),
                workload.dedicatedOnly(),
                workload.movesBack(),
                workload.submittedMillis(),
                workload.sequence(),
                OptionalLong.of(maxRuntimeMillis),
                workload.held(),
                workload.state(),
                workload.nomination());
    }
}
