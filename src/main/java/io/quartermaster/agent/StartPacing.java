package io.quartermaster.agent;

import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Holds back starts while supervisors die before they begin: something is wrong with the machine then, and every start more only fills
 * the disk and costs a workload an attempt. One start is tried after each pause, which doubles as long as it fails.
 *
 * <p>Used by the agent's loop only.
 */
final class StartPacing {

    static final long FIRST_MILLIS = 1_000;
    static final long LONGEST_MILLIS = 60_000;

    /** As long as this the others wait for one that comes up; one that has neither begun nor died by then hangs, and holds up nobody. */
    static final long COMES_UP_MILLIS = 10_000;

    /** Since when. */
    private final Map<UUID, Long> comingUp = new HashMap<>();

    private int diedInARow;
    private long notBeforeMillis;

    void started(UUID attempt, long nowMillis) {
        comingUp.put(attempt, nowMillis);
    }

    /** Its supervisor does its work, or has done it. */
    void began(UUID attempt) {
        if (comingUp.remove(attempt) != null) {
            diedInARow = 0;
            notBeforeMillis = 0;
        }
    }

    /** Its supervisor is gone. Counts only if it never began. */
    void died(UUID attempt, long nowMillis) {
        if (comingUp.remove(attempt) != null) {
            notBeforeMillis = nowMillis + Math.min(LONGEST_MILLIS, FIRST_MILLIS << Math.min(diedInARow, 20));
            diedInARow++;
        }
    }

    /** How long from now nothing may be started; 0 for not at all. While one that follows a death comes up, nothing else is. */
    long pauseMillis(long nowMillis) {
        if (diedInARow > 0 && comingUp.values().stream().anyMatch(since -> nowMillis - since < COMES_UP_MILLIS)) {
            return FIRST_MILLIS;
        }
        return Math.max(0, notBeforeMillis - nowMillis);
    }
}
