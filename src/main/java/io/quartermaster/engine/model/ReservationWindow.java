package io.quartermaster.engine.model;

/**
 * A window of the calendar in which an amount of a pool is a tenant's or a group's. It raises what is reserved for its holder, and the
 * holder's limit with it. Where no quota names the holder in the pool it means nothing.
 *
 * @param lendable whether others may use what of it is idle
 * @param fromMillis its first moment
 * @param untilMillis the first moment after it
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
            throw new IllegalArgumentException("a capacity reservation is of more than nothing: " + gpuMilli);
        }
        if (untilMillis <= fromMillis) {
            throw new IllegalArgumentException("a capacity reservation ends after it begins");
        }
    }

    /** Whether it holds at a moment. */
    public boolean isOpenAt(long millis) {
        return fromMillis <= millis && millis < untilMillis;
    }
}
