package io.quartermaster.engine.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class BudgetMeterTest {

    private static final PoolId POOL = new PoolId("onprem");
    private static final long GRACE = 1_000;

    /** The meter of a budget of ten GPU-seconds, which two GPUs use. */
    private static BudgetMeter meter() {
        BudgetMeter budgetMeter = new BudgetMeter(QuotaPath.parse("acme/rnd"), Scope.of(POOL), GRACE);
        budgetMeter.setLeft(10_000_000);
        budgetMeter.add(UsageView.CURRENT, 2_000);
        budgetMeter.add(UsageView.PROJECTED, 2_000);
        return budgetMeter;
    }

    @Test
    void whatRunsStopsWhenNoMoreIsLeftThanItsGrace() {
        BudgetMeter budgetMeter = meter();
        assertThat(budgetMeter.isUsedUp()).isFalse();
        assertThat(budgetMeter.lastsMillis()).hasValue(4_000);

        budgetMeter.setLeft(2_000_000);

        assertThat(budgetMeter.isUsedUp()).isTrue();
        assertThat(budgetMeter.lastsMillis()).isEmpty();
    }

    @Test
    void moreStartsAsLongAsAllCouldBeGivenTheirGrace() {
        BudgetMeter budgetMeter = meter();

        assertThat(budgetMeter.allows(7_000, true, OptionalLong.empty())).isTrue();
        assertThat(budgetMeter.allows(8_000, true, OptionalLong.empty())).isFalse();
        assertThat(budgetMeter.allowsForMillis(7_000, true, OptionalLong.empty()))
                .hasValue(500);
        assertThat(budgetMeter.allowsForMillis(8_000, true, OptionalLong.empty()))
                .isEmpty();
    }

    @Test
    void whatCannotBePreemptedNeedsABudgetForAllItsTime() {
        BudgetMeter budgetMeter = meter();

        assertThat(budgetMeter.allows(1_000, false, OptionalLong.empty())).isFalse();
        assertThat(budgetMeter.allows(1_000, false, OptionalLong.of(6_999))).isTrue();
        assertThat(budgetMeter.allows(1_000, false, OptionalLong.of(7_000))).isFalse();
        assertThat(budgetMeter.allows(1_000, false, OptionalLong.of(Long.MAX_VALUE)))
                .isFalse();
    }

    @Test
    void itCountsWhatRunsAtItsPathAndBelowInItsPool() {
        BudgetMeter budgetMeter = meter();

        assertThat(budgetMeter.counts(POOL, QuotaPath.parse("acme/rnd/vision"))).isTrue();
        assertThat(budgetMeter.counts(POOL, QuotaPath.parse("acme"))).isFalse();
        assertThat(budgetMeter.counts(new PoolId("cloud"), QuotaPath.parse("acme/rnd")))
                .isFalse();
    }
}
