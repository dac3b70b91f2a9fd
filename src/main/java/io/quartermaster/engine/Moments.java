package io.quartermaster.engine;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Points in time in words. */
public final class Moments {
    private Moments() {}

    /** A moment to the second, in UTC, such as {@code 2026-12-01 08:00:00 UTC}. */
    public static String utc(long epochMillis) {
        String text = Instant.ofEpochMilli(epochMillis)
                .truncatedTo(ChronoUnit.SECONDS)
                .toString();
        return text.replace('T', ' ').replace("Z", " UTC");
    }

    /** The same for an instant. */
    public static String utc(Instant at) {
        return utc(at.toEpochMilli());
    }
}
