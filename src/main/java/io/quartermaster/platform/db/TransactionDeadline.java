package io.quartermaster.platform.db;

import java.time.Duration;
import java.util.Optional;

/**
 * The moment by which a transaction must end, on this process's monotonic clock; never, for a transaction without a
 * limit.
 */
final class TransactionDeadline {

    private final Optional<Duration> whole;
    private final long begunNanos = System.nanoTime();

    TransactionDeadline(Optional<Duration> whole) {
        this.whole = whole;
    }

    /** The given time, or the remaining time if that is shorter. Throws when no time remains. */
    Duration remaining(Duration timeout) {
        if (whole.isEmpty()) {
            return timeout;
        }
        Duration left = whole.get().minusNanos(System.nanoTime() - begunNanos);
        if (left.isZero() || left.isNegative()) {
            throw new TransactionTimeoutException(
                    "the transaction took longer than " + whole.get() + " and was abandoned");
        }
        return left.compareTo(timeout) < 0 ? left : timeout;
    }
}
