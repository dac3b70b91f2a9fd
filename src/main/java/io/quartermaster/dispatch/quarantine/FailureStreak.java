package io.quartermaster.dispatch.quarantine;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Turns of the leader that failed one after the other, as a gauge. While an inbox row is searched for that is to blame, some fail; more
 * than that means that the cause is elsewhere, and that nothing is planned until a person looks. Counted by one thread, read by any.
 */
public final class FailureStreak {

    /** Turns from one alarm to the next. */
    private static final int BETWEEN_ALARMS = 60;

    private final int longestSearch;
    private final AtomicLong inARow = new AtomicLong();

    /** @param longestSearch how many turns fail at most until an inbox row is found to be to blame */
    public FailureStreak(int longestSearch, MeterRegistry metrics) {
        this.longestSearch = longestSearch;
        Gauge.builder("quartermaster.dispatch.failed.turns", inARow, AtomicLong::get)
                .description("turns of the leader that failed one after the other; 0 when the last went well")
                .strongReference(true)
                .register(metrics);
    }

    /** Whether it is time to raise an alarm: when no search explains the failures any more, and from then on now and then. */
    public boolean oneFailed() {
        long beyond = inARow.incrementAndGet() - longestSearch;
        return beyond > 0 && beyond % BETWEEN_ALARMS == 1;
    }

    public void oneWentWell() {
        inARow.set(0);
    }

    public long inARow() {
        return inARow.get();
    }
}
