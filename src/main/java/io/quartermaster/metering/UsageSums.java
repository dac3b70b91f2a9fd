package io.quartermaster.metering;

import io.quartermaster.ledger.GpuTime;
import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.Standing;
import io.quartermaster.ledger.Usage;
import io.quartermaster.ledger.Usage.Dimension;
import io.quartermaster.ledger.UsageClass;
import io.quartermaster.platform.EnumNames;
import java.math.BigInteger;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Sums usage of two sources under the same keys: the database's sums over closed hours, and the segments of the open
 * book. Rows are sorted by the dimensions in the order of the request; rows without a dimension come first.
 */
final class UsageSums {

    private final List<Dimension> dimensions;
    private final TreeMap<SortedMap<Dimension, String>, Usage.Totals> rows;
    private Usage.Totals total = Usage.Totals.ZERO;

    UsageSums(List<Dimension> dimensions) {
        this.dimensions = List.copyOf(dimensions);
        Comparator<SortedMap<Dimension, String>> order = (a, b) -> 0;
        for (Dimension dimension : this.dimensions) {
            order = order.thenComparing(key -> key.getOrDefault(dimension, ""));
        }
        this.rows = new TreeMap<>(order);
    }

    /** Adds open segments, as far as they lie in the window. */
    void add(List<Segment> segments, UsageWindow usageWindow) {
        Usage usage = new Usage(dimensions);
        for (Segment segment : segments) {
            long from = Math.max(segment.fromMillis(), usageWindow.fromMillis());
            long to = Math.min(segment.toMillis(), usageWindow.toMillis());
            if (from < to) {
                usage.add(new Segment(
                        segment.tenant(),
                        segment.pool(),
                        segment.usageClass(),
                        segment.held(),
                        segment.gpuMilli(),
                        from,
                        to));
            }
        }
        usage.rows().forEach(row -> add(row.key(), row.totals()));
    }

    /** Adds a sum over closed segments of one class and standing. */
    void add(SortedMap<Dimension, String> key, UsageClass usageClass, Optional<Standing> standing, BigInteger sum) {
        GpuTime amount = new GpuTime(sum);
        add(
                key,
                new Usage.Totals(
                        usageClass == UsageClass.RESERVED ? amount : GpuTime.ZERO,
                        usageClass == UsageClass.ON_DEMAND ? amount : GpuTime.ZERO,
                        usageClass == UsageClass.RESERVED_IDLE ? amount : GpuTime.ZERO,
                        usageClass == UsageClass.RESERVED_UNMET ? amount : GpuTime.ZERO,
                        standing.equals(Optional.of(Standing.WITHIN)) ? amount : GpuTime.ZERO,
                        standing.equals(Optional.of(Standing.OVER_QUOTA)) ? amount : GpuTime.ZERO));
    }

    private void add(SortedMap<Dimension, String> key, Usage.Totals totals) {
        rows.merge(key, totals, Usage.Totals::plus);
        total = total.plus(totals);
    }

    List<Usage.Row> rows() {
        return rows.entrySet().stream()
                .map(row -> new Usage.Row(row.getKey(), row.getValue()))
                .toList();
    }

    Usage.Totals total() {
        return total;
    }

    int size() {
        return rows.size();
    }

    /** The key of a stored word: the name of its constant, as {@link Usage} has it. */
    static String keyText(Dimension dimension, String stored) {
        return switch (dimension) {
            case CLASS -> EnumNames.stored(UsageClass.class, stored).name();
            case STANDING -> EnumNames.stored(Standing.class, stored).name();
            case PHASE ->
                EnumNames.stored(io.quartermaster.ledger.Phase.class, stored).name();
            case HOUR, POOL, PREEMPTIBLE, GROUP, POLICY, PROFILE, QUEUE, WORKLOAD, USER, CLUSTER -> stored;
        };
    }

    /** The column, or the expression, that gives the dimension of a closed segment. */
    static String column(Dimension dimension) {
        return switch (dimension) {
            case HOUR -> "cast(hour_ms - 3600000 as text)";
            case POOL -> "pool";
            case CLASS -> "class";
            case STANDING -> "standing";
            case PHASE -> "phase";
            case PREEMPTIBLE -> "cast(preemptible as text)";
            case GROUP -> "group_path";
            case POLICY -> "cast(policy_id as text)";
            case PROFILE -> "profile";
            case QUEUE -> "queue";
            case WORKLOAD -> "cast(workload_id as text)";
            case USER -> "submitted_by";
            case CLUSTER -> "cluster";
        };
    }
}
