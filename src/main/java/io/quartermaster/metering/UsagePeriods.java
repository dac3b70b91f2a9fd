package io.quartermaster.metering;

import io.quartermaster.ledger.BookState;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.temporal.TemporalAdjusters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The days, weeks or months of a time zone that a window touches. A period lasts until the next begin, so a day has 23
 * or 25 hours where the clocks change. Weeks begin on Monday (ISO 8601).
 *
 * @param begins in epoch milliseconds, ascending; the first one is not after the begin of the window
 */
record UsagePeriods(List<Long> begins) {

    private static final long HOUR_MILLIS = BookState.HOUR_MILLIS;

    UsagePeriods {
        begins = List.copyOf(begins);
    }

    /** No division into periods. */
    static final UsagePeriods NONE = new UsagePeriods(List.of());

    /**
     * The periods of a granularity; empty if there are more than the limit.
     *
     * @param window not empty
     */
    static Optional<UsagePeriods> of(UsageRequest.Granularity granularity, ZoneId zone, UsageWindow window, int limit) {
        LocalDate day = Instant.ofEpochMilli(window.fromMillis()).atZone(zone).toLocalDate();
        LocalDate begin =
                switch (granularity) {
                    case TOTAL, HOUR, DAY -> day;
                    case WEEK -> day.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY));
                    case MONTH -> day.withDayOfMonth(1);
                };
        List<Long> begins = new ArrayList<>();
        for (long millis = millis(begin, zone); millis < window.toMillis(); millis = millis(begin, zone)) {
            if (begins.size() == limit) {
                return Optional.empty();
            }
            begins.add(millis);
            begin = switch (granularity) {
                case TOTAL, HOUR, DAY -> begin.plusDays(1);
                case WEEK -> begin.plusWeeks(1);
                case MONTH -> begin.plusMonths(1);
            };
        }
        // A time zone may skip a whole day.
        return Optional.of(new UsagePeriods(begins.stream().distinct().toList()));
    }

    private static long millis(LocalDate day, ZoneId zone) {
        return day.atStartOfDay(zone).toInstant().toEpochMilli();
    }

    /** The ends of the hours (UTC) in which a period begins after the hour's own begin. */
    SortedSet<Long> hoursWithBegin() {
        SortedSet<Long> ends = new TreeSet<>();
        for (long begin : begins) {
            if (Math.floorMod(begin, HOUR_MILLIS) != 0) {
                ends.add(Math.floorDiv(begin, HOUR_MILLIS) * HOUR_MILLIS + HOUR_MILLIS);
            }
        }
        return ends;
    }
}
