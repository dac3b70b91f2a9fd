package io.quartermaster.ledger;

import java.math.BigInteger;

/**
 * An exact amount of usage in thousandths of a GPU times milliseconds; a GPU-hour is 3,600,000,000 of them. One segment
 * always fits a {@code long}. A sum need not (30,000 GPUs for ten years do not fit), so sums have no bound.
 */
public record GpuTime(BigInteger gpuMilliMillis) implements Comparable<GpuTime> {
    public static final GpuTime ZERO = new GpuTime(BigInteger.ZERO);

    public static GpuTime of(long gpuMilliMillis) {
        return new GpuTime(BigInteger.valueOf(gpuMilliMillis));
    }

    public GpuTime plus(GpuTime other) {
        return new GpuTime(gpuMilliMillis.add(other.gpuMilliMillis));
    }

    @Override
    public int compareTo(GpuTime other) {
        return gpuMilliMillis.compareTo(other.gpuMilliMillis);
    }

    @Override
    public String toString() {
        return gpuMilliMillis.toString();
    }
}
