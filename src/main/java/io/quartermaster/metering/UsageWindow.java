package io.quartermaster.metering;

/** A stretch of time, {@code [fromMillis, toMillis)}, in epoch milliseconds. */
public record UsageWindow(long fromMillis, long toMillis) {
    public UsageWindow {
        if (fromMillis < 0 || fromMillis > toMillis) {
            throw new IllegalArgumentException("not a window: [" + fromMillis + ", " + toMillis + ")");
        }
    }

    boolean isEmpty() {
        return fromMillis == toMillis;
    }
}
