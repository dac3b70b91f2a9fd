package io.quartermaster.client.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.client.output.LocalTimes;
import io.quartermaster.client.output.TextStyle;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobTableTest {

    private static final String ONE = "019ab1c2-d3e4-7000-8000-000000000001";
    private static final String SAME_MOMENT = "019ab1c2-d3e4-7001-8000-000000000002";
    private static final String LATER = "019ab1c2-ffff-7000-8000-000000000003";

    @Test
    void shortIdsAreUniqueAmongThemselvesAndEndWithADigit() {
        assertThat(JobTable.shortIds(List.of(ONE, SAME_MOMENT, LATER)))
                .containsEntry(ONE, "019ab1c2-d3e4-7000")
                .containsEntry(SAME_MOMENT, "019ab1c2-d3e4-7001")
                .containsEntry(LATER, "019ab1c2-ffff");
    }

    @Test
    void aRowSaysWhatPeopleAskFirst() throws Exception {
        var workload = new ObjectMapper().readTree("""
                {"id":"%s","name":"train","queue":"q","submittedBy":"jo","state":"running","gpus":"4","heldGpus":"2",
                 "submittedAt":"2026-12-01T08:00:00Z","startedAt":"2026-12-01T08:10:00Z"}""".formatted(ONE));
        LocalTimes times = new LocalTimes(ZoneOffset.UTC, Instant.parse("2026-12-01T09:00:00Z"));

        assertThat(JobTable.of(List.of(workload), TextStyle.plain(), times).lines())
                .containsExactly(
                        "ID             NAME   QUEUE  BY  STATE    GPUS  SUBMITTED  RAN  REASON",
                        "019ab1c2-d3e4  train  q      jo  running  2     1h ago     50m  -");
    }

    @ParameterizedTest
    @CsvSource({"waiting,-", "starting,-", "stopping,50m", "failed,20m"})
    void theTimeIsThatOfTheAttempt(String state, String ran) throws Exception {
        String end = state.equals("failed") ? ",\"endedAt\":\"2026-12-01T08:30:00Z\"" : "";
        var workload = new ObjectMapper().readTree("""
                {"id":"%s","name":"train","state":"%s","submittedAt":"2026-12-01T08:00:00Z",
                 "startedAt":"2026-12-01T08:10:00Z"%s}""".formatted(ONE, state, end));
        LocalTimes times = new LocalTimes(ZoneOffset.UTC, Instant.parse("2026-12-01T09:00:00Z"));

        assertThat(JobTable.of(List.of(workload), TextStyle.plain(), times)
                        .lines()
                        .get(1))
                .endsWith(" 1h ago     " + ran + (ran.length() == 1 ? "    -" : "  -"));
    }
}
