package io.quartermaster.agent;

import java.util.random.RandomGenerator;

/**
 * The wait before the next call after a failed one. The wait doubles with each failure up to a limit. Random jitter
 * shortens it by up to a half, so that not all nodes call at the same time.
 *
 * <p>While a lease is valid, the wait is a small part of it: supervisors stop work when a quarter of the lease is left,
 * and one failed call must not cause that. Threads: the agent's loop only.
 */
final class RetryPause {
    /** The longest wait, as a fraction of the lease: four seconds of the usual sixty. */
    private static final int LEASE_DIVISOR = 15;

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

    void recordSuccess() {
        failures = 0;
    }

    /**
     * The wait after another failure.
     *
     * @param leaseMillis the length of the lease, 0 if it is not valid
     * @param asksAgain whether the service answered and asks for another call in a moment
     */
    long nextPauseMillis(long leaseMillis, boolean asksAgain) {
        long full = asksAgain ? minMillis : Math.min(maxMillis, minMillis << Math.min(failures, 20));
        failures = asksAgain ? 1 : failures + 1;
        if (leaseMillis > 0) {
            full = Math.min(full, Math.max(1, leaseMillis / LEASE_DIVISOR));
        }
        return full - random.nextLong(full / 2 + 1);
    }
}
