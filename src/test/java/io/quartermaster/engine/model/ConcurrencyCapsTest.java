package io.quartermaster.engine.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.Engine;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Caps on the GPUs of one user of a path, and on the number of running workloads of a path. */
class ConcurrencyCapsTest {
    private static final PoolId POOL = new PoolId("pool");
    private static final QuotaPath ACME = QuotaPath.of("acme");
    private static final QuotaPath RND = QuotaPath.of("acme", "rnd");
    private static final QuotaPath OPS = QuotaPath.of("acme", "ops");

    private final Engine engine = new Engine(Settings.DEFAULT);
    private long sequence;

    private void given(Change... changes) {
        engine.apply(List.of(new Change.PoolSet(Pool.ofCount(POOL, 10_000))));
        engine.apply(List.of(changes));
    }

    private static Change atMostPerUser(QuotaPath path, long gpuMilli) {
        return new Change.CapsSet(new ConcurrencyCaps(path, OptionalLong.of(gpuMilli), OptionalInt.empty()));
    }

    private static Change atMostRunning(QuotaPath path, int workloads) {
        return new Change.CapsSet(new ConcurrencyCaps(path, OptionalLong.empty(), OptionalInt.of(workloads)));
    }

    private static Change reserving(QuotaPath path, long gpuMilli) {
        return new Change.QuotaSet(Quota.reserving(path, Scope.of(POOL), gpuMilli));
    }

    private WorkloadId submit(String id, QuotaPath path, String user, int gpus, int priority) {
        Workload plain = Workload.waiting(
                new WorkloadId(id), path, Shape.ofWholeGpus(gpus), List.of(POOL), sequence, sequence++);
        engine.apply(List.of(new Change.WorkloadSet(new Workload(
                plain.id(),
                path,
                Optional.of(user),
                plain.profile(),
                plain.queue(),
                plain.shape(),
                plain.pools(),
                priority,
                true,
                false,
                false,
                plain.submittedMillis(),
                plain.sequence(),
                plain.maxRuntimeMillis(),
                false,
                plain.state(),
                plain.nomination()))));
        return plain.id();
    }

    private List<String> decided() {
        return engine.plan(0).decisions().stream()
                .map(decision -> decision.getClass().getSimpleName() + " " + decision.workload())
                .toList();
    }

    private Reason whyWaits(WorkloadId id) {
        return engine.explain(id).orElseThrow().reason();
    }

    @Test
    void oneUserHoldsNoMoreThanTheCapAndOthersGoOn() {
        given(atMostPerUser(RND, 4_000));
        submit("a", RND, "ann", 3, 50);
        WorkloadId second = submit("b", RND, "ann", 2, 50);
        submit("c", RND, "bob", 4, 50);
        assertThat(decided()).containsExactly("Start a", "Start c");
        assertThat(whyWaits(second).code()).isEqualTo(Reason.Code.LIMIT);
        assertThat(whyWaits(second).sentence())
                .isEqualTo("This workload needs 2 GPUs, and its submitter holds 3 of at most 4 GPUs per user of "
                        + "group /rnd.");
        assertThat(whyWaits(second).numbers())
                .isEqualTo(new Reason.Numbers(2_000, 3_000, OptionalLong.of(4_000), 3_000));
    }

    @Test
    void aCapOfATenantCountsTheUserInAllItsGroups() {
        given(atMostPerUser(ACME, 4_000));
        submit("a", RND, "ann", 3, 50);
        submit("b", OPS, "ann", 2, 50);
        submit("c", OPS, "ann", 1, 50);
        assertThat(decided()).containsExactly("Start a", "Start c");
    }

    @Test
    void overTheCapNothingIsTakenFromOtherGroups() {
        given(reserving(RND, 8_000), reserving(OPS, 0), atMostPerUser(RND, 2_000));
        submit("o", OPS, "bob", 9, 50);
        assertThat(decided()).containsExactly("Start o");
        WorkloadId large = submit("a", RND, "ann", 3, 50);
        assertThat(decided()).isEmpty();
        assertThat(whyWaits(large).code()).isEqualTo(Reason.Code.LIMIT);
    }

    @Test
    void underTheCapTheReservationIsTakenBack() {
        given(reserving(RND, 8_000), reserving(OPS, 0), atMostPerUser(RND, 4_000));
        submit("o", OPS, "bob", 9, 50);
        decided();
        submit("a", RND, "ann", 3, 50);
        assertThat(decided()).containsExactly("Evict o", "Nominate a");
    }

    @Test
    void aUsersOwnLowerPriorityGivesWayToTheCap() {
        given(atMostPerUser(RND, 4_000));
        submit("a", RND, "ann", 3, 50);
        submit("b", RND, "bob", 4, 40);
        decided();
        submit("c", RND, "ann", 2, 60);
        assertThat(decided()).containsExactly("Evict a", "Nominate c");
    }

    private static Outlook.Relief raiseUserLimit(long gpuMilli) {
        return new Outlook.Relief(
                Outlook.Relief.Kind.RAISE_USER_LIMIT, Optional.of(RND), Optional.empty(), gpuMilli, 0);
    }

    private Outlook.InPool outlook(WorkloadId id) {
        return engine.outlook(id, 0).orElseThrow().perPool().getFirst();
    }

    @Test
    void theCapPerUserIsWhatWouldHaveToBeRaisedBesideTheLimit() {
        given(
                new Change.QuotaSet(Quota.reserving(RND, Scope.of(POOL), 8_000).withLimit(8_000)),
                atMostPerUser(RND, 4_000));
        WorkloadId own = submit("a", RND, "ann", 3, 50);
        submit("b", RND, "bob", 4, 50);
        WorkloadId waits = submit("c", RND, "ann", 3, 50);
        decided();
        assertThat(outlook(waits).code()).isEqualTo(Reason.Code.LIMIT);
        assertThat(outlook(waits).relief())
                .containsExactlyInAnyOrder(
                        new Outlook.Relief(
                                Outlook.Relief.Kind.RAISE_LIMIT,
                                Optional.of(RND),
                                Optional.of(Scope.of(POOL)),
                                2_000,
                                0),
                        raiseUserLimit(2_000));
        engine.apply(List.of(new Change.WorkloadRemoved(new WorkloadId("b"))));
        engine.plan(0);
        assertThat(outlook(waits).relief()).containsExactly(raiseUserLimit(2_000));
        assertThat(outlook(waits).holders()).containsExactly(own);
    }

    @Test
    void onlyTheUsersOwnWorkIsInTheWayOfTheCapPerUser() {
        given(atMostPerUser(RND, 4_000));
        WorkloadId own = submit("a", RND, "ann", 3, 50);
        submit("b", RND, "bob", 4, 50);
        WorkloadId waits = submit("c", RND, "ann", 2, 50);
        decided();
        assertThat(outlook(waits).holders()).containsExactly(own);
        assertThat(outlook(waits).relief()).containsExactly(raiseUserLimit(1_000));
    }

    @Test
    void theCapOnWorkloadsSaysHowManyMoreWouldHaveToBeAllowed() {
        given(atMostRunning(RND, 2));
        WorkloadId small = submit("a", RND, "ann", 1, 50);
        WorkloadId large = submit("b", RND, "bob", 2, 50);
        WorkloadId waits = submit("c", RND, "bob", 1, 50);
        decided();
        assertThat(outlook(waits).holders()).containsExactly(large, small);
        assertThat(outlook(waits).relief())
                .containsExactly(new Outlook.Relief(
                        Outlook.Relief.Kind.RAISE_MAX_RUNNING, Optional.of(RND), Optional.empty(), 0, 1));
    }

    @Test
    void noMoreWorkloadsRunThanAllowed() {
        given(atMostRunning(RND, 2));
        submit("a", RND, "ann", 1, 50);
        submit("b", RND, "bob", 1, 50);
        WorkloadId third = submit("c", RND, "bob", 1, 50);
        assertThat(decided()).containsExactly("Start a", "Start b");
        assertThat(whyWaits(third).sentence())
                .isEqualTo("2 workloads of group /rnd run, and at most 2 may run concurrently.");
        engine.apply(List.of(new Change.WorkloadRemoved(new WorkloadId("a"))));
        assertThat(decided()).containsExactly("Start c");
    }

    @Test
    void whatACapKeepsFromRunningEarnsNoFairShare() {
        given(reserving(RND, 0), reserving(OPS, 0), atMostPerUser(RND, 2_000));
        for (int i = 0; i < 10; i++) {
            submit("a" + i, RND, "ann", 1, 50);
            submit("b" + i, OPS, "bob", 1, 50);
        }
        assertThat(decided()).hasSize(10).contains("Start a0", "Start a1", "Start b7");
    }

    @Test
    void aCapTakenAwayBindsNobody() {
        given(atMostPerUser(RND, 1_000));
        submit("a", RND, "ann", 2, 50);
        assertThat(decided()).isEmpty();
        engine.apply(List.of(new Change.CapsRemoved(RND)));
        assertThat(decided()).containsExactly("Start a");
    }

    @Test
    void aSnapshotKeepsCaps() {
        given(atMostPerUser(RND, 1_000));
        submit("a", RND, "ann", 2, 50);
        assertThat(Engine.restore(engine.snapshot()).plan(0).decisions()).isEmpty();
    }
}
