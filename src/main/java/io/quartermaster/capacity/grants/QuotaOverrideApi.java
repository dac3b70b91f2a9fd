package io.quartermaster.capacity.grants;

import io.quartermaster.capacity.inventory.MaxLookahead;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.http.ProblemException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.OptionalLong;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** The API for temporary values of a quota's amounts, for allotments and policies. */
public final class QuotaOverrideApi {

    private QuotaOverrideApi() {}

    @Schema(
            name = "QuotaOverrideRequest",
            description = "Temporary values of a quota; after its end the quota has its own values again.")
    public record Request(
            @Schema(description = "replaces reserved; absent: reserved stays") @Nullable
            GpuAmount reserved,

            @Schema(description = "replaces limit; absent: limit stays") @Nullable
            GpuAmount limit,

            @Schema(
                    description = "first moment of the override; absent or past: now",
                    examples = "2026-12-01T08:00:00Z")
            @Nullable
            String from,

            @Schema(description = "first moment after the override", examples = "2026-12-01T18:00:00Z", required = true)
            @Nullable
            String until) {

        /** Returns the override; reports errors, and is then empty. */
        Optional<Quota.Override> check(
                ProblemException.Invalid problems,
                String prefix,
                GpuAmount statedReserved,
                @Nullable GpuAmount statedLimit) {
            Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
            var found = new ProblemException.Invalid();
            found.check(
                    reserved != null || limit != null,
                    prefix,
                    "states nothing",
                    "an override with reserved, limit or both");
            GpuAmount least = reserved == null ? statedReserved : reserved;
            GpuAmount most = limit == null ? statedLimit : limit;
            if (most != null && most.compareTo(least) < 0) {
                if (limit == null) {
                    found.add(prefix + ".reserved", "is more than the limit, " + most, "at most " + most);
                } else {
                    found.add(prefix + ".limit", "is less than reserved, " + least, "at least " + least);
                }
            }
            if (until == null) {
                found.add(prefix + ".until", "is needed", ProblemException.Invalid.TIME_ACCEPTED);
            }
            Optional<Instant> start =
                    found.instant(prefix + ".from", from).map(time -> time.truncatedTo(ChronoUnit.MILLIS));
            Instant end = found.instant(prefix + ".until", until)
                    .orElse(MaxLookahead.latest(now))
                    .truncatedTo(ChronoUnit.MILLIS);
            if (!end.isAfter(now)) {
                found.add(prefix + ".until", "has passed", "a time after " + now);
            } else if (start.isPresent() && !end.isAfter(start.get())) {
                found.add(prefix + ".until", "is not after from", "a time after " + start.get());
            }
            MaxLookahead.check(found, prefix + ".until", end, now);
            if (!found.isEmpty()) {
                problems.addAll(found);
                return Optional.empty();
            }
            return Optional.of(new Quota.Override(
                    milli(reserved),
                    milli(limit),
                    start.map(time -> OptionalLong.of(time.toEpochMilli())).orElse(OptionalLong.empty()),
                    end.toEpochMilli()));
        }

        private static OptionalLong milli(@Nullable GpuAmount amount) {
            return amount == null ? OptionalLong.empty() : OptionalLong.of(amount.milli());
        }
    }

    @Schema(
            name = "QuotaOverride",
            description = "Temporary values of a quota; after its end the quota has its own values again.")
    public record View(
            @Nullable GpuAmount reserved,
            @Nullable GpuAmount limit,
            @Nullable Instant from,
            Instant until) {

        private static View of(Quota.Override override) {
            return new View(
                    amount(override.reservedGpuMilli()),
                    amount(override.limitGpuMilli()),
                    instant(override.fromMillis()),
                    Instant.ofEpochMilli(override.untilMillis()));
        }

        private static @Nullable GpuAmount amount(OptionalLong milli) {
            return milli.isPresent() ? new GpuAmount(milli.getAsLong()) : null;
        }
    }

    /** A time in the form of an answer. */
    public static @Nullable Instant instant(OptionalLong millis) {
        return millis.isPresent() ? Instant.ofEpochMilli(millis.getAsLong()) : null;
    }

    /** A time in the form of a column. */
    public static OptionalLong millis(@Nullable Instant time) {
        return time == null ? OptionalLong.empty() : OptionalLong.of(time.toEpochMilli());
    }

    /** The request that would state the terms' override, if they have one. */
    public static @Nullable Request toRequest(QuotaTerms terms) {
        View view = of(terms);
        Instant from = view == null ? null : view.from();
        return view == null
                ? null
                : new Request(
                        view.reserved(),
                        view.limit(),
                        from == null ? null : from.toString(),
                        view.until().toString());
    }

    /** The terms' override, if they have one. */
    public static @Nullable View of(QuotaTerms terms) {
        return terms.override().map(View::of).orElse(null);
    }

    /** The override from its columns; empty if it is over. */
    public static Optional<Quota.Override> stored(
            @Nullable Long reservedMilli,
            @Nullable Long limitMilli,
            @Nullable Instant from,
            @Nullable Instant until,
            Instant now) {
        return until == null || !until.isAfter(now)
                ? Optional.empty()
                : Optional.of(new Quota.Override(
                        reservedMilli == null ? OptionalLong.empty() : OptionalLong.of(reservedMilli),
                        limitMilli == null ? OptionalLong.empty() : OptionalLong.of(limitMilli),
                        millis(from),
                        until.toEpochMilli()));
    }
}
