package io.quartermaster.workloads.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.dispatch.commit.PendingReasons;
import io.quartermaster.dispatch.read.QuarantinedWorkloads;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class WorkloadFilterTest {

    @Test
    void theCodesOfReasonsAreThoseThatTheLeaderWrites() {
        assertThat(WorkloadFilterParams.LEADER_CODES)
                .containsExactlyInAnyOrder(PendingReasons.QUEUE_HELD, PendingReasons.RETRY, QuarantinedWorkloads.CODE);
    }

    @Test
    void aTimeOfSubmissionAlsoBoundsTheIdsWhichBeginWithIt() {
        Instant time = Instant.parse("2026-11-24T08:00:00Z");
        WorkloadFilter filter = new WorkloadFilter(
                List.of(),
                List.of(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                List.of(),
                Optional.of(time),
                Optional.empty());

        WorkloadFilter.Conditions conditions = filter.conditions();

        UUID first = (UUID) Objects.requireNonNull(conditions.parameters().get("firstId"));
        assertThat(first.getMostSignificantBits() >>> 16)
                .isEqualTo(time.minusSeconds(300).toEpochMilli());
        assertThat(filter.isEmpty()).isFalse();
        assertThat(conditions.sql()).contains("w.submitted_at >= :from");
    }

    @Test
    void onlyAFilterWithoutAnyPartIsEmpty() {
        assertThat(new WorkloadFilterParams().filter().isEmpty()).isTrue();
        WorkloadFilterParams params = new WorkloadFilterParams();
        params.label = List.of("team");
        assertThat(params.filter().isEmpty()).isFalse();
        assertThat(params.inWords()).isEqualTo("label=team");
    }
}
