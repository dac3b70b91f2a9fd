package io.quartermaster.metering;

import io.quartermaster.ledger.Usage.Dimension;
import io.quartermaster.metering.settings.TimeZones;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.LabelSyntax;
import io.quartermaster.platform.http.ProblemException;
import jakarta.ws.rs.QueryParam;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/** The query parameters that select usage. */
public final class UsageRequest {

    /** The division of time. */
    @Schema(name = "UsageGranularity")
    public enum Granularity {
        TOTAL,
        HOUR,
        DAY,
        WEEK,
        MONTH;

        /** Whether it divides the calendar of a time zone. */
        boolean isOfCalendar() {
            return this == DAY || this == WEEK || this == MONTH;
        }
    }

    /** What a request may sum by, beside time, which the granularity adds. */
    @Schema(name = "UsageGroupBy")
    public enum GroupBy {
        POOL,
        CLASS,
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
        LABEL;

        List<Dimension> dimensions() {
            return this == LABEL
                    ? List.of(Dimension.LABEL_STATE, Dimension.LABEL_VALUE)
                    : List.of(Dimension.valueOf(name()));
        }
    }

    private static final int MAX_LABEL_VALUES = 20;

    @QueryParam("from")
    @Parameter(
            description = "Begin of the window; absent: the first instant of this month, in the time zone of the "
                    + "answer if days, weeks or months are asked for, else in UTC.",
            schema = @Schema(implementation = Instant.class))
    @Nullable
    String from;

    @QueryParam("to")
    @Parameter(
            description = "End of the window, which is not part of it; absent: now.",
            schema = @Schema(implementation = Instant.class))
    @Nullable
    String to;

    @QueryParam("granularity")
    @Parameter(
            description = "Division of time; absent: `total`. Hours are those of UTC. Days, weeks (from Monday) and "
                    + "months are those of `timeZone`.",
            schema = @Schema(implementation = Granularity.class))
    @Nullable
    String granularity;

    @QueryParam("groupBy")
    @Parameter(
            description = "Dimensions to sum by, repeated or separated by commas. Usage that lacks a "
                    + "dimension (idle capacity has no group) is a row without it.",
            schema = @Schema(type = SchemaType.ARRAY, implementation = GroupBy.class))
    @Nullable
    List<String> groupBy;

    @QueryParam("timeZone")
    @Parameter(
            description = "Time zone of days, weeks and months, such as `Europe/Berlin`; absent: the one in the "
                    + "tenant's usage settings, else UTC.")
    @Nullable
    String timeZone;

    @QueryParam("label")
    @Parameter(
            description = "Key of the label that `groupBy=label` and `labelValue` are about: one that the tenant "
                    + "declares, or declared earlier, in its usage settings.")
    @Nullable
    String label;

    @QueryParam("labelValue")
    @Parameter(
            description = "Counts only usage of workloads that had one of these values of the `label` when the "
                    + "allocation began. Repeat the parameter for several values.",
            schema = @Schema(type = SchemaType.ARRAY, implementation = String.class, maxItems = MAX_LABEL_VALUES))
    @Nullable
    List<String> labelValue;

    /**
     * The label that a request is about.
     *
     * @param values only usage with one of these values is counted; all usage if there are none
     */
    record Label(String key, List<String> values) {}

    /**
     * The request after the checks.
     *
     * @param month an instant of the month with whose begin the window begins; empty if the request states the begin
     */
    record UsageSpec(
            UsageWindow window,
            Optional<Instant> month,
            Granularity granularity,
            Optional<ZoneId> zone,
            List<GroupBy> groupBy,
            Optional<Label> label) {

        /** The request with a window that begins with the month of this time zone, if it states no begin. */
        UsageSpec inZone(ZoneId divisionZone) {
            if (month.isEmpty() || !granularity.isOfCalendar()) {
                return this;
            }
            long begin = beginOfMonth(month.get(), divisionZone).toEpochMilli();
            UsageWindow local = new UsageWindow(Math.min(begin, window.toMillis()), window.toMillis());
            return new UsageSpec(local, month, granularity, zone, groupBy, label);
        }

        boolean groupsBy(GroupBy one) {
            return groupBy.contains(one);
        }

        /** The dimensions of the sums, that of time first. */
        List<Dimension> dimensions() {
            List<Dimension> all = new ArrayList<>();
            if (granularity == Granularity.HOUR) {
                all.add(Dimension.HOUR);
            } else if (granularity.isOfCalendar()) {
                all.add(Dimension.PERIOD);
            }
            groupBy.forEach(one -> all.addAll(one.dimensions()));
            return all;
        }
    }

    /**
     * The text of the parameters, as the scope of page tokens. It is the same for every page of a list, even where the
     * window ends now.
     */
    String scope(UsageSpec spec) {
        return from + " " + to + " " + spec.granularity() + " " + spec.zone() + " " + spec.groupBy() + " "
                + spec.label();
    }

    /** @throws ProblemException with every invalid parameter */
    UsageSpec validate(Instant now) {
        var problems = new ProblemException.Invalid();
        Granularity division = parseGranularity(problems);
        List<GroupBy> dimensions = groupBy(problems);
        UsageWindow usageWindow = parseWindow(problems, from, to, now);
        Optional<ZoneId> zone = zone(problems, division);
        Optional<Label> about = label(problems, dimensions.contains(GroupBy.LABEL));
        problems.throwIfAny();
        return new UsageSpec(
                usageWindow, from == null ? Optional.of(now) : Optional.empty(), division, zone, dimensions, about);
    }

    private Optional<ZoneId> zone(ProblemException.Invalid problems, Granularity division) {
        if (timeZone == null) {
            return Optional.empty();
        }
        problems.check(
                division.isOfCalendar(),
                "timeZone",
                "has no effect with granularity " + EnumNames.of(division),
                "granularity day, week or month; or no time zone");
        Optional<ZoneId> zone = TimeZones.parse(timeZone);
        problems.check(zone.isPresent(), "timeZone", "is not a time zone", TimeZones.ACCEPTED);
        return zone;
    }

    private Optional<Label> label(ProblemException.Invalid problems, boolean isGroupedBy) {
        List<String> values = labelValue == null ? List.of() : labelValue;
        if (label == null) {
            problems.check(
                    !isGroupedBy && values.isEmpty(),
                    "label",
                    "is missing: groupBy=label and labelValue are about one label",
                    "the key of a label");
            return Optional.empty();
        }
        problems.check(LabelSyntax.isKey(label), "label", "is not the key of a label", LabelSyntax.KEY_ACCEPTED)
                .check(
                        isGroupedBy || !values.isEmpty(),
                        "label",
                        "has no effect without groupBy=label or labelValue",
                        "one of these parameters beside it")
                .check(
                        values.size() <= MAX_LABEL_VALUES,
                        "labelValue",
                        "there are " + values.size(),
                        "at most " + MAX_LABEL_VALUES)
                .check(
                        values.stream().allMatch(UsageRequest::isLabelValue),
                        "labelValue",
                        "is too long, or not text",
                        "a text up to " + LabelSyntax.MAX_VALUE_CHARS);
        return Optional.of(new Label(label, values.stream().distinct().toList()));
    }

    /** PostgreSQL does not take the character NUL. */
    private static boolean isLabelValue(String value) {
        return value.length() <= LabelSyntax.MAX_VALUE_CHARS && value.indexOf('\0') < 0;
    }

    private Granularity parseGranularity(ProblemException.Invalid problems) {
        if (granularity == null) {
            return Granularity.TOTAL;
        }
        return EnumNames.parse(Granularity.class, granularity).orElseGet(() -> {
            problems.add(
                    "granularity",
                    "\"" + granularity + "\" is not a granularity",
                    EnumNames.accepted(Granularity.class));
            return Granularity.TOTAL;
        });
    }

    private List<GroupBy> groupBy(ProblemException.Invalid problems) {
        List<GroupBy> found = new ArrayList<>();
        List<String> given = groupBy == null ? List.of() : groupBy;
        for (String word : given.stream()
                .flatMap(text -> Arrays.stream(text.split(",", -1)))
                .map(String::strip)
                .toList()) {
            EnumNames.parse(GroupBy.class, word)
                    .ifPresentOrElse(
                            dimension -> {
                                if (!found.contains(dimension)) {
                                    found.add(dimension);
                                }
                            },
                            () -> problems.add(
                                    "groupBy",
                                    "\"" + word + "\" is not a dimension of usage",
                                    EnumNames.accepted(GroupBy.class)));
        }
        return found;
    }

    /** The window that two parameters state; this month up to now where they are absent. */
    static UsageWindow parseWindow(
            ProblemException.Invalid problems, @Nullable String from, @Nullable String to, Instant now) {
        Instant month = beginOfMonth(now, ZoneOffset.UTC);
        long end = problems.instant("to", to).orElse(now).toEpochMilli();
        long begin = problems.instant("from", from).orElse(month).toEpochMilli();
        if (begin > end) {
            problems.add("from", "is after the end of the window", "an instant not after " + Instant.ofEpochMilli(end));
            return new UsageWindow(end, end);
        }
        return new UsageWindow(begin, end);
    }

    private static Instant beginOfMonth(Instant instant, ZoneId zone) {
        return instant.atZone(zone)
                .toLocalDate()
                .withDayOfMonth(1)
                .atStartOfDay(zone)
                .toInstant();
    }
}
