package io.quartermaster.engine.model;

import java.time.Instant;

/** Points in time in words. */
public final class TimeFormat {
    private TimeFormat() {}

    /** A moment to the second, in UTC, such as {@code 2026-12-01 08:00:00 UTC}. */
    public static String utc(long epochMillis) {
        String text = Instant.ofEpochSecond(Math.floorDiv(epochMillis, 1000)).toString();
        return text.replace('T', ' ').replace("Z", " UTC");
    }

    /** The same for an instant. */
    public static String utc(Instant at) {
        return utc(at.toEpochMilli());
    }
}
