package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Account status of tenants and groups, which permits or prevents starts. */
class AccountStatusTest {
    private static final PoolId POOL = new PoolId("pool");
    private static final QuotaPath ACME = QuotaPath.of("acme");
    private static final QuotaPath RND = QuotaPath.of("acme", "rnd");

    private final Engine engine = new Engine(Settings.DEFAULT);

    private Reason whyWaits(QuotaPath suspended) {
        Workload workload = Workload.waiting(new WorkloadId("w"), RND, Shape.ofWholeGpus(1), List.of(POOL), 0, 0);
        engine.apply(List.of(
                new Change.PoolSet(Pool.ofCount(POOL, 10_000)),
                new Change.AccountStatusSet(suspended, Change.AccountStatus.SUSPENDED),
                new Change.WorkloadSet(workload)));
        assertThat(engine.plan(0).decisions()).isEmpty();
        return engine.explain(workload.id()).orElseThrow().reason();
    }

    @Test
    void workOfASuspendedTenantNamesTheTenantAndWaitsForTheOperator() {
        Reason reason = whyWaits(ACME);

        assertThat(reason.code()).isEqualTo(Reason.Code.SUSPENDED);
        assertThat(reason.toString()).contains("Tenant acme is suspended.").contains("Ask the operator to resume");
    }

    @Test
    void workOfASuspendedGroupNamesTheGroup() {
        Reason reason = whyWaits(RND);

        assertThat(reason.code()).isEqualTo(Reason.Code.SUSPENDED);
        assertThat(reason.toString())
                .contains("The policy of group /rnd is suspended.")
                .doesNotContain("operator");
    }

    @Test
    void resumedWorkStarts() {
        whyWaits(RND);

        engine.apply(List.of(new Change.AccountStatusSet(RND, Change.AccountStatus.ACTIVE)));

        assertThat(engine.plan(0).decisions()).hasSize(1);
    }
}
