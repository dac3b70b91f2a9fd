package io.quartermaster.engine.quota;

/** Compares ratios of amounts without dividing them. Anything over 0 is greater than every other ratio. */
public final class Ratio {
    private Ratio() {}

    /** Compares {@code a / b} with {@code c / d}. They are equal if both divisors are 0. */
    public static int compare(long a, long b, long c, long d) {
        if (b == 0 || d == 0) {
            return Boolean.compare(b == 0, d == 0);
        }
        return Long.compare(a * d, c * b);
    }
}
