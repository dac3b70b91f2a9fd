package io.quartermaster.engine.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class MeterTest {

    private static final PoolId POOL = new PoolId("onprem");
    private static final long GRACE = 1_000;

    /** Two GPUs run on ten GPU-seconds. */
    private static Meter meter() {
        Meter meter = new Meter(QuotaPath.parse("acme/rnd"), Scope.of(POOL), GRACE);
        meter.left(10_000_000);
        meter.add(When.NOW, 2_000);
        meter.add(When.NEXT, 2_000);
        return meter;
    }

    @Test
    void whatRunsStopsWhenNoMoreIsLeftThanItsGrace() {
        Meter meter = meter();
        assertThat(meter.isUsedUp()).isFalse();
        assertThat(meter.lastsMillis()).hasValue(4_000);

        meter.left(2_000_000);

        assertThat(meter.isUsedUp()).isTrue();
        assertThat(meter.lastsMillis()).isEmpty();
    }

    @Test
    void moreStartsAsLongAsAllCouldBeGivenTheirGrace() {
        Meter meter = meter();

        assertThat(meter.allows(7_000, true, OptionalLong.empty())).isTrue();
        assertThat(meter.allows(8_000, true, OptionalLong.empty())).isFalse();
        assertThat(meter.allowsForMillis(7_000, true, OptionalLong.empty())).hasValue(500);
        assertThat(meter.allowsForMillis(8_000, true, OptionalLong.empty())).isEmpty();
    }

    @Test
    void whatCannotBePreemptedNeedsABudgetForAllItsTime() {
        Meter meter = meter();

        assertThat(meter.allows(1_000, false, OptionalLong.empty())).isFalse();
        assertThat(meter.allows(1_000, false, OptionalLong.of(6_999))).isTrue();
        assertThat(meter.allows(1_000, false, OptionalLong.of(7_000))).isFalse();
        assertThat(meter.allows(1_000, false, OptionalLong.of(Long.MAX_VALUE))).isFalse();
    }

    @Test
    void itCountsWhatRunsAtItsPathAndBelowInItsPool() {
        Meter meter = meter();

        assertThat(meter.counts(POOL, QuotaPath.parse("acme/rnd/vision"))).isTrue();
        assertThat(meter.counts(POOL, QuotaPath.parse("acme"))).isFalse();
        assertThat(meter.counts(new PoolId("cloud"), QuotaPath.parse("acme/rnd")))
                .isFalse();
    }
}
