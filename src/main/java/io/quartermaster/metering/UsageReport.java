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
    record Read(
            TenantKey tenant,
            UsageRequest.Asked asked,
            Division division,
            UnclosedUsage open,
            UsageSums closedSums,
            Map<String, String> policyNames) {}

    /**
     * How the request divides time, and the label keys that it may name.
     *
     * @param periods none unless the granularity is of the calendar
     */
    private record Division(ZoneId zone, UsagePeriods periods, List<String> labelKeys) {}

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
        return settings(usageQuery, tenant, asked).chain(settings -> {
            Division division = division(asked, settings);
            return UnclosedUsage.read(usageQuery, tenant, config.openEventsLimit())
                    .chain(open -> closedSums(
                                    usageQuery,
                                    tenant,
                                    asked,
                                    division,
                                    open.closed().endMillis())
                            .chain(sums -> policyNames(usageQuery, tenant, asked)
                                    .map(names -> new Read(tenant, asked, division, open, sums, names))));
        });
    }

    /**
     * What a tenant states about its usage.
     *
     * @param labelKeys declared now or earlier
     */
    private record Settings(ZoneId zone, List<String> labelKeys) {}

    private static Uni<Settings> settings(UsageQuery usageQuery, TenantKey tenant, UsageRequest.Asked asked) {
        Settings none = new Settings(ZoneOffset.UTC, List.of());
        if (asked.label().isEmpty() && !asked.granularity().isOfCalendar()) {
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
                    return new Settings(
                            TimeZones.parse(zone)
                                    .orElseThrow(() -> new IllegalStateException("there is no time zone " + zone)),
                            List.of(row.text("label_keys").split(",")));
                });
    }

    /** @throws ProblemException with the keys that there are, if the label of the request is none of them */
    void requireLabelKey(Read read) {
        read.asked().label().map(UsageRequest.Label::key).ifPresent(key -> {
            List<String> known = read.division().labelKeys();
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

    private Division division(UsageRequest.Asked asked, Settings settings) {
        ZoneId zone = asked.zone().orElse(settings.zone());
        if (!asked.granularity().isOfCalendar() || asked.window().isEmpty()) {
            return new Division(zone, UsagePeriods.NONE, settings.labelKeys());
        }
        int limit = config.usageRowsLimit();
        return new Division(
                zone,
                UsagePeriods.of(asked.granularity(), zone, asked.window(), limit)
                        .orElseThrow(() -> tooMany("granularity", limit)),
                settings.labelKeys());
    }

    private Uni<UsageSums> closedSums(
            UsageQuery usageQuery,
            TenantKey tenant,
            UsageRequest.Asked asked,
            Division division,
            long closedUntilMillis) {
        UsageSums sums = new UsageSums(new UsageGrouping(
                asked.dimensions(),
                HOUR_MILLIS,
                division.periods().begins(),
                asked.label().map(UsageRequest.Label::key)));
        return new ClosedUsage(usageQuery, tenant, asked, division.periods(), config.usageRowsLimit(), sums)
                .read(closedUntilMillis)
                .replaceWith(sums);
    }

    private static Uni<Map<String, String>> policyNames(
            UsageQuery usageQuery, TenantKey tenant, UsageRequest.Asked asked) {
        if (!asked.groupsBy(UsageRequest.GroupBy.POLICY)) {
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
            sums.add(
                    read.open().segments(usageWindow.toMillis()),
                    usageWindow,
                    segment -> counts(read.asked().label(), segment));
        }
        refuseTooMany(sums.size(), config.usageRowsLimit());
        long asOf = Math.min(usageWindow.toMillis(), Math.max(read.open().stampMillis(), closedUntil));
        return new UsageApi.View(
                read.tenant().value(),
                Instant.ofEpochMilli(usageWindow.fromMillis()),
                Instant.ofEpochMilli(usageWindow.toMillis()),
                read.asked().granularity(),
                read.asked().groupBy().stream().map(EnumNames::of).toList(),
                read.asked().granularity().isOfCalendar()
                        ? read.division().zone().getId()
                        : null,
                map(read.asked().label().orElse(null), UsageRequest.Label::key),
                complete,
                Instant.ofEpochMilli(asOf),
                closedUntil == 0 ? null : Instant.ofEpochMilli(closedUntil),
                sums.rows().stream().map(row -> row(row, read.policyNames())).toList(),
                UsageApi.Totals.of(sums.all()));
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
                map(key.get(Dimension.HOUR), text -> Instant.ofEpochMilli(Long.parseLong(text))),
                map(key.get(Dimension.PERIOD), text -> Instant.ofEpochMilli(Long.parseLong(text))),
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
                map(key.get(Dimension.LABEL_STATE), LabelState::valueOf),
                key.get(Dimension.LABEL_VALUE),
                UsageApi.Totals.of(row.totals()));
    }

    private static <S, T> @Nullable T map(@Nullable S value, Function<S, @Nullable T> read) {
        return value == null ? null : read.apply(value);
    }
}
