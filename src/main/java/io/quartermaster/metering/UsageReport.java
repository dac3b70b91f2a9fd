package io.quartermaster.metering;

import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.LabelState;
import io.quartermaster.ledger.Phase;
import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.Standing;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.Usage;
import io.quartermaster.ledger.Usage.Dimension;
import io.quartermaster.ledger.UsageClass;
import io.quartermaster.ledger.UsageGrouping;
import io.quartermaster.metering.settings.TimeZones;
import io.quartermaster.metering.settings.UsageSettings;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Function;
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
            Division division,
            UnclosedUsage open,
            UsageSums closedSums,
            Map<String, String> policyNames) {}

    /**
     * How the request divides time.
     *
     * @param periods none unless the granularity is of the calendar
     */
    private record Division(ZoneId zone, UsagePeriods periods) {}

    private static final long HOUR_MILLIS = BookState.HOUR_MILLIS;

    private final MeteringConfig config;

    UsageReport(MeteringConfig config) {
        this.config = config;
    }

    /**
     * Reads inside a transaction. Any isolation suffices, because closed hours never change and the last one is read
     * first.
     *
     * @param requiresLabelKey whether a label that the tenant never declared is refused; else its usage is of no value
     */
    Uni<ReportRows> read(
            UsageQuery usageQuery, TenantKey tenant, UsageRequest.UsageSpec requested, boolean requiresLabelKey) {
        return settings(usageQuery, tenant, requested).chain(settings -> {
            if (requiresLabelKey) {
                requireLabelKey(requested, settings);
            }
            ZoneId zone = zone(requested, settings);
            UsageRequest.UsageSpec spec = requested.inZone(zone);
            Division division = division(spec, zone);
            return UnclosedUsage.read(usageQuery, tenant, config.openEventsLimit())
                    .chain(open -> closedSums(
                                    usageQuery,
                                    tenant,
                                    spec,
                                    division,
                                    open.closed().endMillis())
                            .chain(sums -> policyNames(usageQuery, tenant, spec)
                                    .map(names -> new ReportRows(tenant, spec, division, open, sums, names))));
        });
    }

    /**
     * What a tenant states about its usage.
     *
     * @param labelKeys declared now or earlier
     */
    private record Settings(String timeZone, List<String> labelKeys) {}

    private static Uni<Settings> settings(UsageQuery usageQuery, TenantKey tenant, UsageRequest.UsageSpec spec) {
        Settings none = new Settings(UsageSettings.NONE.timeZone(), List.of());
        if (spec.label().isEmpty() && !spec.granularity().isOfCalendar()) {
            return Uni.createFrom().item(none);
        }
        return usageQuery
                .rows(
                        "select time_zone, array_to_string(label_keys || earlier_label_keys, ',') from usage_settings "
                                + "where tenant_id = $1",
                        tenant.value())
                .map(rows -> {
                    if (rows.isEmpty()) {
                        return none;
                    }
                    UsageQuery.Reader row = new UsageQuery.Reader(rows.getFirst());
                    String zone = row.text("time_zone");
                    String keys = row.text("label_keys");
                    return new Settings(zone, keys.isEmpty() ? List.of() : List.of(keys.split(",")));
                });
    }

    /** The zone whose calendar divides time; UTC where it does not. */
    private static ZoneId zone(UsageRequest.UsageSpec spec, Settings settings) {
        if (!spec.granularity().isOfCalendar()) {
            return ZoneOffset.UTC;
        }
        // The zones that are known depend on the Java runtime, so a stored one may be unknown to this replica.
        return spec.zone()
                .or(() -> TimeZones.parse(settings.timeZone()))
                .orElseThrow(() -> ProblemException.invalid(
                        "timeZone",
                        "is missing, and this service does not know the tenant's own, " + settings.timeZone(),
                        TimeZones.ACCEPTED));
    }

    /** @throws ProblemException with the keys that there are, if the label of the request is none of them */
    private static void requireLabelKey(UsageRequest.UsageSpec spec, Settings settings) {
        spec.label().map(UsageRequest.Label::key).ifPresent(key -> {
            List<String> known = settings.labelKeys();
            if (!known.contains(key)) {
                throw ProblemException.refused(
                        "unknown-label-key",
                        "label",
                        "the tenant never declared the label key \"" + key + "\" for its usage",
                        known.isEmpty()
                                ? "no label, as no key was declared; declare keys in the usage settings"
                                : String.join(", ", known));
            }
        });
    }

    private Division division(UsageRequest.UsageSpec spec, ZoneId zone) {
        if (!spec.granularity().isOfCalendar() || spec.window().isEmpty()) {
            return new Division(zone, UsagePeriods.NONE);
        }
        int limit = config.usageRowsLimit();
        return new Division(
                zone,
                UsagePeriods.of(spec.granularity(), zone, spec.window(), limit)
                        .orElseThrow(() -> tooMany("granularity", limit)));
    }

    private Uni<UsageSums> closedSums(
            UsageQuery usageQuery,
            TenantKey tenant,
            UsageRequest.UsageSpec spec,
            Division division,
            long closedUntilMillis) {
        UsageSums sums = new UsageSums(new UsageGrouping(
                spec.dimensions(),
                HOUR_MILLIS,
                division.periods().begins(),
                spec.label().map(UsageRequest.Label::key)));
        return new ClosedUsage(usageQuery, tenant, spec, division.periods(), config.usageRowsLimit(), sums)
                .read(closedUntilMillis)
                .replaceWith(sums);
    }

    private static Uni<Map<String, String>> policyNames(
            UsageQuery usageQuery, TenantKey tenant, UsageRequest.UsageSpec spec) {
        if (!spec.groupsBy(UsageRequest.GroupBy.POLICY)) {
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
            sums.add(
                    reportRows.open().segments(usageWindow.toMillis()),
                    usageWindow,
                    segment -> counts(reportRows.spec().label(), segment));
        }
        refuseTooMany(sums.size(), config.usageRowsLimit());
        long asOf = Math.min(usageWindow.toMillis(), Math.max(reportRows.open().stampMillis(), closedUntil));
        return new UsageApi.View(
                reportRows.tenant().value(),
                Instant.ofEpochMilli(usageWindow.fromMillis()),
                Instant.ofEpochMilli(usageWindow.toMillis()),
                reportRows.spec().granularity(),
                reportRows.spec().groupBy().stream().map(EnumNames::of).toList(),
                reportRows.spec().granularity().isOfCalendar()
                        ? reportRows.division().zone().getId()
                        : null,
                mapOrNull(reportRows.spec().label().orElse(null), UsageRequest.Label::key),
                complete,
                Instant.ofEpochMilli(asOf),
                closedUntil == 0 ? null : Instant.ofEpochMilli(closedUntil),
                sums.rows().stream()
                        .map(row -> row(row, reportRows.policyNames()))
                        .toList(),
                UsageApi.Totals.of(sums.total()));
    }

    private static boolean counts(Optional<UsageRequest.Label> label, Segment segment) {
        if (label.isEmpty() || label.get().values().isEmpty()) {
            return true;
        }
        return segment.held()
                .flatMap(held -> held.marks().labels().value(label.get().key()))
                .filter(label.get().values()::contains)
                .isPresent();
    }

    static void refuseTooMany(int rows, int limit) {
        if (rows > limit) {
            throw tooMany("groupBy", limit);
        }
    }

    private static ProblemException tooMany(String field, int limit) {
        return ProblemException.refused(
                "too-many-rows",
                field,
                "the answer would have more than " + limit + " rows",
                "fewer dimensions, longer periods, a shorter window, or the export");
    }

    private static UsageApi.Row row(Usage.Row row, Map<String, String> policyNames) {
        SortedMap<Dimension, String> key = row.key();
        @Nullable String policy = key.get(Dimension.POLICY);
        return new UsageApi.Row(
                mapOrNull(key.get(Dimension.HOUR), text -> Instant.ofEpochMilli(Long.parseLong(text))),
                mapOrNull(key.get(Dimension.PERIOD), text -> Instant.ofEpochMilli(Long.parseLong(text))),
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
                mapOrNull(key.get(Dimension.LABEL_STATE), LabelState::valueOf),
                key.get(Dimension.LABEL_VALUE),
                UsageApi.Totals.of(row.totals()));
    }

    private static <S, T> @Nullable T mapOrNull(@Nullable S value, Function<S, @Nullable T> parser) {
        return value == null ? null : parser.apply(value);
    }
}
