package io.quartermaster.ledger;

import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Sums segments by any set of dimensions. The sums are exact and do not depend on the order of adding. Rows are sorted
 * by the dimensions in the requested order. Usage without a dimension (idle usage has no group) comes before usage with
 * it.
 */
public final class Usage {
    /** The dimensions that usage can be summed by. */
    public enum Dimension {
        /** The hour's beginning, in epoch milliseconds. */
        HOUR,
        POOL,
        CLASS,
        /** Only held usage has this dimension and those that follow. */
        STANDING,
        PHASE,
        PREEMPTIBLE,
        GROUP,
        POLICY,
        PROFILE,
        QUEUE,
        WORKLOAD,
        USER,
        CLUSTER
    }

    /**
     * Sums by class and by standing, which are two divisions of the same usage and are never added to each other. The
     * held usage is {@code reserved + onDemand} by class, and equally {@code within + overQuota} by standing. The
     * reserved usage is {@code reserved + reservedIdle}. {@code reservedUnmet} is separate from all of them.
     */
    public record Totals(
            GpuTime reserved,
            GpuTime onDemand,
            GpuTime reservedIdle,
            GpuTime reservedUnmet,
            GpuTime within,
            GpuTime overQuota) {
        public static final Totals ZERO =
                new Totals(GpuTime.ZERO, GpuTime.ZERO, GpuTime.ZERO, GpuTime.ZERO, GpuTime.ZERO, GpuTime.ZERO);

        public static Totals of(Segment segment) {
            GpuTime amount = GpuTime.of(segment.gpuMilliMillis());
            UsageClass usageClass = segment.usageClass();
            Optional<Standing> standing = segment.held().map(Segment.Held::standing);
            return new Totals(
                    usageClass == UsageClass.RESERVED ? amount : GpuTime.ZERO,
                    usageClass == UsageClass.ON_DEMAND ? amount : GpuTime.ZERO,
                    usageClass == UsageClass.RESERVED_IDLE ? amount : GpuTime.ZERO,
                    usageClass == UsageClass.RESERVED_UNMET ? amount : GpuTime.ZERO,
                    standing.filter(s -> s == Standing.WITHIN).isPresent() ? amount : GpuTime.ZERO,
                    standing.filter(s -> s == Standing.OVER_QUOTA).isPresent() ? amount : GpuTime.ZERO);
        }

        public Totals plus(Totals other) {
            return new Totals(
                    reserved.plus(other.reserved),
                    onDemand.plus(other.onDemand),
                    reservedIdle.plus(other.reservedIdle),
                    reservedUnmet.plus(other.reservedUnmet),
                    within.plus(other.within),
                    overQuota.plus(other.overQuota));
        }

        /** The usage that allocations held. */
        public GpuTime held() {
            return reserved.plus(onDemand);
        }
    }

    /**
     * The sums of all usage with the same values in every dimension; the key omits dimensions that the usage does not
     * have.
     */
    public record Row(SortedMap<Dimension, String> key, Totals totals) {}

    private final List<Dimension> dimensions;
    private final long hourMillis;
    private final TreeMap<SortedMap<Dimension, String>, Totals> rows;

    /** Sums by these dimensions; without any, all usage is one row. */
    public Usage(List<Dimension> dimensions) {
        this(dimensions, BookState.HOUR_MILLIS);
    }

    /** Sums by hours of another length, for a book with such hours. */
    public Usage(List<Dimension> dimensions, long hourMillis) {
        this.dimensions = List.copyOf(dimensions);
        this.hourMillis = hourMillis;
        this.rows = new TreeMap<>(orderBy(this.dimensions));
    }

    public static List<Row> sum(Collection<Segment> segments, List<Dimension> dimensions) {
        Usage usage = new Usage(dimensions);
        segments.forEach(usage::add);
        return usage.rows();
    }

    public void add(Segment segment) {
        SortedMap<Dimension, String> key = new TreeMap<>();
        for (Dimension dimension : dimensions) {
            value(segment, dimension).ifPresent(value -> key.put(dimension, value));
        }
        rows.merge(Collections.unmodifiableSortedMap(key), Totals.of(segment), Totals::plus);
    }

    public List<Row> rows() {
        return rows.entrySet().stream()
                .map((Map.Entry<SortedMap<Dimension, String>, Totals> row) -> new Row(row.getKey(), row.getValue()))
                .toList();
    }

    private Optional<String> value(Segment segment, Dimension dimension) {
        Optional<Segment.Held> held = segment.held();
        Optional<AllocationMarks> allocationMarks = held.map(Segment.Held::marks);
        return switch (dimension) {
            case HOUR -> Optional.of(Long.toString(segment.fromMillis() - segment.fromMillis() % hourMillis));
            case POOL -> Optional.of(segment.pool().value());
            case CLASS -> Optional.of(segment.usageClass().name());
            case STANDING -> held.map(h -> h.standing().name());
            case PHASE -> held.map(h -> h.phase().name());
            case PREEMPTIBLE -> allocationMarks.map(m -> Boolean.toString(m.preemptible()));
            case GROUP -> allocationMarks.map(AllocationMarks::group);
            case POLICY -> allocationMarks.map(m -> m.policy().value());
            case PROFILE -> allocationMarks.map(AllocationMarks::profile);
            case QUEUE -> allocationMarks.map(AllocationMarks::queue);
            case WORKLOAD -> allocationMarks.map(AllocationMarks::workload);
            case USER -> allocationMarks.map(AllocationMarks::user);
            case CLUSTER -> allocationMarks.map(AllocationMarks::cluster);
        };
    }

    private static Comparator<SortedMap<Dimension, String>> orderBy(List<Dimension> dimensions) {
        Comparator<SortedMap<Dimension, String>> order = (a, b) -> 0;
        for (Dimension dimension : dimensions) {
            if (dimension == Dimension.HOUR) {
                // Numbers have no leading zeros, so the longer text is the later hour.
                order = order.thenComparing(
                        key -> key.getOrDefault(dimension, "").length());
            }
            order = order.thenComparing(key -> key.getOrDefault(dimension, ""));
        }
        return order;
    }
}
