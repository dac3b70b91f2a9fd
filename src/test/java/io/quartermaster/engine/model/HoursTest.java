package io.quartermaster.engine.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.DayOfWeek;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HoursTest {

    private static Hours berlin(Hours.Span... spans) {
        return new Hours(ZoneId.of("Europe/Berlin"), List.of(spans), Hours.AtClose.GO_ON);
    }

    private static Hours daily(String from, String to) {
        List<Hours.Span> spans = new ArrayList<>();
        for (DayOfWeek day : DayOfWeek.values()) {
            spans.add(Hours.Span.between(day, from, to));
        }
        return berlin(spans.toArray(Hours.Span[]::new));
    }

    private static long at(String time) {
        return Instant.parse(time).toEpochMilli();
    }

    @Test
    void clocksOfTheZoneSayWhenItOpensInWinterAndInSummer() {
        Hours hours = daily("08:00", "18:00");

        assertThat(hours.nextTransition(at("2026-01-10T00:00:00Z"))).hasValue(at("2026-01-10T07:00:00Z"));
        assertThat(hours.nextTransition(at("2026-07-10T00:00:00Z"))).hasValue(at("2026-07-10T06:00:00Z"));
        assertThat(hours.isOpenAt(at("2026-01-10T07:00:00Z"))).isTrue();
        assertThat(hours.isOpenAt(at("2026-01-10T17:00:00Z"))).isFalse();
    }

    @Test
    void aNightThatClocksArePutForwardInIsAnHourShorter() {
        Hours night = berlin(Hours.Span.between(DayOfWeek.SATURDAY, "22:00", "06:00"));

        assertThat(night.nextTransition(at("2026-03-28T21:00:00Z"))).hasValue(at("2026-03-29T04:00:00Z"));
        assertThat(night.isOpenAt(at("2026-03-29T03:59:59Z"))).isTrue();
        assertThat(night.nextTransition(at("2026-03-29T04:00:00Z"))).hasValue(at("2026-04-04T20:00:00Z"));
    }

    @Test
    void whatIsOpenAllWeekNeverTurns() {
        assertThat(daily("00:00", "24:00").nextTransition(at("2026-03-28T21:00:00Z")))
                .isEmpty();
        assertThat(daily("12:00", "12:00").isOpenAt(at("2026-03-28T21:00:00Z"))).isTrue();
    }

    @Test
    void spansThatMeetAreOne() {
        Hours hours = berlin(
                Hours.Span.between(DayOfWeek.FRIDAY, "20:00", "24:00"),
                Hours.Span.between(DayOfWeek.SATURDAY, "00:00", "04:00"));

        assertThat(hours.nextTransition(at("2026-01-09T19:30:00Z"))).hasValue(at("2026-01-10T03:00:00Z"));
    }

    @Test
    void aTimeThatClocksArePutForwardOverIsTheMomentAtWhichTheyAre() {
        Hours opens = berlin(Hours.Span.between(DayOfWeek.SUNDAY, "02:30", "04:00"));
        Hours closes = berlin(Hours.Span.between(DayOfWeek.SUNDAY, "01:00", "02:30"));

        // Clocks change from 01:59:59 in winter time to 03:00:00 in summer time, which is 01:00 in UTC.
        assertThat(opens.nextTransition(at("2026-03-28T20:00:00Z"))).hasValue(at("2026-03-29T01:00:00Z"));
        assertThat(opens.nextTransition(at("2026-03-29T01:00:00Z"))).hasValue(at("2026-03-29T02:00:00Z"));
        assertThat(closes.nextTransition(at("2026-03-28T20:00:00Z"))).hasValue(at("2026-03-29T00:00:00Z"));
        assertThat(closes.nextTransition(at("2026-03-29T00:00:00Z"))).hasValue(at("2026-03-29T01:00:00Z"));
    }

    @Test
    void aSpanThatBeginsInTheGapAndEndsAfterItIsNotTurnedAround() {
        Hours hours = berlin(Hours.Span.between(DayOfWeek.SUNDAY, "02:50", "03:10"));

        assertThat(hours.nextTransition(at("2026-03-28T20:00:00Z"))).hasValue(at("2026-03-29T01:00:00Z"));
        assertThat(hours.isOpenAt(at("2026-03-29T01:09:59Z"))).isTrue();
        assertThat(hours.nextTransition(at("2026-03-29T01:00:00Z"))).hasValue(at("2026-03-29T01:10:00Z"));
    }

    @Test
    void aSpanThatLiesInTheGapIsLeftOutThatDay() {
        Hours hours = berlin(Hours.Span.between(DayOfWeek.SUNDAY, "02:15", "02:45"));

        assertThat(hours.nextTransition(at("2026-03-29T00:00:00Z"))).hasValue(at("2026-04-05T00:15:00Z"));
        assertThat(hours.isOpenAt(at("2026-03-29T01:30:00Z"))).isFalse();
    }

    @Test
    void aTimeThatClocksShowTwiceIsTheFirstOfBoth() {
        Hours hours = berlin(Hours.Span.between(DayOfWeek.SUNDAY, "02:30", "04:00"));

        assertThat(hours.nextTransition(at("2026-10-24T20:00:00Z"))).hasValue(at("2026-10-25T00:30:00Z"));
        assertThat(hours.nextTransition(at("2026-10-25T00:30:00Z"))).hasValue(at("2026-10-25T03:00:00Z"));
    }

    @Test
    void theLongestOpeningIsFoundOverTheEndOfTheWeek() {
        long hour = 60 * 60 * 1000L;

        assertThat(daily("08:00", "18:00").longestMillis()).isEqualTo(10 * hour);
        assertThat(berlin(
                                Hours.Span.between(DayOfWeek.SUNDAY, "20:00", "24:00"),
                                Hours.Span.between(DayOfWeek.MONDAY, "00:00", "06:00"),
                                Hours.Span.between(DayOfWeek.WEDNESDAY, "00:00", "09:00"))
                        .longestMillis())
                .isEqualTo(10 * hour);
        assertThat(daily("00:00", "24:00").longestMillis()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void theFirstOpeningThatIsLongEnoughIsFound() {
        Hours hours = berlin(
                Hours.Span.between(DayOfWeek.MONDAY, "08:00", "10:00"),
                Hours.Span.between(DayOfWeek.TUESDAY, "08:00", "14:00"));
        long monday = at("2026-01-12T07:30:00Z");
        long hour = 60 * 60 * 1000L;

        assertThat(hours.opensFor(monday, hour)).hasValue(monday);
        assertThat(hours.opensFor(monday, 3 * hour)).hasValue(at("2026-01-13T07:00:00Z"));
        assertThat(hours.opensFor(monday, 7 * hour)).isEmpty();
        assertThat(daily("00:00", "24:00").opensFor(monday, 1_000 * hour)).hasValue(monday);
    }

    @Test
    void timesThatAreNoneAreRefused() {
        assertThatThrownBy(() -> Hours.Span.between(DayOfWeek.FRIDAY, "24:00", "06:00"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Hours.Span.between(DayOfWeek.FRIDAY, "8:00", "25:00"))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
