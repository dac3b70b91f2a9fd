package io.quartermaster.agent;

import java.util.random.RandomGenerator;

/**
 * How long the agent waits before it calls again after a call that failed. The wait doubles with each failure up to a limit, and is less up
 * to a half at random, so that not all nodes call at once.
 *
 * <p>While a lease holds, the wait is a small part of it: the work is told to end when a quarter of the lease is left, and one call that
 * failed must not cost it that. Threads: the agent's loop only.
 */
final class RetryPause {
    /** Of the lease: two seconds of the usual thirty. */
    private static final int PARTS_OF_LEASE = 15;

    private final long minMillis;
    private final long maxMillis;
    private final RandomGenerator random;
    private int failures;

    RetryPause(long minMillis, long maxMillis, RandomGenerator random) {
        this.minMillis = minMillis;
        this.maxMillis = maxMillis;
        this.random = random;
    }

    /** Whether the last call failed. */
    boolean isFailing() {
        return failures > 0;
    }

    void succeeded() {
        failures = 0;
    }

    /**
     * The wait after another failure.
     *
     * @param leaseMillis the length of the lease, 0 where none holds
     * @param asksAgain the service answered, and asks for a call in a moment
     */
    long afterFailure(long leaseMillis, boolean asksAgain) {
        long full = asksAgain ? minMillis : Math.min(maxMillis, minMillis << Math.min(failures, 20));
        failures = asksAgain ? 1 : failures + 1;
        if (leaseMillis > 0) {
            full = Math.min(full, Math.max(1, leaseMillis / PARTS_OF_LEASE));
        }
        return full - random.nextLong(full / 2 + 1);
    }
}
