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
    record Read(
            TenantKey tenant,
            UsageRequest.Asked asked,
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
    Uni<Read> read(UsageQuery usageQuery, TenantKey tenant, UsageRequest.Asked asked) {
        return UnclosedUsage.read(usageQuery, tenant, config.openEventsLimit()).chain(open -> closedSums(
                        usageQuery, tenant, asked, open.closed().endMillis())
                .chain(sums -> policyNames(usageQuery, tenant, asked)
                        .map(names -> new Read(tenant, asked, open, sums, names))));
    }

    /** Sums of closed hours: whole hours from their sums where these suffice, and the rest from segments. */
    private Uni<UsageSums> closedSums(
            UsageQuery usageQuery, TenantKey tenant, UsageRequest.Asked asked, long closedUntilMillis) {
        UsageSums sums = new UsageSums(asked.allDimensions());
        long from = asked.window().fromMillis();
        long to = Math.min(asked.window().toMillis(), closedUntilMillis);
        if (from >= to) {
            return Uni.createFrom().item(sums);
        }
        Adding adding = new Adding(usageQuery, tenant, asked.allDimensions(), config.usageRowsLimit(), sums);
        long wholeFrom = from + Math.floorMod(-from, HOUR_MILLIS);
        long wholeTo = to - to % HOUR_MILLIS;
        if (wholeFrom >= wholeTo || !HourSums.have(asked.dimensions())) {
            return adding.segments(from, to).replaceWith(sums);
        }
        return HourSums.complete(usageQuery, tenant, wholeFrom, wholeTo)
                .chain(complete -> complete
                        ? adding.segments(from, wholeFrom)
                                .chain(() -> adding.hours(wholeFrom, wholeTo))
                                .chain(() -> adding.segments(wholeTo, to))
                        : adding.segments(from, to))
                .replaceWith(sums);
    }

    /** Adds sums of parts of the window, in the order of time. */
    private record Adding(
            UsageQuery usageQuery, TenantKey tenant, List<Dimension> dimensions, int limit, UsageSums sums) {

        Uni<Void> segments(long from, long to) {
            if (from >= to) {
                return Uni.createFrom().voidItem();
            }
            long firstHour = from - from % HOUR_MILLIS;
            long lastHour = to + Math.floorMod(-to, HOUR_MILLIS);
            return add(usageQuery.rows(
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

        Uni<Void> hours(long from, long to) {
            return add(usageQuery.rows(
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

        private Uni<Void> add(Uni<List<Object[]>> rows) {
            return rows.invoke(found -> {
                        found.forEach(row -> UsageReport.add(sums, dimensions, new UsageQuery.Reader(row)));
                        refuseTooMany(found.size(), limit);
                    })
                    .replaceWithVoid();
        }
    }

    private static void add(UsageSums sums, List<Dimension> dimensions, UsageQuery.Reader row) {
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
            UsageQuery usageQuery, TenantKey tenant, UsageRequest.Asked asked) {
        if (!asked.dimensions().contains(Dimension.POLICY)) {
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
    UsageApi.View count(Read read) {
        UsageWindow usageWindow = read.asked().window();
        long closedUntil = read.open().closed().endMillis();
        UsageSums sums = read.closedSums();
        boolean complete = usageWindow.toMillis() <= closedUntil;
        if (!complete) {
            sums.add(read.open().segments(usageWindow.toMillis()), usageWindow);
        }
        refuseTooMany(sums.size(), config.usageRowsLimit());
        long asOf = Math.min(usageWindow.toMillis(), Math.max(read.open().stampMillis(), closedUntil));
        return new UsageApi.View(
                read.tenant().value(),
                Instant.ofEpochMilli(usageWindow.fromMillis()),
                Instant.ofEpochMilli(usageWindow.toMillis()),
                read.asked().granularity(),
                read.asked().dimensions().stream().map(EnumNames::of).toList(),
                complete,
                Instant.ofEpochMilli(asOf),
                closedUntil == 0 ? null : Instant.ofEpochMilli(closedUntil),
                sums.rows().stream().map(row -> row(row, read.policyNames())).toList(),
                UsageApi.Totals.of(sums.all()));
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
                map(key.get(Dimension.HOUR), text -> Instant.ofEpochMilli(Long.parseLong(text))),
                key.get(Dimension.POOL),
                map(key.get(Dimension.CLASS), UsageClass::valueOf),
                map(key.get(Dimension.STANDING), Standing::valueOf),
                map(key.get(Dimension.PHASE), Phase::valueOf),
                map(key.get(Dimension.PREEMPTIBLE), Boolean::valueOf),
                key.get(Dimension.GROUP),
                policy,
                map(policy, policyNames::get),
                key.get(Dimension.PROFILE),
                key.get(Dimension.QUEUE),
                key.get(Dimension.WORKLOAD),
                key.get(Dimension.USER),
                key.get(Dimension.CLUSTER),
                UsageApi.Totals.of(row.totals()));
    }

    private static <T> @Nullable T map(@Nullable String text, java.util.function.Function<String, @Nullable T> read) {
        return text == null ? null : read.apply(text);
    }
}
