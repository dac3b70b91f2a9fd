package io.quartermaster.client.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;

class LocalTimesTest {

    private final LocalTimes times = new LocalTimes(ZoneId.of("Europe/Berlin"), Instant.parse("2026-12-01T22:30:00Z"));

    @Test
    void momentsOfTodayHaveNoDayAndTodayIsTheReaders() {
        assertThat(times.at(Instant.parse("2026-12-01T08:00:00Z"))).isEqualTo("09:00:00");
        assertThat(times.at(Instant.parse("2026-12-01T23:30:00Z"))).isEqualTo("2026-12-02 00:30:00");
        assertThat(times.exactly(Instant.parse("2026-07-01T08:00:00Z"))).isEqualTo("2026-07-01 10:00:00 +02:00");
    }

    @Test
    void distancesLookBackAndAhead() {
        assertThat(times.relative(Instant.parse("2026-12-01T22:25:00Z"))).isEqualTo("5m ago");
        assertThat(times.relative(Instant.parse("2026-12-02T00:30:00Z"))).isEqualTo("in 2h");
        assertThat(times.since(Instant.parse("2026-12-01T22:29:50Z"))).isEqualTo("10s");
    }

    @Test
    void momentsInSentencesBecomeTheReaders() {
        assertThat(times.inSentence("It starts at 2026-12-01 08:00:00 UTC, not 2026-12-03T10:15:30.123Z."))
                .isEqualTo("It starts at 09:00:00, not 2026-12-03 11:15:30.");
        assertThat(times.inSentence("job-2026-12-01 costs $1")).isEqualTo("job-2026-12-01 costs $1");
    }
}
