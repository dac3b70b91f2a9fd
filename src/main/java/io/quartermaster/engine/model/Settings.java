package io.quartermaster.engine.model;

import java.util.OptionalLong;

/**
 * How a cell schedules.
 *
 * @param minRuntimeMillis younger running work is no victim, nor is it moved
 * @param reclaimMinRuntimeMillis the same, against reclaim by another group
 * @param graceMillis how long a victim may keep its devices after it was told to stop
 * @param consolidate whether preemptible work may be moved to make room
 * @param patienceMillis work that waits longer than this for fit alone gets a backfill reservation; absent = never
 * @param backfillReservations the most backfill reservations of one plan
 * @param fairnessWindowMillis half-life of what was used before in the fair share; absent = only the present counts
 * @param staleGangGraceMillis how long a workload that lost workers which it cannot run without waits for others in their place; absent = without end
 * @param entryPenaltyMillis what starts counts in what was used before as if it had run for so long already
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
        long entryPenaltyMillis) {

    /** More backfill reservations than this at a time would keep nothing free for anybody. */
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
            0);

    public Settings {
        if (minRuntimeMillis < 0 || reclaimMinRuntimeMillis < 0 || graceMillis < 0 || entryPenaltyMillis < 0) {
            throw new IllegalArgumentException("durations are not negative");
        }
        if (backfillReservations < 1) {
            throw new IllegalArgumentException("a plan makes at least one backfill reservation");
        }
        if (entryPenaltyMillis > 0 && fairnessWindowMillis.isEmpty()) {
            throw new IllegalArgumentException("an entry penalty needs a fairness window");
        }
    }

    /** How old running work must be before anybody may make it stop. */
    public long longestMinRuntimeMillis() {
        return Math.max(minRuntimeMillis, reclaimMinRuntimeMillis);
    }

    /** These, to be changed. */
    public Builder but() {
        return new Builder(this);
    }

    /** Whether every pool is tried for free room before room is made in any, or pool by pool. */
    public enum Spill {
        BEFORE_PREEMPTING,
        AFTER_PREEMPTING
    }

    /** Of work of several pools: what it tries first where it could have its own back in one, and borrow in another. */
    public enum Borrow {
        BEFORE_RECLAIMING,
        AFTER_RECLAIMING
    }

    /** What another group may be made to give back for. */
    public enum Reclaim {
        /** Reservations, and fair shares of what is spare. */
        FAIR_SHARE,
        /** Reservations only. */
        RESERVED,
        NONE
    }

    /** Settings as they come together. */
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

        public Builder backfillReservations(int most) {
            backfillReservations = most;
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
                    entryPenaltyMillis);
        }
    }
}
