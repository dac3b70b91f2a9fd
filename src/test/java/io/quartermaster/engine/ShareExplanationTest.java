package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.ShareExplanation;
import io.quartermaster.engine.model.ShareExplanation.Branch;
import io.quartermaster.engine.model.ShareExplanation.ShareBound;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The numbers behind fair shares: worked examples, and rules of every division over random cells. */
class ShareExplanationTest {
    private static final PoolId POOL = new PoolId("pool");
    private static final QuotaPath ACME = QuotaPath.of("acme");
    private static final QuotaPath GLOBEX = QuotaPath.of("globex");
    private static final QuotaPath RND = QuotaPath.of("acme", "rnd");
    private static final QuotaPath OPS = QuotaPath.of("acme", "ops");

    private final Engine engine = new Engine(Settings.DEFAULT);
    private int workloads;

    /** 12 GPUs; acme reserves 6 with weight 1, globex reserves none with weight 2; both demand 12. */
    private void twoTenantsWithMoreDemandThanCapacity() {
        quota(ACME, 6_000, OptionalLong.empty(), OptionalLong.of(1_000), true);
        quota(GLOBEX, 0, OptionalLong.empty(), OptionalLong.of(2_000), true);
        quota(RND, 4_000, OptionalLong.of(5_000), OptionalLong.of(1_000), true);
        quota(OPS, 1_000, OptionalLong.empty(), OptionalLong.of(1_000), false);
        engine.apply(List.of(new Change.PoolSet(Pool.ofCount(POOL, 12_000))));
        submit(RND, 8);
        submit(OPS, 4);
        submit(GLOBEX, 12);
        engine.plan(0);
    }

    private void quota(QuotaPath path, long reserved, OptionalLong limit, OptionalLong weight, boolean overQuota) {
        engine.apply(List.of(new Change.QuotaSet(
                new Quota(path, Scope.of(POOL), reserved, limit, weight, OptionalLong.empty(), 0, overQuota))));
    }

    private void submit(QuotaPath path, int count) {
        for (int i = 0; i < count; i++) {
            workloads++;
            engine.apply(List.of(new Change.WorkloadSet(Workload.waiting(
                    new WorkloadId("w-" + workloads), path, Shape.ofWholeGpus(1), List.of(POOL), 0, workloads))));
        }
    }

    private ShareExplanation share(QuotaPath path) {
        List<ShareExplanation> shares = engine.shares(path);
        assertThat(shares).hasSize(1);
        return shares.getFirst();
    }

    /** Of the 12 GPUs 6 are reserved. The demand of acme is 5 (the limit of rnd) and 1 (the reservation of ops). */
    @Test
    void eachLevelShowsWhatIsDividedAndWhatBoundsTheShare() {
        twoTenantsWithMoreDemandThanCapacity();

        ShareExplanation share = share(RND);

        assertThat(share.levels()).hasSize(2);
        ShareExplanation.Level tenant = share.levels().getFirst();
        assertThat(tenant.dividedGpuMilli()).isEqualTo(12_000);
        assertThat(tenant.branch().path()).isEqualTo(ACME);
        assertThat(tenant.branch().demandGpuMilli()).isEqualTo(6_000);
        assertThat(tenant.branch().fairGpuMilli()).isEqualTo(6_000);
        assertThat(tenant.branch().bound()).isEqualTo(ShareBound.DEMAND);
        assertThat(tenant.siblings()).extracting(Branch::path).containsExactly(GLOBEX);
        assertThat(tenant.siblings()).extracting(Branch::bound).containsExactly(ShareBound.DIVISION);
        ShareExplanation.Level group = share.levels().getLast();
        assertThat(group.dividedGpuMilli()).isEqualTo(6_000);
        assertThat(group.branch().path()).isEqualTo(RND);
        assertThat(group.branch().fairGpuMilli()).isEqualTo(5_000);
        assertThat(group.branch().bound()).isEqualTo(ShareBound.LIMIT);
        assertThat(group.branch().usedGpuMilli()).isEqualTo(5_000);
        assertThat(group.siblings().stream().filter(branch -> !branch.ownWork()))
                .singleElement()
                .satisfies(ops -> {
                    assertThat(ops.path()).isEqualTo(OPS);
                    assertThat(ops.fairGpuMilli()).isEqualTo(1_000);
                    assertThat(ops.bound()).isEqualTo(ShareBound.OVER_QUOTA_OFF);
                });
    }

    @Test
    void groupWithoutAPolicyEndsAtTheNearestBranchAbove() {
        twoTenantsWithMoreDemandThanCapacity();

        assertThat(share(QuotaPath.of("acme", "rnd", "nlp")).levels())
                .extracting(level -> level.branch().path())
                .containsExactly(ACME, RND);
        assertThat(share(QuotaPath.of("acme", "sales")).levels())
                .extracting(level -> level.branch().path())
                .containsExactly(ACME);
    }

    @Test
    void tenantWithoutAQuotaHasNoShare() {
        twoTenantsWithMoreDemandThanCapacity();

        assertThat(engine.shares(QuotaPath.of("initech"))).isEmpty();
    }

    @Test
    void branchWithoutWeightGetsItsReservationOnly() {
        quota(ACME, 2_000, OptionalLong.empty(), OptionalLong.of(0), true);
        quota(GLOBEX, 1_000, OptionalLong.empty(), OptionalLong.of(1_000), true);
        engine.apply(List.of(new Change.PoolSet(Pool.ofCount(POOL, 4_000))));
        submit(ACME, 4);
        submit(GLOBEX, 4);
        engine.plan(0);

        Branch acme = share(ACME).levels().getFirst().branch();

        assertThat(acme.fairGpuMilli()).isEqualTo(2_000);
        assertThat(acme.bound()).isEqualTo(ShareBound.NO_WEIGHT);
        assertThat(share(GLOBEX).levels().getFirst().branch().fairGpuMilli()).isEqualTo(2_000);
    }

    @Test
    void reservationBindsBeforeALimitThatIsHigher() {
        quota(ACME, 1_000, OptionalLong.of(3_000), OptionalLong.of(1_000), false);
        engine.apply(List.of(new Change.PoolSet(Pool.ofCount(POOL, 12_000))));
        submit(ACME, 5);
        engine.plan(0);

        Branch acme = share(ACME).levels().getFirst().branch();

        assertThat(acme.fairGpuMilli()).isEqualTo(1_000);
        assertThat(acme.bound()).isEqualTo(ShareBound.OVER_QUOTA_OFF);
    }

    @Test
    @Tag("properties")
    void everyDivisionKeepsItsRules() {
        AtomicInteger divided = new AtomicInteger();
        RandomCells.forEach(91, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 1; event <= RandomCells.EVENTS; event++) {
                cell.happen();
            }
            cell.engine.plan(cell.nowMillis);
            cell.workloads.values().stream()
                    .map(Workload::path)
                    .distinct()
                    .flatMap(path -> cell.engine.shares(path).stream())
                    .flatMap(share -> share.levels().stream())
                    .forEach(level -> {
                        judged.check();
                        divided.incrementAndGet();
                        requireRules(level);
                    });
        });
        RandomCells.requireHappened(200, divided.get(), "divisions");
    }

    private static void requireRules(ShareExplanation.Level level) {
        Branch branch = level.branch();
        long deserved = guaranteed(branch);
        long sum = branch.fairGpuMilli();
        for (Branch sibling : level.siblings()) {
            deserved += guaranteed(sibling);
            sum += sibling.fairGpuMilli();
        }
        assertThat(sum).as("sum in %s", level).isLessThanOrEqualTo(Math.max(level.dividedGpuMilli(), deserved));
        assertThat(branch.fairGpuMilli())
                .as("share of %s", branch)
                .isBetween(guaranteed(branch), branch.demandGpuMilli());
        assertThat(branch.bound() == ShareBound.DIVISION || branch.bound() == ShareBound.NO_WEIGHT)
                .as("bound of %s", branch)
                .isEqualTo(branch.fairGpuMilli() < branch.demandGpuMilli());
        if (branch.bound() == ShareBound.LIMIT) {
            assertThat(branch.demandGpuMilli()).isEqualTo(branch.limitGpuMilli().orElseThrow());
        }
        if (branch.bound() == ShareBound.OVER_QUOTA_OFF) {
            assertThat(branch.overQuota()).isFalse();
            assertThat(branch.demandGpuMilli()).isEqualTo(branch.reservedGpuMilli());
        }
    }

    private static long guaranteed(Branch branch) {
        return Math.min(branch.reservedGpuMilli(), branch.demandGpuMilli());
    }
}
