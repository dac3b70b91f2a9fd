package io.quartermaster.capacity.inventory;

import io.quartermaster.engine.model.Hours;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.http.ProblemException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.DateTimeException;
import java.time.DayOfWeek;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** A pool's opening hours, in the form of the API and of the stored row. */
@Schema(name = "PoolHours", description = "Weekly opening hours of the pool; outside them no work starts in it.")
public record PoolHours(
        @Schema(description = "time zone of the times", examples = "Europe/Berlin", required = true) @Nullable
        String timeZone,

        @Schema(description = "the pool is closed outside these spans; empty: always open", required = true) @Nullable
        List<Span> open,

        @Schema(
                description = "what the leader does with running work when the pool closes. go-on (the "
                        + "default): it continues. preempt: it is stopped and waits again; a workload "
                        + "with a maximum run time starts only if it would end before that")
        Hours.@Nullable AtClose atClose) {

    /** A larger number is a mistake. */
    private static final int MAX_SPANS = 50;

    @Schema(name = "PoolHoursSpan")
    public record Span(
            @Schema(
                    description = "days on which the span begins",
                    examples = "[\"monday\",\"tuesday\"]",
                    required = true)
            @Nullable
            List<@Nullable DayOfWeek> days,

            @Schema(examples = "08:00", required = true) @Nullable
            String from,

            @Schema(
                    description = "first minute after the span; if it is not later than from, it is on the next day",
                    examples = "18:00",
                    required = true)
            @Nullable
            String to) {}

    /** Reports the errors of requested hours. */
    static void check(ProblemException.Invalid problems, @Nullable PoolHours hours) {
        if (hours == null) {
            return;
        }
        problems.check(
                hours.zone().isPresent(),
                "hours.timeZone",
                "is not a time zone",
                "a time zone of the IANA database, such as Europe/Berlin");
        if (hours.open == null || hours.open.size() > MAX_SPANS) {
            problems.add("hours.open", "is missing or too long", "at most " + MAX_SPANS + " spans; none: always open");
            return;
        }
        for (int i = 0; i < hours.open.size(); i++) {
            problems.check(
                    !spans(hours.open.get(i)).isEmpty(),
                    "hours.open[" + i + "]",
                    "is not a span",
                    "days, and from and to as 08:00, from 00:00 to 24:00");
        }
    }

    private Optional<ZoneId> zone() {
        try {
            return Optional.ofNullable(timeZone).map(ZoneId::of);
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    /** One span for each of its days; empty where the request is invalid. */
    private static List<Hours.Span> spans(@Nullable Span asked) {
        List<Hours.Span> spans = new ArrayList<>();
        if (asked == null || asked.days == null || asked.from == null || asked.to == null) {
            return spans;
        }
        try {
            for (DayOfWeek day : asked.days) {
                if (day == null) {
                    return List.of();
                }
                spans.add(Hours.Span.between(day, asked.from, asked.to));
            }
        } catch (IllegalArgumentException e) {
            return List.of();
        }
        return spans;
    }

    /** The hours with their defaults; absent where the pool is always open. */
    static @Nullable PoolHours normalize(@Nullable PoolHours hours) {
        return hours == null || hours.open == null || hours.open.isEmpty()
                ? null
                : new PoolHours(
                        hours.timeZone, hours.open, hours.atClose == null ? Hours.AtClose.GO_ON : hours.atClose);
    }

    /** The hours as the engine's value; they passed the checks before. */
    private Hours toEngine() {
        List<Hours.Span> spans = new ArrayList<>();
        (open == null ? List.<Span>of() : open).forEach(span -> spans.addAll(spans(span)));
        return new Hours(zone().orElseThrow(), spans, atClose == null ? Hours.AtClose.GO_ON : atClose);
    }

    static @Nullable JsonObject toJson(@Nullable PoolHours hours) {
        if (hours == null) {
            return null;
        }
        JsonArray spans = new JsonArray();
        for (Span span : hours.open == null ? List.<Span>of() : hours.open) {
            JsonArray days = new JsonArray();
            (span.days == null ? List.<DayOfWeek>of() : span.days).forEach(day -> days.add(EnumNames.of(day)));
            spans.add(new JsonObject().put("days", days).put("from", span.from).put("to", span.to));
        }
        return new JsonObject()
                .put("timeZone", hours.timeZone)
                .put("open", spans)
                .put("atClose", EnumNames.of(hours.atClose == null ? Hours.AtClose.GO_ON : hours.atClose));
    }

    static @Nullable PoolHours fromJson(@Nullable JsonObject stored) {
        if (stored == null) {
            return null;
        }
        List<Span> spans = new ArrayList<>();
        for (Object each : stored.getJsonArray("open")) {
            JsonObject span = (JsonObject) each;
            List<@Nullable DayOfWeek> days = new ArrayList<>();
            span.getJsonArray("days").forEach(day -> days.add(EnumNames.stored(DayOfWeek.class, (String) day)));
            spans.add(new Span(days, span.getString("from"), span.getString("to")));
        }
        return new PoolHours(
                stored.getString("timeZone"),
                spans,
                EnumNames.stored(Hours.AtClose.class, stored.getString("atClose")));
    }

    /** The stored hours of a pool as the engine's value. */
    public static Optional<Hours> stored(@Nullable JsonObject stored) {
        return Optional.ofNullable(fromJson(stored)).map(PoolHours::toEngine);
    }
}
