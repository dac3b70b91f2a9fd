package io.quartermaster.engine;

import java.util.OptionalLong;

/**
 * How a cell schedules.
 *
 * @param minRuntimeMillis younger running work is no victim, nor is it moved
 * @param reclaimMinRuntimeMillis the same, against reclaim by another group
 * @param graceMillis how long a victim may keep its devices after it was told to stop
 * @param consolidate whether preemptible work may be moved to make room
 * @param patienceMillis work that waits longer than this for fit alone gets a claim; absent = never
 * @param fairnessWindowMillis half-life of what was used before in the fair share; absent = only the present counts
 * @param staleGangGraceMillis how long a workload that lost workers which it cannot run without waits for others in their place; absent = without end
 */
public record Settings(
        long minRuntimeMillis,
        long reclaimMinRuntimeMillis,
        long graceMillis,
        Spill spill,
        boolean consolidate,
        Reclaim reclaim,
        OptionalLong patienceMillis,
        OptionalLong fairnessWindowMillis,
        OptionalLong staleGangGraceMillis) {

    public static final Settings DEFAULT = new Settings(
            0,
            0,
            0,
            Spill.BEFORE_PREEMPTING,
            true,
            Reclaim.FAIR_SHARE,
            OptionalLong.empty(),
            OptionalLong.empty(),
            OptionalLong.empty());

    public Settings {
        if (minRuntimeMillis < 0 || reclaimMinRuntimeMillis < 0 || graceMillis < 0) {
            throw new IllegalArgumentException("durations are not negative");
        }
    }

    /** How old running work must be before anybody may make it stop. */
    public long longestMinRuntimeMillis() {
        return Math.max(minRuntimeMillis, reclaimMinRuntimeMillis);
    }

    public Settings withGraceMillis(long millis) {
        return new Settings(
                minRuntimeMillis,
                reclaimMinRuntimeMillis,
                millis,
                spill,
                consolidate,
                reclaim,
                patienceMillis,
                fairnessWindowMillis,
                staleGangGraceMillis);
    }

    /** Whether every pool is tried for free room before room is made in any, or pool by pool. */
    public enum Spill {
        BEFORE_PREEMPTING,
        AFTER_PREEMPTING
    }

    /** What another group may be made to give back for. */
    public enum Reclaim {
        /** Reservations, and fair shares of what is spare. */
        FAIR_SHARE,
        /** Reservations only. */
        RESERVED,
        NONE
    }
}
