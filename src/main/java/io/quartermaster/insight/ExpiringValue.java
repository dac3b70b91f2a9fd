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

    static final Duration MAX_UNUSED_TIME = Duration.ofSeconds(30);
    static final Duration MAX_AGE = Duration.ofSeconds(10);
    private static final long AGE_PER_COST = 5;

    private final Supplier<V> reader;
    private final ToLongFunction<V> costNanos;
    private final LongSupplier nanos;
    private final Consumer<Runnable> scheduler;

    private @Nullable V value;
    private long readNanos;
    private long lastUsedNanos;
    private boolean releaseScheduled;

    /**
     * @param costNanos the time for reading the value and computing the results that are reused; it may grow
     * @param scheduler runs a task on the same thread after {@link #MAX_UNUSED_TIME}
     */
    ExpiringValue(Supplier<V> reader, ToLongFunction<V> costNanos, LongSupplier nanos, Consumer<Runnable> scheduler) {
        this.reader = reader;
        this.costNanos = costNanos;
        this.nanos = nanos;
        this.scheduler = scheduler;
    }

    /** Returns the value. Rethrows the exceptions of the reading and then keeps no value. */
    V get() {
        long now = nanos.getAsLong();
        lastUsedNanos = now;
        V known = value;
        if (known != null
                && now - readNanos < Math.min(AGE_PER_COST * costNanos.applyAsLong(known), MAX_AGE.toNanos())) {
            return known;
        }
        value = null;
        V read = reader.get();
        readNanos = nanos.getAsLong();
        value = read;
        if (!releaseScheduled) {
            releaseScheduled = true;
            scheduler.accept(this::releaseIfUnused);
        }
        return read;
    }

    /** Releases the unused value. Only one such task is scheduled at a time, however often the value is read. */
    private void releaseIfUnused() {
        if (nanos.getAsLong() - lastUsedNanos < MAX_UNUSED_TIME.toNanos()) {
            scheduler.accept(this::releaseIfUnused);
        } else {
            value = null;
            releaseScheduled = false;
        }
    }
}
