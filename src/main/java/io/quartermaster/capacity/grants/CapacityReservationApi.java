package io.quartermaster.capacity.grants;

import io.quartermaster.capacity.inventory.MaxLookahead;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.http.ProblemException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Requests and answers of the API for capacity reservations. */
public final class CapacityReservationApi {

    /** The longest duration of a capacity reservation. */
    public static final Duration MAX_DURATION = Duration.ofDays(366);

    private CapacityReservationApi() {}

    /** The common part of both types of requests, checked. */
    public record Terms(String pool, long gpuMilli, boolean lendable, Instant startsAt, Instant endsAt) {

        /** Returns the terms; reports the errors, and the terms are then unusable. */
        static Terms check(
                ProblemException.Invalid problems,
                @Nullable String pool,
                @Nullable GpuAmount gpus,
                @Nullable Boolean lendable,
                @Nullable String startsAt,
                @Nullable String endsAt,
                Instant now) {
            problems.check(pool != null && !pool.isBlank(), "pool", "is missing", "the name of a pool");
            problems.check(gpus != null, "gpus", "is missing", "a number of GPUs above 0")
                    .check(gpus == null || gpus.milli() > 0, "gpus", "is 0", "a number of GPUs above 0");
            // In milliseconds, as the engine counts; the database would round finer times.
            Instant start = problems.instant("startsAt", startsAt).orElse(now).truncatedTo(ChronoUnit.MILLIS);
            if (endsAt == null) {
                problems.add("endsAt", "is needed", ProblemException.Invalid.TIME_ACCEPTED);
            }
            Optional<Instant> stated =
                    problems.instant("endsAt", endsAt).map(time -> time.truncatedTo(ChronoUnit.MILLIS));
            stated.ifPresent(time -> checkEnd(problems, start, time, now));
            Instant end = stated.orElse(start.plusSeconds(1));
            MaxLookahead.check(problems, "startsAt", start, now);
            // The part that has passed cannot change any more.
            return new Terms(
                    String.valueOf(pool),
                    gpus == null ? 1 : gpus.milli(),
                    lendable == null || lendable,
                    start.isBefore(now) ? now : start,
                    end);
        }

        /** Reports at most one error of the end. */
        private static void checkEnd(ProblemException.Invalid problems, Instant start, Instant end, Instant now) {
            Instant earliest = start.isAfter(now) ? start : now;
            if (!end.isAfter(now)) {
                problems.add("endsAt", "has passed", "a time after " + earliest);
            } else if (!end.isAfter(start)) {
                problems.add("endsAt", "is not after startsAt", "a time after " + start);
            } else if (end.isAfter(start.plus(MAX_DURATION))) {
                problems.add(
                        "endsAt", "is too far from startsAt", "at most " + MAX_DURATION.toDays() + " days after it");
            }
        }

        CapacityReservation of(UUID id, UUID poolId, Optional<UUID> policy) {
            return new CapacityReservation(id, poolId, policy, gpuMilli, lendable, startsAt, endsAt);
        }
    }

    @Schema(name = "TenantCapacityReservationRequest")
    record OfTenant(
            @Schema(description = "name of a pool in which the tenant has an allotment", required = true) @Nullable
            String pool,

            @Schema(
                    description = "the amount by which the reservation and the limit rise",
                    examples = "8",
                    required = true)
            @Nullable
            GpuAmount gpus,

            @Schema(description = "whether others may use its idle GPUs", defaultValue = "true") @Nullable
            Boolean lendable,

            @Schema(
                    description = "first moment of the reservation; absent or past: now",
                    examples = "2026-12-01T08:00:00Z")
            @Nullable
            String startsAt,

            @Schema(
                    description = "first moment after the reservation",
                    examples = "2026-12-01T18:00:00Z",
                    required = true)
            @Nullable
            String endsAt) {

        Terms check(Instant now) {
            var problems = new ProblemException.Invalid();
            Terms terms = Terms.check(problems, pool, gpus, lendable, startsAt, endsAt, now);
            problems.throwIfAny();
            return terms;
        }
    }

    @Schema(name = "CapacityReservationRequest")
    public record OfPolicy(
            @Schema(
                    description =
                            "name of the policy whose group holds the reservation; the policy has a quota in the pool",
                    required = true)
            @Nullable
            String policy,

            @Schema(description = "name of a pool in which the tenant has an allotment", required = true) @Nullable
            String pool,

            @Schema(
                    description = "the amount by which the reservation and the limit rise",
                    examples = "8",
                    required = true)
            @Nullable
            GpuAmount gpus,

            @Schema(description = "whether others may use its idle GPUs", defaultValue = "true") @Nullable
            Boolean lendable,

            @Schema(
                    description = "first moment of the reservation; absent or past: now",
                    examples = "2026-12-01T08:00:00Z")
            @Nullable
            String startsAt,

            @Schema(
                    description = "first moment after the reservation",
                    examples = "2026-12-01T18:00:00Z",
                    required = true)
            @Nullable
            String endsAt) {

        public Terms check(Instant now) {
            var problems = new ProblemException.Invalid();
            problems.check(policy != null && !policy.isBlank(), "policy", "is missing", "the name of a policy");
            Terms terms = Terms.check(problems, pool, gpus, lendable, startsAt, endsAt, now);
            problems.throwIfAny();
            return terms;
        }
    }

    @Schema(name = "CapacityReservation")
    public record View(
            UUID id,
            String tenant,
            String pool,

            @Schema(
                    description = "name of the policy whose group holds the reservation; absent: the tenant as "
                            + "a whole holds it")
            @Nullable
            String policy,

            GpuAmount gpus,
            boolean lendable,
            Instant startsAt,
            Instant endsAt,

            CapacityReservation.State state,

            @Schema(
                    description = "Warnings: the service accepts the change, but it may not have the effect "
                            + "that you expect. In answers to writes only.")
            @Nullable
            List<String> warnings) {}
}
