package io.quartermaster.metering;

import io.quartermaster.ledger.BookState;
import io.quartermaster.platform.ProblemException;
import io.quartermaster.platform.Words;
import jakarta.ws.rs.QueryParam;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/** Which records are wanted, and how written, as query parameters. */
public final class ExportRequest {

    private static final long HOUR_MILLIS = BookState.HOUR_MILLIS;

    @QueryParam("format")
    @Parameter(description = "csv (default) or jsonl")
    @Nullable
    String format;

    @QueryParam("from")
    @Parameter(description = "begin of the first hour; default: of this month (UTC)")
    @Nullable
    String from;

    @QueryParam("to")
    @Parameter(
            description =
                    "end of the last hour; default: the beginning of this one, with provisional=true its end. Records are never cut by the "
                            + "window, so that their ids name the same amounts in every export: begin and end are full hours.")
    @Nullable
    String to;

    @QueryParam("provisional")
    @Parameter(
            description =
                    "whether to add what is not closed yet, marked final=false; without it, a window that is not closed is refused")
    @Nullable
    String provisional;

    /** What was asked for, checked. */
    record Asked(ExportFormat format, Window window, boolean provisional) {}

    /** @throws ProblemException naming everything that cannot be accepted */
    Asked checked(Instant now) {
        var problems = new ProblemException.Invalid();
        boolean withOpen = provisional(problems);
        long thisHour = now.toEpochMilli() - now.toEpochMilli() % HOUR_MILLIS;
        Instant end = Instant.ofEpochMilli(withOpen ? thisHour + HOUR_MILLIS : thisHour);
        Window window = UsageRequest.window(problems, from, to, end);
        fullHour(problems, "from", window.fromMillis());
        fullHour(problems, "to", window.toMillis());
        ExportFormat written = ExportFormat.CSV;
        if (format != null) {
            written = Words.parse(ExportFormat.class, format).orElseGet(() -> {
                problems.add("format", "\"" + format + "\" is not a format", Words.accepted(ExportFormat.class));
                return ExportFormat.CSV;
            });
        }
        problems.throwIfAny();
        return new Asked(written, window, withOpen);
    }

    private boolean provisional(ProblemException.Invalid problems) {
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

    private static void fullHour(ProblemException.Invalid problems, String field, long millis) {
        problems.check(millis % HOUR_MILLIS == 0, field, "it is not a full hour", "such as 2026-11-01T13:00:00Z");
    }
}
