package io.quartermaster.capacity.inventory;

import io.quartermaster.platform.http.ProblemException;
import java.time.Duration;
import java.time.Instant;

/** The limit on how far ahead a request may set the times of capacity reservations, overrides and drains. */
public final class MaxLookahead {
    private static final Duration LIMIT = Duration.ofDays(731);

    private MaxLookahead() {}

    public static Instant latest(Instant now) {
        return now.plus(LIMIT);
    }

    public static void check(ProblemException.Invalid problems, String field, Instant time, Instant now) {
        problems.check(
                !time.isAfter(latest(now)), field, "is too far ahead", "at most " + LIMIT.toDays() + " days from now");
    }
}
