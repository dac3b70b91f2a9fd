package io.quartermaster.capacity.grants;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CapacityReservationTermsTest {

    private static final Instant NOW = Instant.parse("2026-11-01T12:00:00Z");
    private static final String LATER = "2026-11-02T12:00:00Z";

    @Test
    void zeroGpusAreToldApartFromNone() {
        assertThat(errors("0", null, LATER)).extracting(Problem.Field::message).containsExactly("is 0");
        assertThat(errors(null, null, LATER)).extracting(Problem.Field::message).containsExactly("is missing");
    }

    @Test
    void oneThingIsSaidOfAnEnd() {
        for (String end : List.of("2026-11-01T11:00:00Z", "2026-11-01T12:00:00Z", "2030-01-01T00:00:00Z", "soon")) {
            assertThat(errors("1", null, end)).as(end).singleElement().satisfies(error -> assertThat(error.field())
                    .isEqualTo("endsAt"));
        }
        assertThat(errors("1", "2026-11-03T00:00:00Z", LATER))
                .extracting(Problem.Field::message)
                .containsExactly("is not after startsAt");
        assertThat(errors("1", null, LATER)).isEmpty();
    }

    private static List<Problem.Field> errors(
            @Nullable String gpus, @Nullable String startsAt, @Nullable String endsAt) {
        var problems = new ProblemException.Invalid();
        CapacityReservationApi.Terms.check(
                problems, "h100", gpus == null ? null : GpuAmount.parse(gpus), null, startsAt, endsAt, NOW);
        return problems.isEmpty() ? List.of() : problems.toException().problem().errors();
    }
}
