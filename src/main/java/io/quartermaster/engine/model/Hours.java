package io.quartermaster.engine.model;

import java.time.DayOfWeek;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Weekly opening hours of a pool, in local time of the zone: when daylight saving time begins or ends, a span is
 * shorter or longer.
 *
 * @param spans the open times, which may overlap; outside all of them the pool is closed
 */
public record Hours(ZoneId zone, List<Span> spans, AtClose atClose) {
    /**
     * The seven days of a week, also with a change of clocks; and one more, because spans may reach into the next day.
     */
    private static final int DAYS_AHEAD = 8;

    private static final long MINUTE_MILLIS = 60_000;
    private static final int WEEK_MINUTES = 7 * 24 * 60;
    private static final long WEEK_MILLIS = WEEK_MINUTES * MINUTE_MILLIS;

    public Hours {
        spans = List.copyOf(spans);
        if (spans.isEmpty()) {
            throw new IllegalArgumentException("hours must have at least one span");
        }
    }

    /** The treatment of running work when the pool closes. */
    public enum AtClose {
        /** Running work continues to its end. */
        GO_ON,
        /**
         * Preemptible work is evicted and waits again. Work with a maximum run time starts only if it ends before the
         * pool closes.
         */
        PREEMPT
    }

    /**
     * A span of one day, or from one day to the next.
     *
     * @param fromMinute the first minute of the span, counted from the beginning of the day
     * @param untilMinute the first minute after the span, counted from the beginning of the day on which the span
     *     begins
     */
    public record Span(DayOfWeek day, int fromMinute, int untilMinute) {
        /** The number of minutes in a day. */
        public static final int DAY_MINUTES = 24 * 60;

        public Span {
            if (fromMinute < 0
                    || fromMinute >= DAY_MINUTES
                    || untilMinute <= fromMinute
                    || untilMinute > fromMinute + DAY_MINUTES) {
                throw new IllegalArgumentException("a span must begin in its day and be at most a day long");
            }
        }

        /**
         * A span between two times; it ends on the next day if {@code to} is not later than {@code from}.
         *
         * @param from a time such as 08:30
         * @param to a time such as 18:00, or 24:00
         */
        public static Span between(DayOfWeek day, String from, String to) {
            int begin = minuteOf(from);
            int end = minuteOf(to);
            return new Span(day, begin, end > begin ? end : end + DAY_MINUTES);
        }

        private static int minuteOf(String time) {
            if (!time.matches("([01][0-9]|2[0-3]):[0-5][0-9]|24:00")) {
                throw new IllegalArgumentException("a time of day must be from 00:00 to 24:00: " + time);
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

    /** The first moment after the given one at which the pool opens or closes; empty if it never does. */
    public OptionalLong nextTransition(long millis) {
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

    /**
     * The first moment, not before {@code fromMillis}, from which the pool stays open for a duration; empty if no
     * opening of the next week is that long.
     */
    public OptionalLong opensFor(long fromMillis, long millis) {
        for (Interval interval : around(fromMillis)) {
            long begin = Math.max(fromMillis, interval.fromMillis());
            boolean always = interval.untilMillis() - begin > WEEK_MILLIS;
            if (always || begin < interval.untilMillis() && interval.untilMillis() - begin >= millis) {
                return OptionalLong.of(begin);
            }
        }
        return OptionalLong.empty();
    }

    /**
     * The longest opening in a week without a change of clocks; {@link Long#MAX_VALUE} if the pool never closes.
     */
    public long longestMillis() {
        // Two weeks, so that an opening across the end of the first week counts in full.
        SortedMap<Integer, Integer> untilByFrom = new TreeMap<>();
        for (Span span : spans) {
            int from = (span.day().getValue() - 1) * Span.DAY_MINUTES + span.fromMinute();
            int until = from - span.fromMinute() + span.untilMinute();
            untilByFrom.merge(from, until, Math::max);
            untilByFrom.merge(from + WEEK_MINUTES, until + WEEK_MINUTES, Math::max);
        }
        int longest = 0;
        int from = 0;
        int until = 0;
        for (Map.Entry<Integer, Integer> span : untilByFrom.entrySet()) {
            from = span.getKey() > until ? span.getKey() : from;
            until = Math.max(until, span.getValue());
            longest = Math.max(longest, until - from);
        }
        return longest > WEEK_MINUTES ? Long.MAX_VALUE : longest * MINUTE_MILLIS;
    }

    /**
     * The openings from the day before a moment on, in order of time and merged, so that there are gaps between them.
     */
    private List<Interval> around(long millis) {
        LocalDate today = Instant.ofEpochMilli(millis).atZone(zone).toLocalDate();
        List<Interval> each = new ArrayList<>();
        for (int ahead = -2; ahead <= DAYS_AHEAD; ahead++) {
            LocalDate date = today.plusDays(ahead);
            for (Span span : spans) {
                if (span.day() == date.getDayOfWeek()) {
                    Interval interval = new Interval(at(date, span.fromMinute()), at(date, span.untilMinute()));
                    if (interval.fromMillis() < interval.untilMillis()) {
                        each.add(interval);
                    }
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

    /**
     * The moment at which clocks show this number of minutes after midnight. Minutes that clocks skip when daylight
     * saving time begins all map to the moment of the change.
     */
    private long at(LocalDate date, int minute) {
        LocalDateTime time = date.atStartOfDay().plusMinutes(minute);
        ZoneOffsetTransition change = zone.getRules().getTransition(time);
        Instant instant = change != null && change.isGap()
                ? change.getInstant()
                : time.atZone(zone).toInstant();
        return instant.toEpochMilli();
    }
}
