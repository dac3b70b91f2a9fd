package io.quartermaster.cli.load;

import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Measured durations, in nanoseconds. */
public final class LatencyRecorder {

    private final ConcurrentLinkedQueue<Long> nanos = new ConcurrentLinkedQueue<>();

    void add(long durationNanos) {
        nanos.add(durationNanos);
    }

    /** The percentile (nearest rank), in milliseconds; zero without measurements. */
    double percentileMillis(int percent) {
        long[] sorted = nanos.stream().mapToLong(Long::longValue).toArray();
        if (sorted.length == 0) {
            return 0;
        }
        Arrays.sort(sorted);
        int rank = (int) Math.ceil(percent / 100.0 * sorted.length);
        return sorted[Math.max(0, rank - 1)] / 1e6;
    }

    int count() {
        return nanos.size();
    }
}
