package io.quartermaster.engine.model;

import java.util.OptionalLong;

/**
 * Scheduling settings of a cell.
 *
 * @param minRuntimeMillis how long work must have run before it can be evicted or moved
 * @param reclaimMinRuntimeMillis how long work must have run before another group can reclaim its devices
 * @param graceMillis how long a victim may keep its devices after its eviction
 * @param consolidate whether the engine may move preemptible work to make room
 * @param patienceMillis how long work must have waited for capacity alone before it gets a backfill reservation; empty
 *     = it never gets one
 * @param backfillReservations the maximum number of backfill reservations of one plan
 * @param fairnessWindowMillis half-life of past use in the fair share; empty = only current use counts
 * @param staleGangGraceMillis how long a workload that lost workers which it cannot run without waits for their
 *     replacements; empty = without end
 * @param entryPenaltyMillis the run time that a start adds to past use in advance
 * @param moveSearches the number of nodes or domains that one plan tries to clear by moves; beyond it, the next plan
 *     continues
 */
public record Settings(
        long minRuntimeMillis,
        long reclaimMinRuntimeMillis,
        long graceMillis,
        Spill spill,
        Borrow borrow,
        boolean consolidate,
        Reclaim reclaim,
        OptionalLong patienceMillis,
        int backfillReservations,
        OptionalLong fairnessWindowMillis,
        OptionalLong staleGangGraceMillis,
        long entryPenaltyMillis,
        int moveSearches) {

    /** Small cells never use it up; in large ones, it bounds the time of a plan. */
    public static final int DEFAULT_MOVE_SEARCHES = 256;

    /** With more backfill reservations than this at a time, no capacity would remain for other work. */
    public static final int DEFAULT_BACKFILL_RESERVATIONS = 64;

    public static final Settings DEFAULT = new Settings(
            0,
            0,
            0,
            Spill.BEFORE_PREEMPTING,
            Borrow.BEFORE_RECLAIMING,
            true,
            Reclaim.FAIR_SHARE,
            OptionalLong.empty(),
            DEFAULT_BACKFILL_RESERVATIONS,
            OptionalLong.empty(),
            OptionalLong.empty(),
            0,
            DEFAULT_MOVE_SEARCHES);

    public Settings {
        if (minRuntimeMillis < 0 || reclaimMinRuntimeMillis < 0 || graceMillis < 0 || entryPenaltyMillis < 0) {
            throw new IllegalArgumentException("durations must not be negative");
        }
        if (backfillReservations < 1) {
            throw new IllegalArgumentException("the maximum number of backfill reservations must be at least 1");
        }
        if (moveSearches < 1) {
            throw new IllegalArgumentException("the number of searches for moves must be at least 1");
        }
        if (entryPenaltyMillis > 0 && fairnessWindowMillis.isEmpty()) {
            throw new IllegalArgumentException("an entry penalty requires a fairness window");
        }
    }

    /** How long work must have run before the engine may evict it for any preemptor. */
    public long longestMinRuntimeMillis() {
        return Math.max(minRuntimeMillis, reclaimMinRuntimeMillis);
    }

    /** A builder that starts with these settings. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Whether the planner tries every pool for free capacity before it evicts work in any, or tries pool by pool. */
    public enum Spill {
        BEFORE_PREEMPTING,
        AFTER_PREEMPTING
    }

    /** The first attempt of work with several pools that can reclaim its share in one and borrow in another. */
    public enum Borrow {
        BEFORE_RECLAIMING,
        AFTER_RECLAIMING
    }

    /** The rights by which work may reclaim capacity from another group. */
    public enum Reclaim {
        /** By reservation, and by fair share of spare capacity. */
        FAIR_SHARE,
        /** By reservation only. */
        RESERVED,
        NONE
    }

    /** Builder of settings. */
    public static final class Builder {
        private long minRuntimeMillis;
        private long reclaimMinRuntimeMillis;
        private long graceMillis;
        private Spill spill;
        private Borrow borrow;
        private boolean consolidate;
        private Reclaim reclaim;
        private OptionalLong patienceMillis;
        private int backfillReservations;
        private OptionalLong fairnessWindowMillis;
        private OptionalLong staleGangGraceMillis;
        private long entryPenaltyMillis;
        private int moveSearches;

        private Builder(Settings from) {
            minRuntimeMillis = from.minRuntimeMillis;
            reclaimMinRuntimeMillis = from.reclaimMinRuntimeMillis;
            graceMillis = from.graceMillis;
            spill = from.spill;
            borrow = from.borrow;
            consolidate = from.consolidate;
            reclaim = from.reclaim;
            patienceMillis = from.patienceMillis;
            backfillReservations = from.backfillReservations;
            fairnessWindowMillis = from.fairnessWindowMillis;
            staleGangGraceMillis = from.staleGangGraceMillis;
            entryPenaltyMillis = from.entryPenaltyMillis;
            moveSearches = from.moveSearches;
        }

        public Builder minRuntimeMillis(long millis) {
            minRuntimeMillis = millis;
            return this;
        }

        public Builder reclaimMinRuntimeMillis(long millis) {
            reclaimMinRuntimeMillis = millis;
            return this;
        }

        public Builder graceMillis(long millis) {
            graceMillis = millis;
            return this;
        }

        public Builder spill(Spill when) {
            spill = when;
            return this;
        }

        public Builder borrow(Borrow when) {
            borrow = when;
            return this;
        }

        public Builder consolidate(boolean may) {
            consolidate = may;
            return this;
        }

        public Builder reclaim(Reclaim what) {
            reclaim = what;
            return this;
        }

        public Builder patienceMillis(OptionalLong millis) {
            patienceMillis = millis;
            return this;
        }

        public Builder backfillReservations(int count) {
            backfillReservations = count;
            return this;
        }

        public Builder fairnessWindowMillis(OptionalLong millis) {
            fairnessWindowMillis = millis;
            return this;
        }

        public Builder staleGangGraceMillis(OptionalLong millis) {
            staleGangGraceMillis = millis;
            return this;
        }

        public Builder entryPenaltyMillis(long millis) {
            entryPenaltyMillis = millis;
            return this;
        }

        public Builder moveSearches(int count) {
            moveSearches = count;
            return this;
        }

        public Settings settings() {
            return new Settings(
                    minRuntimeMillis,
                    reclaimMinRuntimeMillis,
                    graceMillis,
                    spill,
                    borrow,
                    consolidate,
                    reclaim,
                    patienceMillis,
                    backfillReservations,
                    fairnessWindowMillis,
                    staleGangGraceMillis,
                    entryPenaltyMillis,
                    moveSearches);
        }
    }
}
