package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.DayOfWeek;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What is said about a wait beyond its reason. */
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

    private Outlook.InPool outlook(WorkloadId id, long nowMillis) {
        return engine.outlook(id, nowMillis).orElseThrow().perPool().getFirst();
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
        assertThat(outlook.relief())
                .contains(new Outlook.Relief(Outlook.Relief.Kind.FREE_IN_POOL, Optional.empty(), 2_000));
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
        assertThat(outlook(waiting, 0).relief())
                .contains(new Outlook.Relief(Outlook.Relief.Kind.FREE_ON_ONE_NODE, Optional.empty(), 2_000));
    }

    @Test
    void aLimitSaysByHowMuchItIsTooLow() {
        givenNodes(1, 8);
        engine.apply(List.of(
                new Change.QuotaSet(Quota.reserving(ACME, Scope.of(POOL), 8_000).withLimit(4_000))));
        submit("a", ACME, 3, OptionalLong.empty());
        WorkloadId waiting = submit("w", ACME, 3, OptionalLong.empty());
        engine.plan(0);
        assertThat(outlook(waiting, 0).relief())
                .contains(new Outlook.Relief(Outlook.Relief.Kind.RAISE_LIMIT, Optional.of(ACME), 2_000));
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
                .as("nothing is known of when the first has started")
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
                .anyMatch(decision -> decision instanceof Decision.Preempt preempt
                        && preempt.workload().equals(borrower));
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
