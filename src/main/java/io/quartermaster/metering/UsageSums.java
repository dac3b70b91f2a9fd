package io.quartermaster.metering;

import io.quartermaster.ledger.GpuTime;
import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.Standing;
import io.quartermaster.ledger.Usage;
import io.quartermaster.ledger.Usage.Dimension;
import io.quartermaster.ledger.UsageClass;
import io.quartermaster.ledger.UsageGrouping;
import java.math.BigInteger;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Sums usage of two sources under the same keys: the database's sums over closed hours, and the segments of the open
 * book. Rows are sorted by the dimensions in the order of the request; rows without a dimension come first.
 */
final class UsageSums {

    private final UsageGrouping grouping;
    private final TreeMap<SortedMap<Dimension, String>, Usage.Totals> rows;
    private Usage.Totals total = Usage.Totals.ZERO;

    UsageSums(UsageGrouping grouping) {
        this.grouping = grouping;
        this.rows = new TreeMap<>(Usage.orderBy(grouping.dimensions()));
    }

    /** Adds open segments that count, as far as they lie in the window. */
    void add(List<Segment> segments, UsageWindow usageWindow, Predicate<Segment> counts) {
        Usage usage = new Usage(grouping);
        for (Segment segment : segments) {
            if (!counts.test(segment)) {
                continue;
            }
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
}
