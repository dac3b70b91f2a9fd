package io.quartermaster.engine.benchmark;

import java.util.Arrays;
import java.util.Locale;

/** Measured CPU times, in nanoseconds. */
final class Samples {
    private long[] nanos = new long[1_024];
    private int size;

    void add(long took) {
        if (size == nanos.length) {
            nanos = Arrays.copyOf(nanos, size * 2);
        }
        nanos[size++] = took;
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** The sample below which this many of a thousand are; 1000 is the greatest one. */
    long atPerMille(int perMille) {
        if (isEmpty()) {
            throw new IllegalStateException("there are no samples");
        }
        long[] sorted = Arrays.copyOf(nanos, size);
        Arrays.sort(sorted);
        return sorted[(int) Math.min(size - 1, (long) size * perMille / 1_000)];
    }

    double millis(int perMille) {
        return atPerMille(perMille) / 1e6;
    }

    double medianMillis() {
        return millis(500);
    }

    double maxMillis() {
        return millis(1_000);
    }

    /** The median and the greatest sample. */
    String text() {
        return isEmpty()
                ? "not measured"
                : String.format(Locale.ROOT, "%.3f ms (max %.3f, of %d)", medianMillis(), maxMillis(), size);
    }
}
