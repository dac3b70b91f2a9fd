package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.testing.RandomCases;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The tree over all pools has a node for every path as soon as one quota over all pools is declared. The implied quotas
 * of the other paths change no decision.
 */
@Tag("properties")
class ImpliedQuotasPropertiesTest {
    private static final int CELLS = 600;
    private static final PoolId BUSY = new PoolId("busy");
    private static final PoolId IDLE = new PoolId("idle");
    private static final QuotaPath LENDER = QuotaPath.parse("lender/research");
    private static final QuotaPath BORROWER = QuotaPath.parse("borrower/research");
    private static final Quota OF_ANOTHER = Quota.reserving(QuotaPath.parse("stranger"), Scope.ALL_POOLS, 1_000);

    @Test
    void whatATenantReservesElsewhereKeepsNobodyFromTakingBackAReservation() {
        Engine engine = new Engine(Settings.DEFAULT);
        engine.apply(
                List.of(new Change.PoolSet(Pool.ofCount(BUSY, 4_000)), new Change.PoolSet(Pool.ofCount(IDLE, 4_000))));
        setQuota(engine, LENDER, BUSY, 3_000);
        setQuota(engine, BORROWER, BUSY, 1_000);
        setQuota(engine, BORROWER, IDLE, 4_000);
        List<Quota> borrowed = List.of(
                Quota.reserving(BORROWER, Scope.of(BUSY), 1_000), Quota.reserving(BORROWER, Scope.of(IDLE), 4_000));
        for (QuotaPath path : BORROWER.fromTenant()) {
            engine.apply(List.of(new Change.QuotaSet(Quota.implied(borrowed, path, Scope.ALL_POOLS))));
        }
        List<Quota> lent = List.of(Quota.reserving(LENDER, Scope.of(BUSY), 3_000));
        for (QuotaPath path : LENDER.fromTenant()) {
            engine.apply(List.of(new Change.QuotaSet(Quota.implied(lent, path, Scope.ALL_POOLS))));
        }
        engine.apply(List.of(new Change.QuotaSet(OF_ANOTHER)));
        for (int i = 0; i < 4; i++) {
            Workload waiting = Workload.waiting(
                    new WorkloadId("borrower-" + i), BORROWER, Shape.ofWholeGpus(1), List.of(BUSY), 0, i);
            engine.apply(List.of(new Change.WorkloadSet(waiting)));
            Decision.Start start = (Decision.Start) engine.plan(0).decisions().getFirst();
            engine.apply(
                    List.of(new Change.WorkloadSet(waiting.withState(WorkloadPhase.running(start.allocation(), 0)))));
        }
        engine.apply(List.of(new Change.WorkloadSet(
                Workload.waiting(new WorkloadId("owner"), LENDER, Shape.ofWholeGpus(3), List.of(BUSY), 1, 4))));

        assertThat(engine.plan(1).decisions())
                .filteredOn(decision -> decision instanceof Decision.Evict)
                .hasSize(3);
    }

    private static void setQuota(Engine engine, QuotaPath group, PoolId pool, long reserved) {
        for (QuotaPath path : group.fromTenant()) {
            engine.apply(List.of(new Change.QuotaSet(Quota.reserving(path, Scope.of(pool), reserved))));
        }
    }

    @Test
    void aCellDecidesTheSameWithAndWithoutThem() {
        AtomicInteger evicting = new AtomicInteger();
        RandomCases.forEach(CELLS, 35, (seed, judged) -> {
            RandomCell plain = new RandomCell(seed);
            if (!everyPoolHasItsOwnTreeAlone(plain)) {
                return;
            }
            RandomCell with = new RandomCell(seed);
            with.engine.apply(implied(with));
            judged.check();
            for (int event = 0; event < 2 * RandomCells.EVENTS; event++) {
                plain.happen();
                with.happen();
                List<Decision> expected = plain.plan().decisions();
                assertThat(with.plan().decisions()).as("event %d", event).isEqualTo(expected);
                for (WorkloadId id : plain.workloads.keySet()) {
                    assertThat(codes(with, id)).as("%s", id).isEqualTo(codes(plain, id));
                }
                boolean evicts = expected.stream().anyMatch(decision -> decision instanceof Decision.Evict);
                evicting.addAndGet(evicts ? 1 : 0);
            }
        });
        RandomCells.requireHappened(36, evicting.get(), "plans that evict");
    }

    private static boolean everyPoolHasItsOwnTreeAlone(RandomCell cell) {
        SortedSet<String> scopes = new TreeSet<>();
        cell.quotas.values().forEach(quota -> scopes.add(quota.scope().toString()));
        return !scopes.contains(Scope.ALL_POOLS.toString())
                && cell.pools.keySet().stream().allMatch(pool -> scopes.contains(pool.value()));
    }

    /** Implied quotas of arbitrary amounts for every path, and one declared quota of another tenant. */
    private static List<Change> implied(RandomCell cell) {
        SortedSet<QuotaPath> paths = new TreeSet<>();
        cell.quotas.values().forEach(quota -> paths.addAll(quota.path().fromTenant()));
        List<Change> changes = new ArrayList<>(List.of(new Change.QuotaSet(OF_ANOTHER)));
        long reserved = 0;
        for (QuotaPath path : paths) {
            reserved = (reserved + 3_000) % 8_000;
            changes.add(new Change.QuotaSet(
                    Quota.implied(List.of(Quota.reserving(path, Scope.of(BUSY), reserved)), path, Scope.ALL_POOLS)));
        }
        return changes;
    }

    private static List<Reason.Code> codes(RandomCell cell, WorkloadId id) {
        return cell.engine.explain(id).stream()
                .flatMap(waitReasons -> waitReasons.perPool().stream())
                .map(Reason::code)
                .toList();
    }
}
