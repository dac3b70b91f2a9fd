package io.quartermaster.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.capacity.grants.OversubscriptionWarning;
import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.capacity.grants.TenantAllotments;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.platform.TenantId;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The warnings in the answer to a grant in a pool. */
class GrantWarningsTest {
    private static final TenantId ACME = new TenantId("acme");

    private static QuotaTerms overridden(long reserved, long other, long fromMillis, long untilMillis) {
        return QuotaTerms.reserving(reserved)
                .withOverride(new Quota.Override(
                        OptionalLong.of(other), OptionalLong.empty(), OptionalLong.of(fromMillis), untilMillis));
    }

    @Test
    void overridesCountInTheirTimeAndTogetherOnlyWhereTheyMeet() {
        QuotaTerms morning = overridden(2_000, 6_000, 100, 200);
        QuotaTerms evening = overridden(2_000, 6_000, 300, 400);
        QuotaTerms late = overridden(2_000, 6_000, 399, 500);

        assertThat(OversubscriptionWarning.maxReserved(List.of(morning, evening), 0, Long.MAX_VALUE))
                .isEqualTo(8_000);
        assertThat(OversubscriptionWarning.maxReserved(List.of(evening, late), 0, Long.MAX_VALUE))
                .isEqualTo(12_000);
        assertThat(OversubscriptionWarning.maxReserved(List.of(evening, late), 0, 300))
                .isEqualTo(4_000);
        assertThat(OversubscriptionWarning.maxReserved(List.of(evening, late), 400, 450))
                .isEqualTo(8_000);
    }

    @Test
    void aLowerOverrideCountsUntilItsEnd() {
        QuotaTerms lower = overridden(8_000, 2_000, 0, 200);

        assertThat(OversubscriptionWarning.maxReserved(List.of(lower), 100, 150))
                .isEqualTo(2_000);
        assertThat(OversubscriptionWarning.maxReserved(List.of(lower), 100, Long.MAX_VALUE))
                .isEqualTo(8_000);
    }

    @Test
    void aCutBelowWhatIsHeldSaysWhatBecomesOfTheRest() {
        TenantAllotments.HeldAmounts held = new TenantAllotments.HeldAmounts(6_000, 5_000);
        QuotaTerms cut = QuotaTerms.reserving(2_000).withLimit(4_000);

        assertThat(held.drainWarning(ACME, "p", cut, OptionalLong.empty()))
                .contains(
                        "tenant acme holds 6 GPUs in p, but its limit is now 4. Excess work continues; no further work "
                                + "starts until it has ended");
        assertThat(held.drainWarning(ACME, "p", cut, OptionalLong.of(3_600_000)))
                .contains("tenant acme holds 6 GPUs in p, but its limit is now 4. Excess work is stopped at "
                        + "1970-01-01T01:00:00Z, except 5 held by work that cannot be preempted");
        assertThat(held.drainWarning(ACME, "p", QuotaTerms.reserving(2_000), OptionalLong.empty()))
                .isEmpty();
    }
}
