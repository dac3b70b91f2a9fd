package io.quartermaster.platform.db;

import java.time.Duration;
import java.util.Optional;

/** By when a transaction must be over, on this process's monotonic clock; without a bound, never. */
final class TransactionDeadline {

    private final Optional<Duration> whole;
    private final long begunNanos = System.nanoTime();

    TransactionDeadline(Optional<Duration> whole) {
        this.whole = whole;
    }

    /** The time given, or what is left where that is less. Throws when nothing is left. */
    Duration within(Duration timeout) {
        if (whole.isEmpty()) {
            return timeout;
        }
        Duration left = whole.get().minusNanos(System.nanoTime() - begunNanos);
        if (left.isZero() || left.isNegative()) {
            throw new TransactionTimeoutException(
                    "the transaction took longer than " + whole.get() + " and was given up");
        }
        return left.compareTo(timeout) < 0 ? left : timeout;
    }
}
