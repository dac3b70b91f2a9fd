package io.quartermaster.metering;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.metering.UsageRequest.Granularity;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import org.junit.jupiter.api.Test;

class UsagePeriodsTest {

    private static List<String> begins(Granularity granularity, String zone, String from, String to) {
        UsageWindow window = new UsageWindow(
                Instant.parse(from).toEpochMilli(), Instant.parse(to).toEpochMilli());
        return UsagePeriods.of(granularity, ZoneId.of(zone), window, 100).orElseThrow().begins().stream()
                .map(begin -> Instant.ofEpochMilli(begin).toString())
                .toList();
    }

    @Test
    void aDayHasTheHoursThatItsClocksGiveIt() {
        assertThat(begins(Granularity.DAY, "Europe/Berlin", "2026-10-23T22:30:00Z", "2026-10-26T23:00:00Z"))
                .containsExactly("2026-10-23T22:00:00Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z");
        assertThat(begins(Granularity.DAY, "Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00.001Z"))
                .containsExactly("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");
    }

    @Test
    void weeksBeginOnMondayAndMonthsOnTheFirst() {
        assertThat(begins(Granularity.WEEK, "UTC", "2026-11-01T00:00:00Z", "2026-11-10T00:00:00Z"))
                .containsExactly("2026-10-26T00:00:00Z", "2026-11-02T00:00:00Z", "2026-11-09T00:00:00Z");
        assertThat(begins(Granularity.MONTH, "Asia/Tokyo", "2026-01-31T14:59:59.999Z", "2026-03-31T15:00:00Z"))
                .containsExactly("2025-12-31T15:00:00Z", "2026-01-31T15:00:00Z", "2026-02-28T15:00:00Z");
    }

    @Test
    void aDayThatAZoneSkipsIsNoPeriod() {
        assertThat(begins(Granularity.DAY, "Pacific/Apia", "2011-12-29T10:00:00Z", "2011-12-31T10:00:00Z"))
                .containsExactly("2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z");
    }

    @Test
    void onlyBeginsWithinHoursDivideHours() {
        UsageWindow window = new UsageWindow(
                Instant.parse("2026-11-01T00:00:00Z").toEpochMilli(),
                Instant.parse("2026-11-02T00:00:00Z").toEpochMilli());
        assertThat(UsagePeriods.of(Granularity.DAY, ZoneId.of("Europe/Berlin"), window, 10)
                        .orElseThrow()
                        .hoursWithBegin())
                .isEmpty();
        assertThat(UsagePeriods.of(Granularity.DAY, ZoneId.of("Asia/Kolkata"), window, 10)
                        .orElseThrow()
                        .hoursWithBegin())
                .containsExactly(
                        Instant.parse("2026-10-31T19:00:00Z").toEpochMilli(),
                        Instant.parse("2026-11-01T19:00:00Z").toEpochMilli());
    }

    @Test
    void thereAreNoMorePeriodsThanTheLimit() {
        UsageWindow window = new UsageWindow(0, 3 * 86_400_000L);
        assertThat(UsagePeriods.of(Granularity.DAY, ZoneId.of("UTC"), window, 2))
                .isEmpty();
        assertThat(UsagePeriods.of(Granularity.DAY, ZoneId.of("UTC"), window, 3))
                .hasValueSatisfying(periods -> assertThat(periods.begins()).hasSize(3));
    }
}
