package io.quartermaster.dispatch.quarantine;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The number of the leader's cycles that failed in a row, as a gauge. Some fail while the leader searches for a bad
 * inbox row. More failures mean that the cause is elsewhere, and that the leader plans nothing until an operator acts.
 * One thread counts, any thread reads.
 */
public final class FailureStreak {

    /** The number of cycles from one alarm to the next. */
    private static final int FAILURES_PER_ALARM = 60;

    private final int maxSearchCycles;
    private final AtomicLong length = new AtomicLong();

    /** @param maxSearchCycles the most cycles that fail before an inbox row is found to be the cause */
    public FailureStreak(int maxSearchCycles, MeterRegistry metrics) {
        this.maxSearchCycles = maxSearchCycles;
        Gauge.builder("quartermaster.dispatch.failed.cycles", length, AtomicLong::get)
                .description("cycles of the leader that failed in a row; 0 when the last one succeeded")
                .strongReference(true)
                .register(metrics);
    }

    /**
     * Counts a failure. Returns whether to raise an alarm: once no search explains the failures any more, and then at
     * regular intervals.
     */
    public boolean recordFailure() {
        long beyond = length.incrementAndGet() - maxSearchCycles;
        return beyond > 0 && beyond % FAILURES_PER_ALARM == 1;
    }

    public void recordSuccess() {
        length.set(0);
    }

    public long length() {
        return length.get();
    }
}
