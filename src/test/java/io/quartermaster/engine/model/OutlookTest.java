package io.quartermaster.engine.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.Engine;
import java.time.DayOfWeek;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;

/** Outlooks of waiting work. */
class OutlookTest {
    private static final PoolId POOL = new PoolId("pool");
    private static final QuotaPath ACME = QuotaPath.of("acme");
    private static final QuotaPath UMBRA = QuotaPath.of("umbra");

    private final Engine engine = new Engine(Settings.DEFAULT);
    private long sequence;

    private void givenNodes(int count, int gpus) {
        engine.apply(List.of(new Change.PoolSet(Pool.ofNodes(POOL))));
        List<Node.Device> devices = new ArrayList<>();
        for (int index = 0; index < gpus; index++) {
            devices.add(new Node.Device(index, "", 0, false));
        }
        for (int n = 1; n <= count; n++) {
            engine.apply(List.of(new Change.NodeSet(new Node(
                    new NodeId("n" + n),
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

    private WorkloadId submit(String id, QuotaPath path, int gpus, OptionalLong maxRuntimeMillis) {
        Workload plain = Workload.waiting(
                new WorkloadId(id), path, Shape.ofWholeGpus(gpus), List.of(POOL), sequence, sequence++);
        engine.apply(List.of(new Change.WorkloadSet(new Workload(
                plain.id(),
                path,
                Optional.empty(),
                plain.profile(),
                plain.queue(),
                plain.shape(),
                plain.pools(),
                plain.priority(),
                false,
                false,
                false,
                plain.submittedMillis(),
                plain.sequence(),
                maxRuntimeMillis,
                false,
                plain.state(),
                plain.nomination()))));
        return plain.id();
    }

    /** Submits a workload and lets it start before any other is submitted. */
    private void run(String id, QuotaPath path, int gpus) {
        submit(id, path, gpus, OptionalLong.empty());
        Decision.Start start = (Decision.Start) engine.plan(0).decisions().getFirst();
        engine.apply(List.of(new Change.WorkloadSet(engine.declaredState()
                .workload(start.workload())
                .withState(WorkloadPhase.running(start.allocation(), 0)))));
    }

    private Outlook.InPool outlook(WorkloadId id, long nowMillis) {
        return engine.outlook(id, nowMillis).orElseThrow().perPool().getFirst();
    }

    private static Outlook.Relief freeOnOneNode(long gpuMilli) {
        return new Outlook.Relief(
                Outlook.Relief.Kind.FREE_ON_ONE_NODE, Optional.empty(), Optional.of(Scope.of(POOL)), gpuMilli, 0);
    }

    private static Outlook.Relief raiseLimit(QuotaPath path, Scope scope, long gpuMilli) {
        return new Outlook.Relief(Outlook.Relief.Kind.RAISE_LIMIT, Optional.of(path), Optional.of(scope), gpuMilli, 0);
    }

    @Test
    void everyLimitInTheWayIsNamedAndNotTheFirstAlone() {
        QuotaPath rnd = QuotaPath.of("acme", "rnd");
        QuotaPath nlp = QuotaPath.of("acme", "rnd", "nlp");
        givenNodes(1, 8);
        engine.apply(List.of(
                new Change.QuotaSet(Quota.reserving(ACME, Scope.of(POOL), 8_000)),
                new Change.QuotaSet(Quota.reserving(rnd, Scope.of(POOL), 8_000).withLimit(3_000)),
                new Change.QuotaSet(Quota.reserving(nlp, Scope.of(POOL), 4_000).withLimit(2_000)),
                new Change.CapsSet(new ConcurrencyCaps(rnd, OptionalLong.empty(), OptionalInt.of(1)))));
        submit("a", rnd, 1, OptionalLong.empty());
        WorkloadId waiting = submit("w", nlp, 4, OptionalLong.empty());
        engine.plan(0);
        assertThat(outlook(waiting, 0).relief())
                .containsExactlyInAnyOrder(
                        raiseLimit(nlp, Scope.of(POOL), 2_000),
                        raiseLimit(rnd, Scope.of(POOL), 2_000),
                        new Outlook.Relief(
                                Outlook.Relief.Kind.RAISE_MAX_RUNNING, Optional.of(rnd), Optional.empty(), 0, 1));
    }

    @Test
    void workThatComesFirstIsCountedIn() {
        givenNodes(1, 8);
        engine.apply(List.of(
                new Change.QuotaSet(Quota.reserving(ACME, Scope.of(POOL), 8_000).withLimit(3_000))));
        submit("a", ACME, 3, OptionalLong.empty());
        submit("b", ACME, 1, OptionalLong.empty());
        WorkloadId last = submit("c", ACME, 1, OptionalLong.empty());
        engine.plan(0);
        assertThat(outlook(last, 0).relief()).containsExactly(raiseLimit(ACME, Scope.of(POOL), 2_000));
    }

    @Test
    void whatCannotHelpIsNotNamed() {
        givenNodes(1, 4);
        submit("a", UMBRA, 4, OptionalLong.empty());
        WorkloadId tooLarge = submit("w", ACME, 5, OptionalLong.empty());
        engine.plan(0);
        assertThat(outlook(tooLarge, 0).code()).isEqualTo(Reason.Code.NO_SUCH_NODE);
        assertThat(outlook(tooLarge, 0).relief()).isEmpty();
        assertThat(outlook(tooLarge, 0).heldByOthersGpuMilli()).isZero();
    }

    @Test
    void whatIsReservedForAGroupFitsIntoWhatIsReservedAbove() {
        reservedForAGroupFitsIntoWhatIsReservedAbove(QuotaPath.of("acme", "rnd"));
    }

    @Test
    void whatIsReservedForAGroupFitsIntoWhatIsReservedAboveAGroupWithoutAQuota() {
        reservedForAGroupFitsIntoWhatIsReservedAbove(QuotaPath.of("acme", "unnamed", "rnd"));
    }

    private void reservedForAGroupFitsIntoWhatIsReservedAbove(QuotaPath rnd) {
        givenNodes(1, 8);
        engine.apply(List.of(
                new Change.QuotaSet(Quota.reserving(ACME, Scope.of(POOL), 2_000)),
                new Change.QuotaSet(Quota.reserving(rnd, Scope.of(POOL), 2_000))));
        WorkloadId waiting = new WorkloadId("w");
        Workload plain = Workload.waiting(waiting, rnd, Shape.ofWholeGpus(3), List.of(POOL), sequence, sequence++);
        engine.apply(List.of(new Change.WorkloadSet(new Workload(
                waiting,
                rnd,
                Optional.empty(),
                plain.profile(),
                plain.queue(),
                plain.shape(),
                plain.pools(),
                plain.priority(),
                true,
                true,
                false,
                plain.submittedMillis(),
                plain.sequence(),
                OptionalLong.empty(),
                false,
                plain.state(),
                plain.nomination()))));
        engine.plan(0);
        assertThat(outlook(waiting, 0).code()).isEqualTo(Reason.Code.OVER_QUOTA_OFF);
        assertThat(outlook(waiting, 0).relief())
                .extracting(Outlook.Relief::kind, Outlook.Relief::path, Outlook.Relief::gpuMilli)
                .containsExactlyInAnyOrder(
                        Tuple.tuple(Outlook.Relief.Kind.RESERVE_MORE, Optional.of(rnd), 1_000L),
                        Tuple.tuple(Outlook.Relief.Kind.RESERVE_MORE, Optional.of(ACME), 1_000L));
    }

    @Test
    void aSearchThatMayNotGoOnNamesNothing() {
        givenNodes(1, 8);
        engine.apply(List.of(
                new Change.QuotaSet(Quota.reserving(ACME, Scope.of(POOL), 8_000).withLimit(4_000))));
        submit("a", ACME, 3, OptionalLong.empty());
        WorkloadId waiting = submit("w", ACME, 3, OptionalLong.empty());
        engine.plan(0);
        assertThat(engine.outlook(waiting, 0, () -> true)
                        .orElseThrow()
                        .perPool()
                        .getFirst()
                        .relief())
                .isEmpty();
    }

    @Test
    void itStartsWhenThoseWhoSayHowLongTheyRunHaveEnded() {
        givenNodes(2, 4);
        submit("a", ACME, 4, OptionalLong.of(60_000));
        submit("b", ACME, 4, OptionalLong.of(30_000));
        WorkloadId large = submit("c", ACME, 3, OptionalLong.empty());
        engine.plan(0);
        assertThat(outlook(large, 10_000).startsAtMillis()).hasValue(30_000);
    }

    @Test
    void itStartsWhenThePoolIsOpenAgain() {
        givenNodes(1, 4);
        // The epoch began on a Thursday.
        Hours mornings = new Hours(
                ZoneId.of("UTC"),
                List.of(
                        Hours.Span.between(DayOfWeek.THURSDAY, "00:00", "01:00"),
                        Hours.Span.between(DayOfWeek.FRIDAY, "00:00", "03:00")),
                Hours.AtClose.PREEMPT);
        engine.apply(List.of(new Change.PoolSet(Pool.ofNodes(POOL).withHours(mornings))));
        long minute = 60_000;
        submit("a", ACME, 4, OptionalLong.of(60 * minute));
        engine.plan(0);
        WorkloadId brief = submit("b", ACME, 2, OptionalLong.of(30 * minute));
        engine.plan(10 * minute);
        assertThat(outlook(brief, 10 * minute).code()).isEqualTo(Reason.Code.NO_CAPACITY);
        assertThat(outlook(brief, 10 * minute).startsAtMillis()).hasValue(24 * 60 * minute);
    }

    @Test
    void whereNobodySaysHowLongItRunsThereIsNoEstimate() {
        givenNodes(1, 4);
        submit("a", ACME, 4, OptionalLong.empty());
        WorkloadId waiting = submit("b", ACME, 1, OptionalLong.empty());
        engine.plan(0);
        assertThat(outlook(waiting, 0).startsAtMillis()).isEmpty();
    }

    @Test
    void onlyWorkOfItsOwnTenantIsNamed() {
        givenNodes(1, 8);
        submit("own-small", ACME, 1, OptionalLong.empty());
        submit("own-large", ACME, 2, OptionalLong.empty());
        submit("foreign", UMBRA, 5, OptionalLong.empty());
        WorkloadId waiting = submit("w", ACME, 2, OptionalLong.empty());
        engine.plan(0);
        Outlook.InPool outlook = outlook(waiting, 0);
        assertThat(outlook.holders()).containsExactly(new WorkloadId("own-large"), new WorkloadId("own-small"));
        assertThat(outlook.heldByOthersGpuMilli()).isEqualTo(5_000);
        assertThat(outlook.relief()).containsExactly(freeOnOneNode(2_000));
    }

    @Test
    void anAmountThatWaitingWorkOfAnotherTenantIsPartOfIsNotSaid() {
        givenNodes(1, 8);
        run("running", ACME, 8);
        submit("foreign", UMBRA, 1, OptionalLong.empty());
        WorkloadId waiting = submit("w", ACME, 3, OptionalLong.empty());
        engine.plan(0);
        assertThat(outlook(waiting, 0).relief()).containsExactly(freeOnOneNode(0));
    }

    @Test
    void anAmountThatOnlyWaitingWorkOfItsOwnTenantIsPartOfIsSaid() {
        givenNodes(1, 8);
        run("running", UMBRA, 8);
        submit("own", ACME, 1, OptionalLong.empty());
        WorkloadId waiting = submit("w", ACME, 3, OptionalLong.empty());
        engine.plan(0);
        assertThat(outlook(waiting, 0).relief()).containsExactly(freeOnOneNode(4_000));
    }

    @Test
    void noMoreIsToComeFreeThanIsHeld() {
        givenNodes(1, 4);
        run("running", ACME, 1);
        submit("own", ACME, 4, OptionalLong.empty());
        WorkloadId waiting = submit("w", ACME, 4, OptionalLong.empty());
        engine.plan(0);
        assertThat(outlook(waiting, 0).relief()).isEmpty();
    }

    @Test
    void aGapIsMeasuredOnTheNodeThatLacksLeast() {
        givenNodes(3, 4);
        submit("a", ACME, 3, OptionalLong.empty());
        submit("b", ACME, 2, OptionalLong.empty());
        submit("c", ACME, 3, OptionalLong.empty());
        WorkloadId waiting = submit("w", ACME, 4, OptionalLong.empty());
        engine.plan(0);
        assertThat(outlook(waiting, 0).code()).isEqualTo(Reason.Code.FRAGMENTED);
        assertThat(outlook(waiting, 0).relief()).containsExactly(freeOnOneNode(2_000));
    }

    @Test
    void aLimitSaysByHowMuchItIsTooLow() {
        givenNodes(1, 8);
        engine.apply(List.of(
                new Change.QuotaSet(Quota.reserving(ACME, Scope.of(POOL), 8_000).withLimit(4_000))));
        submit("a", ACME, 3, OptionalLong.empty());
        WorkloadId waiting = submit("w", ACME, 3, OptionalLong.empty());
        engine.plan(0);
        assertThat(outlook(waiting, 0).relief()).containsExactly(raiseLimit(ACME, Scope.of(POOL), 2_000));
    }

    @Test
    void thePositionCountsTheOwnGroupOnly() {
        givenNodes(1, 1);
        submit("a", ACME, 1, OptionalLong.empty());
        submit("b", ACME, 1, OptionalLong.empty());
        submit("x", UMBRA, 1, OptionalLong.empty());
        WorkloadId last = submit("c", ACME, 1, OptionalLong.empty());
        engine.plan(0);
        assertThat(engine.outlook(last, 0).orElseThrow().position()).isEqualTo(1);
    }

    @Test
    void whatIsNotItsTurnInAStrictQueueIsToldWhoseItIs() {
        givenNodes(1, 4);
        engine.apply(List.of(new Change.QueueSet(new QueueId("q"), QueueOrder.STRICT_FIFO)));
        submit("a", ACME, 2, OptionalLong.of(60_000));
        WorkloadId first = inQueue("first", 4);
        WorkloadId second = inQueue("second", 1);
        engine.plan(0);
        assertThat(engine.outlook(first, 0).orElseThrow().behind()).isEmpty();
        assertThat(outlook(first, 0).startsAtMillis()).hasValue(60_000);
        assertThat(engine.outlook(second, 0).orElseThrow().behind()).contains(first);
        assertThat(outlook(second, 0).code()).isEqualTo(Reason.Code.BEHIND);
        assertThat(outlook(second, 0).startsAtMillis())
                .as("the start of the first workload is unknown")
                .isEmpty();
    }

    @Test
    void whereThePoolWaitsBeforePreemptingItSaysFromWhenSomethingMayBeStopped() {
        engine.apply(List.of(
                new Change.PoolSet(Pool.ofCount(POOL, 1000).waitingBeforePreempting(60_000)),
                new Change.QuotaSet(Quota.reserving(ACME, Scope.of(POOL), 1000))));
        QuotaPath other = QuotaPath.of("other");
        WorkloadId borrower = new WorkloadId("borrower");
        engine.apply(List.of(new Change.WorkloadSet(
                Workload.waiting(borrower, other, Shape.ofWholeGpus(1), List.of(POOL), 0, sequence++))));
        engine.apply(List.of(new Change.QuotaSet(Quota.reserving(other, Scope.of(POOL), 0))));
        engine.plan(0);
        WorkloadId owner = new WorkloadId("owner");
        engine.apply(List.of(new Change.WorkloadSet(
                Workload.waiting(owner, ACME, Shape.ofWholeGpus(1), List.of(POOL), 5_000, sequence++))));

        assertThat(engine.plan(5_000).nextPlanAtMillis()).hasValue(65_000);
        assertThat(engine.outlook(owner, 5_000)
                        .orElseThrow()
                        .perPool()
                        .getFirst()
                        .preemptsFromMillis())
                .hasValue(65_000);
        assertThat(engine.plan(65_000).decisions())
                .anyMatch(decision -> decision instanceof Decision.Evict evict
                        && evict.workload().equals(borrower));
    }

    @Test
    void whereAFenceKeepsItFromTakingBackItNamesTheFence() {
        QuotaPath other = QuotaPath.of("other");
        engine.apply(List.of(
                new Change.PoolSet(Pool.ofCount(POOL, 1000)),
                new Change.QuotaSet(Quota.reserving(ACME, Scope.of(POOL), 1000).fenced()),
                new Change.QuotaSet(Quota.reserving(other, Scope.of(POOL), 0)),
                new Change.WorkloadSet(Workload.waiting(
                        new WorkloadId("borrower"), other, Shape.ofWholeGpus(1), List.of(POOL), 0, sequence++))));
        engine.plan(0);
        WorkloadId owner = new WorkloadId("owner");
        engine.apply(List.of(new Change.WorkloadSet(
                Workload.waiting(owner, ACME, Shape.ofWholeGpus(1), List.of(POOL), 1, sequence++))));

        assertThat(engine.plan(1).decisions()).isEmpty();
        assertThat(engine.outlook(owner, 1).orElseThrow().perPool().getFirst().fence())
                .hasValue(ACME);
    }

    private WorkloadId inQueue(String id, int gpus) {
        Workload plain = Workload.waiting(
                new WorkloadId(id), ACME, Shape.ofWholeGpus(gpus), List.of(POOL), sequence, sequence++);
        engine.apply(List.of(new Change.WorkloadSet(new Workload(
                plain.id(),
                ACME,
                plain.user(),
                plain.profile(),
                Optional.of(new QueueId("q")),
                plain.shape(),
                plain.pools(),
                plain.priority(),
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
}
