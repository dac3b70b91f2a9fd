package io.quartermaster.insight;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A value that is costly to read. It is reused for up to five times as long as reading it took, so that it is not read
 * all the time. It is released when no caller uses it any more. Single-threaded.
 */
final class ExpiringValue<V> {

    static final Duration KEPT_UNUSED = Duration.ofSeconds(30);
    static final Duration LONGEST_USE = Duration.ofSeconds(10);
    private static final long USED_PER_COST = 5;

    private final Supplier<V> reading;
    private final ToLongFunction<V> costNanos;
    private final LongSupplier nanos;
    private final Consumer<Runnable> later;

    private @Nullable V value;
    private long readNanos;
    private long askedNanos;
    private boolean letsGo;

    /**
     * @param costNanos the time for reading the value and computing the results that are reused; it may grow
     * @param later runs a task on the same thread after {@link #KEPT_UNUSED}
     */
    ExpiringValue(Supplier<V> reading, ToLongFunction<V> costNanos, LongSupplier nanos, Consumer<Runnable> later) {
        this.reading = reading;
        this.costNanos = costNanos;
        this.nanos = nanos;
        this.later = later;
    }

    /** Returns the value. Rethrows the exceptions of the reading and then keeps no value. */
    V get() {
        long now = nanos.getAsLong();
        askedNanos = now;
        V known = value;
        if (known != null
                && now - readNanos < Math.min(USED_PER_COST * costNanos.applyAsLong(known), LONGEST_USE.toNanos())) {
            return known;
        }
        value = null;
        V read = reading.get();
        readNanos = nanos.getAsLong();
        value = read;
        if (!letsGo) {
            letsGo = true;
            later.accept(this::letGo);
        }
        return read;
    }

    /** Releases the unused value. Only one such task is scheduled at a time, however often the value is read. */
    private void letGo() {
        if (nanos.getAsLong() - askedNanos < KEPT_UNUSED.toNanos()) {
            later.accept(this::letGo);
        } else {
            value = null;
            letsGo = false;
        }
    }
}
