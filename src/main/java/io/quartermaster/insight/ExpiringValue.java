package io.quartermaster.insight;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Something that is costly to read. From the moment it was read it is used again for as long as five times what it cost, so that it is not
 * read all the time, and it is let go when nobody asks any more. One thread.
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
     * @param costNanos what it took to read it and to work out what is used again; may grow
     * @param later runs something on the same thread {@link #KEPT_UNUSED} from then
     */
    ExpiringValue(Supplier<V> reading, ToLongFunction<V> costNanos, LongSupplier nanos, Consumer<Runnable> later) {
        this.reading = reading;
        this.costNanos = costNanos;
        this.nanos = nanos;
        this.later = later;
    }

    /** Throws what the reading throws; nothing is kept then. */
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

    /** There is one such look at a time, however often it is read anew. */
    private void letGo() {
        if (nanos.getAsLong() - askedNanos < KEPT_UNUSED.toNanos()) {
            later.accept(this::letGo);
        } else {
            value = null;
            letsGo = false;
        }
    }
}
