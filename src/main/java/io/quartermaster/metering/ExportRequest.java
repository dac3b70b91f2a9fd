package io.quartermaster.metering;

import io.quartermaster.ledger.BookState;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.http.ProblemException;
import jakarta.ws.rs.QueryParam;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/** The query parameters that select the records of an export, and their format. */
public final class ExportRequest {

    private static final long HOUR_MILLIS = BookState.HOUR_MILLIS;

    @QueryParam("format")
    @Parameter(
            description = "Format of the records; absent: `csv`.",
            schema = @Schema(implementation = ExportFormat.class))
    @Nullable
    String format;

    @QueryParam("from")
    @Parameter(
            description = "Begin of the first hour; absent: the first hour of this month (UTC).",
            schema = @Schema(implementation = Instant.class))
    @Nullable
    String from;

    @QueryParam("to")
    @Parameter(
            description = "End of the last hour; absent: the beginning of this hour, or its end with "
                    + "`provisional=true`. Begin and end are full hours: "
                    + "the window cuts no record, so an id refers to the same amount in every export.",
            schema = @Schema(implementation = Instant.class))
    @Nullable
    String to;

    @QueryParam("provisional")
    @Parameter(
            description = "`true`: adds hours that are not closed yet, marked `final=false`. Otherwise the service "
                    + "refuses a window with such hours.",
            schema = @Schema(type = SchemaType.BOOLEAN, defaultValue = "false"))
    @Nullable
    String provisional;

    /** The request after the checks. */
    record ExportSpec(ExportFormat format, UsageWindow window, boolean provisional) {}

    /** @throws ProblemException with every invalid parameter */
    ExportSpec validate(Instant now) {
        var problems = new ProblemException.Invalid();
        boolean includesOpen = parseProvisional(problems);
        long thisHour = now.toEpochMilli() - now.toEpochMilli() % HOUR_MILLIS;
        Instant end = Instant.ofEpochMilli(includesOpen ? thisHour + HOUR_MILLIS : thisHour);
        UsageWindow usageWindow = UsageRequest.parseWindow(problems, from, to, end);
        requireFullHour(problems, "from", usageWindow.fromMillis());
        requireFullHour(problems, "to", usageWindow.toMillis());
        ExportFormat written = ExportFormat.CSV;
        if (format != null) {
            written = EnumNames.parse(ExportFormat.class, format).orElseGet(() -> {
                problems.add("format", "\"" + format + "\" is not a format", EnumNames.accepted(ExportFormat.class));
                return ExportFormat.CSV;
            });
        }
        problems.throwIfAny();
        return new ExportSpec(written, usageWindow, includesOpen);
    }

    private boolean parseProvisional(ProblemException.Invalid problems) {
        if (provisional == null) {
            return false;
        }
        problems.check(
                provisional.equals("true") || provisional.equals("false"),
                "provisional",
                "\"" + provisional + "\" is neither",
                "true, false");
        return provisional.equals("true");
    }

    private static void requireFullHour(ProblemException.Invalid problems, String field, long millis) {
        problems.check(millis % HOUR_MILLIS == 0, field, "is not a full hour", "such as 2026-11-01T13:00:00Z");
    }
}
