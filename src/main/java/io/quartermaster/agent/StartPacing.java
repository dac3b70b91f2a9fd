package io.quartermaster.agent;

import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Delays starts while supervisors die before they begin. The machine has a fault then: every further start would only
 * fill the disk and cost a workload an attempt. One start is tried after each pause; the pause doubles with each
 * failure.
 *
 * <p>Used by the agent's loop only.
 */
final class StartPacing {

    static final long FIRST_PAUSE_MILLIS = 1_000;
    static final long MAX_PAUSE_MILLIS = 60_000;

    /**
     * How long other starts wait for one supervisor. One that has neither begun nor died by then hangs, and delays the
     * others no longer.
     */
    static final long STARTUP_TIMEOUT_MILLIS = 10_000;

    /** The supervisors that have not begun yet, with the time of their start. */
    private final Map<UUID, Long> starting = new HashMap<>();

    private int consecutiveDeaths;
    private long notBeforeMillis;

    /** A clock for the times of this class; only differences between its readings mean something. */
    static long nowMillis() {
        return System.nanoTime() / 1_000_000;
    }

    void recordStart(UUID attempt, long nowMillis) {
        starting.put(attempt, nowMillis);
    }

    /** Records that the supervisor of the attempt has begun, or has ended after it began. */
    void recordBegin(UUID attempt) {
        if (starting.remove(attempt) != null) {
            consecutiveDeaths = 0;
            notBeforeMillis = 0;
        }
    }

    /** Records that the supervisor of the attempt is gone. It counts only if the supervisor never began. */
    void recordDeath(UUID attempt, long nowMillis) {
        if (starting.remove(attempt) != null) {
            notBeforeMillis =
                    nowMillis + Math.min(MAX_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(consecutiveDeaths, 20));
            consecutiveDeaths++;
        }
    }

    /**
     * How long no start is allowed; 0 if starts are allowed. While the first supervisor after a death comes up, no
     * other may start.
     */
    long pauseMillis(long nowMillis) {
        if (consecutiveDeaths > 0
                && starting.values().stream().anyMatch(since -> nowMillis - since < STARTUP_TIMEOUT_MILLIS)) {
            return FIRST_PAUSE_MILLIS;
        }
        return Math.max(0, notBeforeMillis - nowMillis);
    }
}
