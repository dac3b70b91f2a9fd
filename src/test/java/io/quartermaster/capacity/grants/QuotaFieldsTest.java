package io.quartermaster.capacity.grants;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.engine.model.Quota;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.http.ProblemException;
import java.time.Duration;
import java.time.Instant;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A date that cannot be stored and read back would make every plan of the cell fail. */
class QuotaFieldsTest {

    @ParameterizedTest
    @ValueSource(strings = {"+300000-01-01T00:00:00Z", "+10000-01-01T00:00:00Z", "9999-12-31T00:00:00Z", "tomorrow"})
    void aDateThatIsTooFarAheadIsRefused(String drainBy) {
        var problems = new ProblemException.Invalid();

        QuotaTerms terms = drainedBy(drainBy).check(problems, "quotas[0].");

        assertThat(problems.toException().problem().errors())
                .singleElement()
                .satisfies(error -> assertThat(error.field()).isEqualTo("quotas[0].drainBy"));
        assertThat(terms.drainByMillis()).isEmpty();
    }

    @Test
    void aDateWithinTwoYearsIsTaken() {
        var problems = new ProblemException.Invalid();
        Instant date =
                Instant.ofEpochSecond(Instant.now().plus(Duration.ofDays(700)).getEpochSecond());

        QuotaTerms terms = drainedBy(date.toString()).check(problems, "");

        assertThat(problems.isEmpty()).isTrue();
        assertThat(terms.drainByMillis()).hasValue(date.toEpochMilli());
    }

    @Test
    void anOverrideThatLeavesTheLimitBelowIsToldByWhatItStates() {
        String until = Instant.now().plus(Duration.ofDays(1)).toString();
        var more = new ProblemException.Invalid();
        var less = new ProblemException.Invalid();

        new QuotaOverrideApi.Request(new GpuAmount(3_000), null, null, until)
                .check(more, "override", new GpuAmount(1_000), new GpuAmount(2_000));
        new QuotaOverrideApi.Request(null, new GpuAmount(500), null, until)
                .check(less, "override", new GpuAmount(1_000), null);

        assertThat(more.toException().problem().errors()).singleElement().satisfies(error -> {
            assertThat(error.field()).isEqualTo("override.reserved");
            assertThat(error.message()).isEqualTo("is more than the limit, 2");
            assertThat(error.accepted()).isEqualTo("at most 2");
        });
        assertThat(less.toException().problem().errors()).singleElement().satisfies(error -> {
            assertThat(error.field()).isEqualTo("override.limit");
            assertThat(error.accepted()).isEqualTo("at least 1");
        });
    }

    @Test
    void otherTermsMayKeepTheOverrideAndTheDateThatStand() {
        Quota.Override higher =
                new Quota.Override(OptionalLong.empty(), OptionalLong.of(8_000), OptionalLong.empty(), 500);
        QuotaTerms standing = QuotaTerms.reserving(1_000)
                .withLimit(4_000)
                .withOverride(higher)
                .drainedBy(700);

        QuotaTerms kept = QuotaTerms.reserving(2_000).withLimit(3_000).withTransitionsOf(standing);
        assertThat(kept.override()).contains(higher);
        assertThat(kept.drainByMillis()).hasValue(700);
        assertThat(kept.effectiveAt(100).limitGpuMilli()).hasValue(8_000);
        assertThat(QuotaTerms.reserving(2_000)
                        .drainedBy(900)
                        .withTransitionsOf(standing)
                        .drainByMillis())
                .hasValue(900);
        assertThatThrownBy(() -> QuotaTerms.reserving(9_000).withTransitionsOf(standing))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static QuotaFields drainedBy(String date) {
        return new QuotaFields(new GpuAmount(1_000), new GpuAmount(2_000), null, null, null, null, date, null);
    }
}
