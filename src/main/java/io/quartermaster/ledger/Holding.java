package io.quartermaster.ledger;

import java.util.Comparator;
import java.util.function.Consumer;

/**
 * An allocation in an open book, with the history of its fill and its phase since the last closed hour. Fill and phase
 * are kept apart because they change for different reasons, and because a phase can be back-dated. They are joined only
 * when segments are computed, so the result is exact.
 */
final class Holding implements Comparable<Holding> {
    static final long NOT_FREED = Long.MAX_VALUE;

    /** The order in which allocations fill a reserved amount. */
    private static final Comparator<Holding> ORDER =
            Comparator.<Holding>comparingLong(h -> h.startMillis).thenComparing(h -> h.allocation);

    /**
     * How much of an allocation is reserved and how much is within its policy; both count from its first thousandth.
     */
    record Fill(long reservedGpuMilli, long withinGpuMilli) {}

    private record PhaseAmount(long gpuMilli, Phase phase) {}

    final AllocationId allocation;
    final PoolKey pool;
    final long gpuMilli;
    final long startMillis;
    final AllocationMarks marks;
    final Timeline<Fill> fills = new Timeline<>();
    final Timeline<Phase> phases = new Timeline<>();
    private long freedMillis = NOT_FREED;

    Holding(AllocationId allocation, PoolKey pool, long gpuMilli, long startMillis, AllocationMarks allocationMarks) {
        this.allocation = allocation;
        this.pool = pool;
        this.gpuMilli = gpuMilli;
        this.startMillis = startMillis;
        this.marks = allocationMarks;
    }

    boolean isLive() {
        return freedMillis == NOT_FREED;
    }

    long freedMillis() {
        return freedMillis;
    }

    void free(long atMillis) {
        freedMillis = atMillis;
    }

    /**
     * The segments before {@code untilMillis}, not yet cut at hours. The first r thousandths are reserved and the first
     * w are within. So the thousandths up to min(r, w) are both, those from max(r, w) on are neither, and those between
     * are one of the two. At any instant there are at most three of the four combinations.
     */
    void forEachSegment(TenantKey tenant, long untilMillis, Consumer<Segment> consumer) {
        long end = Math.min(untilMillis, freedMillis);
        for (UsageClass usageClass : UsageClass.values()) {
            if (usageClass.isHeld()) {
                for (Standing standing : Standing.values()) {
                    Timeline.merge(
                                    fills,
                                    phases,
                                    (fill, phase) -> new PhaseAmount(slice(fill, usageClass, standing), phase))
                            .forEachUntil(end, (from, to, amount) -> {
                                if (amount.gpuMilli() > 0) {
                                    var held = new Segment.Held(allocation, standing, amount.phase(), marks);
                                    consumer.accept(
                                            Segment.held(tenant, pool, usageClass, held, amount.gpuMilli(), from, to));
                                }
                            });
                }
            }
        }
    }

    private long slice(Fill fill, UsageClass usageClass, Standing standing) {
        long first = usageClass == UsageClass.RESERVED ? 0 : fill.reservedGpuMilli();
        long end = usageClass == UsageClass.RESERVED ? fill.reservedGpuMilli() : gpuMilli;
        return switch (standing) {
            case WITHIN -> Math.max(0, Math.min(end, fill.withinGpuMilli()) - first);
            case OVER_QUOTA -> Math.max(0, end - Math.max(first, fill.withinGpuMilli()));
        };
    }

    @Override
    public int compareTo(Holding other) {
        return ORDER.compare(this, other);
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return allocation.hashCode();
    }
}
