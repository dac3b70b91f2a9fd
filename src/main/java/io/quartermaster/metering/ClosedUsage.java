package io.quartermaster.metering;

import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.LabelState;
import io.quartermaster.ledger.Phase;
import io.quartermaster.ledger.Standing;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.Usage.Dimension;
import io.quartermaster.ledger.UsageClass;
import io.quartermaster.platform.EnumNames;
import io.smallrye.mutiny.Uni;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Adds up a tenant's closed usage in the database: whole hours from their sums where these suffice, and the rest from
 * segments. The rest is what the window cuts of its first and last hour, and hours in which a period begins.
 */
final class ClosedUsage {

    private static final long HOUR_MILLIS = BookState.HOUR_MILLIS;

    private final UsageQuery usageQuery;
    private final TenantKey tenant;
    private final UsageRequest.UsageSpec spec;
    private final UsagePeriods periods;
    private final int limit;
    private final UsageSums sums;

    /**
     * @param limit of the rows of one statement
     * @param sums gets what is read
     */
    ClosedUsage(
            UsageQuery usageQuery,
            TenantKey tenant,
            UsageRequest.UsageSpec spec,
            UsagePeriods periods,
            int limit,
            UsageSums sums) {
        this.usageQuery = usageQuery;
        this.tenant = tenant;
        this.spec = spec;
        this.periods = periods;
        this.limit = limit;
        this.sums = sums;
    }

    /** Adds the usage of the window in closed hours. */
    Uni<Void> read(long closedUntilMillis) {
        long from = spec.window().fromMillis();
        long to = Math.min(spec.window().toMillis(), closedUntilMillis);
        if (from >= to) {
            return Uni.createFrom().voidItem();
        }
        long wholeFrom = from + Math.floorMod(-from, HOUR_MILLIS);
        long wholeTo = to - to % HOUR_MILLIS;
        if (wholeFrom >= wholeTo || !HourSums.cover(spec.dimensions())) {
            return segments(from, to, List.of());
        }
        return HourSums.areComplete(usageQuery, tenant, wholeFrom, wholeTo)
                .chain(complete -> complete
                        ? segments(from, wholeFrom, List.of())
                                .chain(() -> hours(wholeFrom, wholeTo))
                                .chain(() -> segments(wholeTo, to, List.of()))
                        : segments(from, to, List.of()));
    }

    private Uni<Void> hours(long from, long to) {
        Collection<Long> divided = periods.hoursWithBegin().subSet(from + 1, to + 1);
        Uni<Void> whole = sumsOfHours(from, to, divided);
        return divided.isEmpty() ? whole : whole.chain(() -> segments(from, to, divided));
    }

    /** @param only the ends of the hours to add; all hours if there are none */
    private Uni<Void> segments(long from, long to, Collection<Long> only) {
        if (from >= to) {
            return Uni.createFrom().voidItem();
        }
        var statement = new Statement();
        String begin = "greatest(from_ms, " + statement.parameter(from) + ")";
        String end = "least(to_ms, " + statement.parameter(to) + ")";
        String source = "segment s";
        String columns = "";
        if (spec.dimensions().contains(Dimension.PERIOD)) {
            statement.periods = periods.begins();
            source += " cross join periods";
            if (periods.hoursWithBegin().isEmpty()) {
                columns += ", cast(begins[width_bucket(" + begin + ", begins)] as text) as period";
            } else {
                // Each period gets its part of a segment.
                source += " cross join lateral generate_series(width_bucket(" + begin + ", begins), width_bucket(" + end
                        + " - 1, begins)) as place";
                begin = "greatest(" + begin + ", begins[place])";
                end = "least(" + end + ", begins[place + 1])";
                columns += ", cast(begins[place] as text) as period";
            }
        }
        String where = "s.tenant_id = " + statement.parameter(tenant.value()) + " and hour_ms > "
                + statement.parameter(from - from % HOUR_MILLIS) + " and hour_ms <= "
                + statement.parameter(to + Math.floorMod(-to, HOUR_MILLIS)) + " and from_ms < "
                + statement.parameter(to) + " and to_ms > " + statement.parameter(from);
        if (!only.isEmpty()) {
            where += " and hour_ms = any(" + statement.numbers(only) + ")";
        }
        if (spec.label().isPresent()) {
            UsageRequest.Label label = spec.label().get();
            source += " cross join (select cast(" + statement.parameter(label.key()) + " as text) as label_key) k";
            columns += """
                    , case when standing is null then null when labels -> label_key is null then 'undeclared'
                           when labels ->> label_key is null then 'unset' else 'set' end as label_state,
                    labels ->> label_key as label_value""";
            where += isOneOf("labels ->> label_key", label.values(), statement);
        }
        return add(
                statement,
                "(select s.*, cast(gpu_milli as numeric) * (" + end + " - " + begin + ") as amount" + columns + " from "
                        + source + " where " + where + ") u");
    }

    /** @param without the ends of hours that are not added */
    private Uni<Void> sumsOfHours(long from, long to, Collection<Long> without) {
        var statement = new Statement();
        String where = " where tenant_id = " + statement.parameter(tenant.value()) + " and hour_ms > "
                + statement.parameter(from) + " and hour_ms <= " + statement.parameter(to);
        if (!without.isEmpty()) {
            where += " and hour_ms <> all(" + statement.numbers(without) + ")";
        }
        String of = "select hour_ms, pool, class, standing, group_path, queue, submitted_by, gpu_milli_ms as amount";
        String source;
        if (spec.label().isEmpty()) {
            source = of + " from usage_hour" + where;
        } else {
            UsageRequest.Label label = spec.label().get();
            String ofKey = " from usage_label_hour" + where + " and label_key = " + statement.parameter(label.key());
            source = of + ", case when label_value is null then 'unset' else 'set' end as label_state, label_value"
                    + ofKey + isOneOf("label_value", label.values(), statement);
            if (label.values().isEmpty()) {
                // What has no sum for the key began before its declaration.
                source += " union all " + of
                        + ", case when standing is not null then 'undeclared' end, null from usage_hour"
                        + where
                        + " union all " + of.replace("gpu_milli_ms", "-gpu_milli_ms") + ", 'undeclared', null" + ofKey;
            }
        }
        String columns = "*";
        if (spec.dimensions().contains(Dimension.PERIOD)) {
            statement.periods = periods.begins();
            columns = "h.*, cast(begins[width_bucket(hour_ms - 3600000, begins)] as text) as period";
            source = "(" + source + ") h cross join periods";
        } else {
            source = "(" + source + ") h";
        }
        return add(statement, "(select " + columns + " from " + source + ") u");
    }

    private static String isOneOf(String column, List<String> values, Statement statement) {
        return values.isEmpty()
                ? ""
                : values.stream()
                        .map(statement::parameter)
                        .collect(Collectors.joining(", ", " and " + column + " in (", ")"));
    }

    private Uni<Void> add(Statement statement, String source) {
        String columns = spec.dimensions().stream()
                .map(dimension -> column(dimension) + ", ")
                .collect(Collectors.joining());
        String sql =
                statement.begin() + "select " + columns + "class, standing, cast(sum(amount) as text) from " + source
                        + " group by " + columns + "class, standing having sum(amount) <> 0 limit "
                        + statement.parameter(limit + 1L);
        return usageQuery
                .rows(sql, statement.parameters.toArray())
                .invoke(found -> {
                    found.forEach(row -> add(new UsageQuery.Reader(row)));
                    UsageReport.refuseTooMany(found.size(), limit);
                })
                .replaceWithVoid();
    }

    private void add(UsageQuery.Reader row) {
        SortedMap<Dimension, String> key = new TreeMap<>();
        for (Dimension dimension : spec.dimensions()) {
            String stored = row.textOrNull();
            if (stored != null) {
                key.put(dimension, keyText(dimension, stored));
            }
        }
        UsageClass usageClass = EnumNames.stored(UsageClass.class, row.text("class"));
        Optional<Standing> standing =
                Optional.ofNullable(row.textOrNull()).map(word -> EnumNames.stored(Standing.class, word));
        sums.add(key, usageClass, standing, new BigInteger(row.text("sum")));
    }

    /** A statement with its parameters. */
    private static final class Statement {
        private final List<Object> parameters = new ArrayList<>();
        private List<Long> periods = List.of();

        /** The parameter's place. */
        String parameter(Object value) {
            parameters.add(value);
            return "$" + parameters.size();
        }

        /** An array, as text: the drivers do not take arrays alike. */
        String numbers(Collection<Long> numbers) {
            String text = numbers.stream().map(String::valueOf).collect(Collectors.joining(","));
            return "cast(string_to_array(" + parameter(text) + ", ',') as bigint[])";
        }

        /** The periods are read once, and not for each row. */
        String begin() {
            return periods.isEmpty() ? "" : "with periods as materialized (select " + numbers(periods) + " as begins) ";
        }
    }

    /** The key of a stored word: the name of its constant, as {@link io.quartermaster.ledger.Usage} has it. */
    private static String keyText(Dimension dimension, String stored) {
        return switch (dimension) {
            case CLASS -> EnumNames.stored(UsageClass.class, stored).name();
            case STANDING -> EnumNames.stored(Standing.class, stored).name();
            case PHASE -> EnumNames.stored(Phase.class, stored).name();
            case LABEL_STATE -> EnumNames.stored(LabelState.class, stored).name();
            case HOUR, PERIOD, POOL, PREEMPTIBLE, GROUP, POLICY, PROFILE, QUEUE, WORKLOAD, USER, CLUSTER, LABEL_VALUE ->
                stored;
        };
    }

    /** The column, or the expression, that gives the dimension of closed usage. */
    private static String column(Dimension dimension) {
        return switch (dimension) {
            case HOUR -> "cast(hour_ms - 3600000 as text)";
            case PERIOD -> "period";
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
            case LABEL_STATE -> "label_state";
            case LABEL_VALUE -> "label_value";
        };
    }
}
