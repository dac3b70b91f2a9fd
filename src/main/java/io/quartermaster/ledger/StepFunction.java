package io.quartermaster.ledger;

import java.math.BigInteger;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongBinaryOperator;

/** A level over time, in thousandths of a GPU, built from changes in any order; it is 0 before the first change. */
public final class StepFunction {
    /** The first instant from which two levels that should be equal differ. */
    public record Difference(long atMillis, long left, long right) {}

    private final TreeMap<Long, Long> changes = new TreeMap<>();
    private long lastLevel;

    public void changeBy(long atMillis, long byGpuMilli) {
        changes.merge(atMillis, byGpuMilli, Math::addExact);
        lastLevel = Math.addExact(lastLevel, byGpuMilli);
    }

    public void add(long fromMillis, long toMillis, long gpuMilli) {
        changeBy(fromMillis, gpuMilli);
        changeBy(toMillis, -gpuMilli);
    }

    /** Sets the level from {@code atMillis} on, which must not be before an earlier call's instant. */
    public void setLevel(long atMillis, long gpuMilli) {
        changeBy(atMillis, gpuMilli - lastLevel);
    }

    public static StepFunction sum(StepFunction left, StepFunction right) {
        return combine(left, right, Math::addExact);
    }

    public static StepFunction min(StepFunction left, StepFunction right) {
        return combine(left, right, Math::min);
    }

    private static StepFunction combine(StepFunction left, StepFunction right, LongBinaryOperator operator) {
        StepFunction combined = new StepFunction();
        long l = 0;
        long r = 0;
        long before = 0;
        for (long at : instants(left, right)) {
            l += left.changes.getOrDefault(at, 0L);
            r += right.changes.getOrDefault(at, 0L);
            long now = operator.applyAsLong(l, r);
            combined.changeBy(at, now - before);
            before = now;
        }
        return combined;
    }

    private static TreeSet<Long> instants(StepFunction left, StepFunction right) {
        TreeSet<Long> instants = new TreeSet<>(left.changes.keySet());
        instants.addAll(right.changes.keySet());
        return instants;
    }

    /** The first difference between two levels within {@code [fromMillis, toMillis)}. */
    public static Optional<Difference> firstDifference(
            StepFunction left, StepFunction right, long fromMillis, long toMillis) {
        TreeSet<Long> instants = instants(left, right);
        instants.add(fromMillis);
        long l = 0;
        long r = 0;
        for (long at : instants.headSet(toMillis)) {
            l += left.changes.getOrDefault(at, 0L);
            r += right.changes.getOrDefault(at, 0L);
            if (at >= fromMillis && l != r) {
                return Optional.of(new Difference(at, l, r));
            }
        }
        return Optional.empty();
    }

    /** The integral of the level over {@code [fromMillis, toMillis)}. */
    public GpuTime integral(long fromMillis, long toMillis) {
        BigInteger sum = BigInteger.ZERO;
        long level = 0;
        long since = fromMillis;
        for (Map.Entry<Long, Long> change : changes.headMap(toMillis).entrySet()) {
            long at = Math.max(change.getKey(), fromMillis);
            sum = sum.add(BigInteger.valueOf(level).multiply(BigInteger.valueOf(at - since)));
            level += change.getValue();
            since = at;
        }
        return new GpuTime(sum.add(BigInteger.valueOf(level).multiply(BigInteger.valueOf(toMillis - since))));
    }
}
