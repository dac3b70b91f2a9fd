package io.quartermaster.metering;

import io.quartermaster.ledger.Usage.Dimension;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.http.ProblemException;
import jakarta.ws.rs.QueryParam;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
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
        HOUR
    }

    /** The dimensions that a request may sum by: all but the hour, which the granularity adds. */
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
        CLUSTER;

        Dimension dimension() {
            return Dimension.valueOf(name());
        }
    }

    private static final List<Dimension> DIMENSIONS =
            Arrays.stream(GroupBy.values()).map(GroupBy::dimension).toList();

    @QueryParam("from")
    @Parameter(
            description = "Begin of the window; absent: the first instant of this month (UTC).",
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
    @Parameter(description = "Division of time; absent: `total`.", schema = @Schema(implementation = Granularity.class))
    @Nullable
    String granularity;

    @QueryParam("groupBy")
    @Parameter(
            description = "Dimensions to sum by, repeated or separated by commas. Usage that lacks a "
                    + "dimension (idle capacity has no group) is a row without it.",
            schema = @Schema(type = SchemaType.ARRAY, implementation = GroupBy.class))
    @Nullable
    List<String> groupBy;

    /** The request after the checks. */
    record UsageSpec(UsageWindow window, Granularity granularity, List<Dimension> dimensions) {

        /** The dimensions of the sums, with the hour first where the granularity is hours. */
        List<Dimension> allDimensions() {
            List<Dimension> all = new ArrayList<>(dimensions);
            if (granularity == Granularity.HOUR) {
                all.addFirst(Dimension.HOUR);
            }
            return all;
        }
    }

    /**
     * The text of the parameters, as the scope of page tokens. It is the same for every page of a list, even where the
     * window ends now.
     */
    String scope(UsageSpec spec) {
        return from + " " + to + " " + spec.granularity() + " " + spec.dimensions();
    }

    /** @throws ProblemException with every invalid parameter */
    UsageSpec validate(Instant now) {
        var problems = new ProblemException.Invalid();
        Granularity division = parseGranularity(problems);
        List<Dimension> dimensions = parseDimensions(problems);
        UsageWindow usageWindow = parseWindow(problems, from, to, now);
        problems.throwIfAny();
        return new UsageSpec(usageWindow, division, dimensions);
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

    private List<Dimension> parseDimensions(ProblemException.Invalid problems) {
        List<Dimension> found = new ArrayList<>();
        List<String> given = groupBy == null ? List.of() : groupBy;
        for (String word : given.stream()
                .flatMap(text -> Arrays.stream(text.split(",", -1)))
                .map(String::strip)
                .toList()) {
            DIMENSIONS.stream()
                    .filter(dimension -> EnumNames.of(dimension).equals(word))
                    .findFirst()
                    .ifPresentOrElse(
                            dimension -> {
                                if (!found.contains(dimension)) {
                                    found.add(dimension);
                                }
                            },
                            () -> problems.add(
                                    "groupBy", "\"" + word + "\" is not a dimension of usage", acceptedDimensions()));
        }
        return found;
    }

    private static String acceptedDimensions() {
        return DIMENSIONS.stream().map(EnumNames::of).collect(Collectors.joining(", "));
    }

    /** The window that two parameters state; this month up to now where they are absent. */
    static UsageWindow parseWindow(
            ProblemException.Invalid problems, @Nullable String from, @Nullable String to, Instant now) {
        Instant month = now.atZone(ZoneOffset.UTC)
                .truncatedTo(ChronoUnit.DAYS)
                .withDayOfMonth(1)
                .toInstant();
        long end = problems.instant("to", to).orElse(now).toEpochMilli();
        long begin = problems.instant("from", from).orElse(month).toEpochMilli();
        if (begin > end) {
            problems.add("from", "is after the end of the window", "an instant not after " + Instant.ofEpochMilli(end));
            return new UsageWindow(end, end);
        }
        return new UsageWindow(begin, end);
    }
}
