package io.quartermaster.engine;

import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;

/**
 * When a pool is open, week by week. Times are those of clocks in the zone: where they are put forward or back, a span is shorter or longer.
 *
 * @param spans may overlap; outside all of them the pool is closed
 */
public record Hours(ZoneId zone, List<Span> spans, AtClose atClose) {
    /** A week has seven days, however clocks are changed in it; one more, since spans may reach into the next day. */
    private static final int DAYS_AHEAD = 8;

    private static final long WEEK_MILLIS = 7L * 24 * 60 * 60 * 1000;

    public Hours {
        spans = List.copyOf(spans);
        if (spans.isEmpty()) {
            throw new IllegalArgumentException("hours have at least one span");
        }
    }

    /** What becomes of work that runs when the pool closes. */
    public enum AtClose {
        /** It goes on to its end. */
        GO_ON,
        /** What can be preempted is, and waits again. What states when it ends starts only if that is before. */
        PREEMPT
    }

    /**
     * A span of one day, or from one day to the next.
     *
     * @param fromMinute of the day
     * @param untilMinute the first minute after it, counted from the beginning of the same day
     */
    public record Span(DayOfWeek day, int fromMinute, int untilMinute) {
        /** The minutes of a day. */
        public static final int DAY = 24 * 60;

        public Span {
            if (fromMinute < 0 || fromMinute >= DAY || untilMinute <= fromMinute || untilMinute > fromMinute + DAY) {
                throw new IllegalArgumentException("a span begins in its day and is at most a day long");
            }
        }

        /**
         * From one time of the clock to another; to the next day's where that is not later.
         *
         * @param from as 08:30
         * @param to likewise, or 24:00
         */
        public static Span between(DayOfWeek day, String from, String to) {
            int begin = minuteOf(from);
            int end = minuteOf(to);
            return new Span(day, begin, end > begin ? end : end + DAY);
        }

        private static int minuteOf(String time) {
            if (!time.matches("([01][0-9]|2[0-3]):[0-5][0-9]|24:00")) {
                throw new IllegalArgumentException("a time of the day is from 00:00 to 24:00: " + time);
            }
            return Integer.parseInt(time.substring(0, 2)) * 60 + Integer.parseInt(time.substring(3));
        }
    }

    private record Interval(long fromMillis, long untilMillis) {}

    public boolean isOpenAt(long millis) {
        for (Interval interval : around(millis)) {
            if (interval.fromMillis() <= millis && millis < interval.untilMillis()) {
                return true;
            }
        }
        return false;
    }

    /** The first moment after another at which it opens, or closes; empty where it never does. */
    public OptionalLong nextTurn(long millis) {
        for (Interval interval : around(millis)) {
            if (interval.fromMillis() > millis) {
                return OptionalLong.of(interval.fromMillis());
            }
            if (interval.untilMillis() > millis) {
                return interval.untilMillis() - millis > WEEK_MILLIS
                        ? OptionalLong.empty()
                        : OptionalLong.of(interval.untilMillis());
            }
        }
        return OptionalLong.empty();
    }

    /** When it is open from the day before a moment on, in order of time, with gaps between. */
    private List<Interval> around(long millis) {
        LocalDate today = Instant.ofEpochMilli(millis).atZone(zone).toLocalDate();
        List<Interval> each = new ArrayList<>();
        for (int ahead = -2; ahead <= DAYS_AHEAD; ahead++) {
            LocalDate date = today.plusDays(ahead);
            for (Span span : spans) {
                if (span.day() == date.getDayOfWeek()) {
                    each.add(new Interval(at(date, span.fromMinute()), at(date, span.untilMinute())));
                }
            }
        }
        each.sort(Comparator.comparingLong(Interval::fromMillis).thenComparingLong(Interval::untilMillis));
        List<Interval> merged = new ArrayList<>();
        for (Interval next : each) {
            if (merged.isEmpty() || merged.getLast().untilMillis() < next.fromMillis()) {
                merged.add(next);
            } else {
                Interval last = merged.removeLast();
                merged.add(new Interval(last.fromMillis(), Math.max(last.untilMillis(), next.untilMillis())));
            }
        }
        return merged;
    }

    private long at(LocalDate date, int minute) {
        return date.atStartOfDay().plusMinutes(minute).atZone(zone).toInstant().toEpochMilli();
    }
}
