package io.quartermaster.ledger;

import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

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
        /** The begin of the {@linkplain UsageGrouping#periodBegins period}, in epoch milliseconds. */
        PERIOD,
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
        CLUSTER,
        /** A {@link LabelState}, for the {@linkplain UsageGrouping#labelKey key} of the grouping. */
        LABEL_STATE,
        /** The value of the label with that key, where the state is {@link LabelState#SET}. */
        LABEL_VALUE
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

    private final UsageGrouping grouping;
    private final TreeSet<Long> periodBegins;
    private final TreeMap<SortedMap<Dimension, String>, Totals> rows;

    /** Sums by these dimensions; without any, all usage is one row. */
    public Usage(UsageGrouping grouping) {
        this.grouping = grouping;
        this.periodBegins = new TreeSet<>(grouping.periodBegins());
        this.rows = new TreeMap<>(orderBy(grouping.dimensions()));
    }

    public static List<Row> sum(Collection<Segment> segments, List<Dimension> dimensions) {
        Usage usage = new Usage(UsageGrouping.by(dimensions));
        segments.forEach(usage::add);
        return usage.rows();
    }

    /** Adds a segment; each of its periods gets the part that lies in it. */
    public void add(Segment segment) {
        if (!grouping.dimensions().contains(Dimension.PERIOD)) {
            addWhole(segment);
            return;
        }
        long from = segment.fromMillis();
        while (from < segment.toMillis()) {
            Long next = periodBegins.higher(from);
            long to = next == null ? segment.toMillis() : Math.min(next, segment.toMillis());
            addWhole(segment.between(from, to));
            from = to;
        }
    }

    private void addWhole(Segment segment) {
        SortedMap<Dimension, String> key = new TreeMap<>();
        for (Dimension dimension : grouping.dimensions()) {
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
            case HOUR ->
                Optional.of(Long.toString(segment.fromMillis() - segment.fromMillis() % grouping.hourMillis()));
            case PERIOD ->
                Optional.ofNullable(periodBegins.floor(segment.fromMillis())).map(begin -> Long.toString(begin));
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
            case LABEL_STATE ->
                allocationMarks.flatMap(m ->
                        grouping.labelKey().map(key -> m.labels().state(key).name()));
            case LABEL_VALUE -> allocationMarks.flatMap(m -> grouping.labelKey().flatMap(m.labels()::value));
        };
    }

    /** The order of rows by these dimensions; a row without a dimension comes before rows with it. */
    public static Comparator<SortedMap<Dimension, String>> orderBy(List<Dimension> dimensions) {
        Comparator<SortedMap<Dimension, String>> order = (a, b) -> 0;
        for (Dimension dimension : dimensions) {
            if (dimension == Dimension.HOUR || dimension == Dimension.PERIOD) {
                // Numbers have no leading zeros, so the longer text is the later hour.
                order = order.thenComparing(
                        key -> key.getOrDefault(dimension, "").length());
            }
            order = order.thenComparing(key -> key.getOrDefault(dimension, ""));
        }
        return order;
    }
}
