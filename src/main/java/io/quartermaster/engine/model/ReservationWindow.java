package io.quartermaster.engine.model;

/**
 * Capacity reservation: a calendar window in which an amount of a pool belongs to a tenant or a group. It raises the
 * reserved amount and the limit of its holder. It has no effect if the holder has no quota in the pool.
 *
 * @param lendable whether others may use the idle part
 * @param fromMillis the first moment of the window
 * @param untilMillis the first moment after the window
 */
public record ReservationWindow(
        CapacityReservationId id,
        QuotaPath path,
        PoolId pool,
        long gpuMilli,
        boolean lendable,
        long fromMillis,
        long untilMillis) {

    public ReservationWindow {
        if (gpuMilli <= 0) {
            throw new IllegalArgumentException("the amount of a capacity reservation must be positive: " + gpuMilli);
        }
        if (untilMillis <= fromMillis) {
            throw new IllegalArgumentException("a capacity reservation must end after it begins");
        }
    }

    /** Whether a moment is in the window. */
    public boolean isOpenAt(long millis) {
        return fromMillis <= millis && millis < untilMillis;
    }
}
