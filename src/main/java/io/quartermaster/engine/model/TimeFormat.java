package io.quartermaster.engine.model;

import java.time.Instant;

/** Text form of points in time. */
public final class TimeFormat {
    private TimeFormat() {}

    /** A moment to the second, in UTC, such as {@code 2026-12-01 08:00:00 UTC}. */
    public static String utc(long epochMillis) {
        String text = Instant.ofEpochSecond(Math.floorDiv(epochMillis, 1000)).toString();
        return text.replace('T', ' ').replace("Z", " UTC");
    }

    /** An instant to the second, in UTC, such as {@code 2026-12-01 08:00:00 UTC}. */
    public static String utc(Instant at) {
        return utc(at.toEpochMilli());
    }
}
