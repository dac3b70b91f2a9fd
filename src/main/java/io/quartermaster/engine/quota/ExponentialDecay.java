package io.quartermaster.engine.quota;

import java.math.BigInteger;

/**
 * Exponential decay in integers: 2 to the power of minus time over half-life. It multiplies binary fractions of the
 * exponent, so that every machine computes the same value.
 */
final class ExponentialDecay {
    private static final int BITS = 63;
    private static final int FRACTION_BITS = 40;

    /** 2^(-1/2), 2^(-1/4), ... in units of 2^-63. */
    private static final long[] ROOTS = roots();

    private final long millis;

    ExponentialDecay(long millis) {
        if (millis < 1) {
            throw new IllegalArgumentException("the half-life must be at least 1 ms: " + millis);
        }
        this.millis = millis;
    }

    private static long[] roots() {
        long[] roots = new long[FRACTION_BITS];
        BigInteger root = BigInteger.ONE.shiftLeft(2 * BITS - 1).sqrt();
        for (int i = 0; i < FRACTION_BITS; i++) {
            roots[i] = root.longValueExact();
            root = root.shiftLeft(BITS).sqrt();
        }
        return roots;
    }

    /** The moving average after a time during which a constant amount was held. */
    long average(long before, long held, long elapsedMillis) {
        if (elapsedMillis <= 0) {
            return before;
        }
        long left = remainder(elapsedMillis);
        return times(before, left) + held - times(held, left);
    }

    private long remainder(long elapsedMillis) {
        long halvings = elapsedMillis / millis;
        if (halvings >= BITS) {
            return 0;
        }
        long left = Long.MAX_VALUE;
        long rest = elapsedMillis % millis;
        for (long root : ROOTS) {
            rest *= 2;
            if (rest >= millis) {
                rest -= millis;
                left = times(left, root);
            }
        }
        return left >> halvings;
    }

    /** A product with a factor in units of 2^-63. */
    private static long times(long amount, long factor) {
        return Math.multiplyHigh(amount, factor) * 2 + (amount * factor < 0 ? 1 : 0);
    }
}
