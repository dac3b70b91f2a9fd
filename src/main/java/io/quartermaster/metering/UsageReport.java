package io.quartermaster.metering;

import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.Phase;
import io.quartermaster.ledger.Standing;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.Usage;
import io.quartermaster.ledger.Usage.Dimension;
import io.quartermaster.ledger.UsageClass;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import java.math.BigInteger;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The usage of one tenant over a window: the database adds up closed hours, and the book gives the open rest. The
 * report is the same for every caller; the query determines the role in which it is read.
 */
final class UsageReport {

    /** The rows that were read; a worker thread counts them later. */
    record ReportRows(
            TenantKey tenant,
            UsageRequest.UsageSpec spec,
            UnclosedUsage open,
            UsageSums closedSums,
            Map<String, String> policyNames) {}

    private static final long HOUR_MILLIS = BookState.HOUR_MILLIS;

    private final MeteringConfig config;

    UsageReport(MeteringConfig config) {
        this.config = config;
    }

    /**
     * Reads inside a transaction. Any isolation suffices, because closed hours never change and the last one is read
     * first.
     */
    Uni<ReportRows> read(UsageQuery usageQuery, TenantKey tenant, UsageRequest.UsageSpec spec) {
        return UnclosedUsage.read(usageQuery, tenant, config.openEventsLimit()).chain(open -> closedSums(
                        usageQuery, tenant, spec, open.closed().endMillis())
                .chain(sums -> policyNames(usageQuery, tenant, spec)
                        .map(names -> new ReportRows(tenant, spec, open, sums, names))));
    }

    /** Sums of closed hours: whole hours from their sums where these suffice, and the rest from segments. */
    private Uni<UsageSums> closedSums(
            UsageQuery usageQuery, TenantKey tenant, UsageRequest.UsageSpec spec, long closedUntilMillis) {
        UsageSums sums = new UsageSums(spec.allDimensions());
        long from = spec.window().fromMillis();
        long to = Math.min(spec.window().toMillis(), closedUntilMillis);
        if (from >= to) {
            return Uni.createFrom().item(sums);
        }
        WindowSummer summer = new WindowSummer(usageQuery, tenant, spec.allDimensions(), config.usageRowsLimit(), sums);
        long wholeFrom = from + Math.floorMod(-from, HOUR_MILLIS);
        long wholeTo = to - to % HOUR_MILLIS;
        if (wholeFrom >= wholeTo || !HourSums.cover(spec.dimensions())) {
            return summer.addSegments(from, to).replaceWith(sums);
        }
        return HourSums.areComplete(usageQuery, tenant, wholeFrom, wholeTo)
                .chain(complete -> complete
                        ? summer.addSegments(from, wholeFrom)
                                .chain(() -> summer.addHours(wholeFrom, wholeTo))
                                .chain(() -> summer.addSegments(wholeTo, to))
                        : summer.addSegments(from, to))
                .replaceWith(sums);
    }

    /** Adds sums of parts of the window, in the order of time. */
    private record WindowSummer(
            UsageQuery usageQuery, TenantKey tenant, List<Dimension> dimensions, int limit, UsageSums sums) {

        Uni<Void> addSegments(long from, long to) {
            if (from >= to) {
                return Uni.createFrom().voidItem();
            }
            long firstHour = from - from % HOUR_MILLIS;
            long lastHour = to + Math.floorMod(-to, HOUR_MILLIS);
            return addRows(usageQuery.rows(
                    "select " + columns() + """
                    class, standing, cast(sum(cast(gpu_milli as numeric) * (least(to_ms, $1) - greatest(from_ms, $2)))
                        as text)
                      from segment
                     where tenant_id = $3 and hour_ms > $4 and hour_ms <= $5 and from_ms < $6 and to_ms > $7
                     group by """ + " " + columns() + "class, standing limit $8",
                    to,
                    from,
                    tenant.value(),
                    firstHour,
                    lastHour,
                    to,
                    from,
                    limit + 1L));
        }

        Uni<Void> addHours(long from, long to) {
            return addRows(usageQuery.rows(
                    "select " + columns() + "class, standing, cast(sum(gpu_milli_ms) as text) from usage_hour "
                            + "where tenant_id = $1 and hour_ms > $2 and hour_ms <= $3 group by " + columns()
                            + "class, standing limit $4",
                    tenant.value(),
                    from,
                    to,
                    limit + 1L));
        }

        private String columns() {
            return dimensions.stream()
                    .map(dimension -> UsageSums.column(dimension) + ", ")
                    .collect(Collectors.joining());
        }

        private Uni<Void> addRows(Uni<List<Object[]>> rows) {
            return rows.invoke(found -> {
                        found.forEach(row -> UsageReport.addRow(sums, dimensions, new UsageQuery.Reader(row)));
                        refuseTooMany(found.size(), limit);
                    })
                    .replaceWithVoid();
        }
    }

    private static void addRow(UsageSums sums, List<Dimension> dimensions, UsageQuery.Reader row) {
        SortedMap<Dimension, String> key = new TreeMap<>();
        for (Dimension dimension : dimensions) {
            String stored = row.textOrNull();
            if (stored != null) {
                key.put(dimension, UsageSums.keyText(dimension, stored));
            }
        }
        UsageClass usageClass = EnumNames.stored(UsageClass.class, row.text("class"));
        Optional<Standing> standing =
                Optional.ofNullable(row.textOrNull()).map(word -> EnumNames.stored(Standing.class, word));
        sums.add(key, usageClass, standing, new BigInteger(row.text("sum")));
    }

    private static Uni<Map<String, String>> policyNames(
            UsageQuery usageQuery, TenantKey tenant, UsageRequest.UsageSpec spec) {
        if (!spec.dimensions().contains(Dimension.POLICY)) {
            return Uni.createFrom().item(Map.of());
        }
        return usageQuery
                .rows("select cast(id as text), name from policy where tenant_id = $1", tenant.value())
                .map(rows -> {
                    Map<String, String> names = new HashMap<>();
                    for (Object[] values : rows) {
                        UsageQuery.Reader row = new UsageQuery.Reader(values);
                        names.put(row.text("id"), row.text("name"));
                    }
                    return names;
                });
    }

    /** Adds the open part and returns the answer. */
    UsageApi.View toView(ReportRows reportRows) {
        UsageWindow usageWindow = reportRows.spec().window();
        long closedUntil = reportRows.open().closed().endMillis();
        UsageSums sums = reportRows.closedSums();
        boolean complete = usageWindow.toMillis() <= closedUntil;
        if (!complete) {
            sums.add(reportRows.open().segments(usageWindow.toMillis()), usageWindow);
        }
        refuseTooMany(sums.size(), config.usageRowsLimit());
        long asOf = Math.min(usageWindow.toMillis(), Math.max(reportRows.open().stampMillis(), closedUntil));
        return new UsageApi.View(
                reportRows.tenant().value(),
                Instant.ofEpochMilli(usageWindow.fromMillis()),
                Instant.ofEpochMilli(usageWindow.toMillis()),
                reportRows.spec().granularity(),
                reportRows.spec().dimensions().stream().map(EnumNames::of).toList(),
                complete,
                Instant.ofEpochMilli(asOf),
                closedUntil == 0 ? null : Instant.ofEpochMilli(closedUntil),
                sums.rows().stream()
                        .map(row -> row(row, reportRows.policyNames()))
                        .toList(),
                UsageApi.Totals.of(sums.total()));
    }

    private static void refuseTooMany(int rows, int limit) {
        if (rows > limit) {
            throw ProblemException.refused(
                    "too-many-rows",
                    "groupBy",
                    "the answer would have more than " + limit + " rows",
                    "fewer dimensions, a shorter window, or the export");
        }
    }

    private static UsageApi.Row row(Usage.Row row, Map<String, String> policyNames) {
        SortedMap<Dimension, String> key = row.key();
        @Nullable String policy = key.get(Dimension.POLICY);
        return new UsageApi.Row(
                mapOrNull(key.get(Dimension.HOUR), text -> Instant.ofEpochMilli(Long.parseLong(text))),
                key.get(Dimension.POOL),
                mapOrNull(key.get(Dimension.CLASS), UsageClass::valueOf),
                mapOrNull(key.get(Dimension.STANDING), Standing::valueOf),
                mapOrNull(key.get(Dimension.PHASE), Phase::valueOf),
                mapOrNull(key.get(Dimension.PREEMPTIBLE), Boolean::valueOf),
                key.get(Dimension.GROUP),
                policy,
                mapOrNull(policy, policyNames::get),
                key.get(Dimension.PROFILE),
                key.get(Dimension.QUEUE),
                key.get(Dimension.WORKLOAD),
                key.get(Dimension.USER),
                key.get(Dimension.CLUSTER),
                UsageApi.Totals.of(row.totals()));
    }

    private static <T> @Nullable T mapOrNull(
            @Nullable String text, java.util.function.Function<String, @Nullable T> parser) {
        return text == null ? null : parser.apply(text);
    }
}
