package io.quartermaster.capacity.grants;

import io.quartermaster.capacity.inventory.MaxLookahead;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.http.ProblemException;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** {@link QuotaTerms} as the API writes them, for allotments and policies. An absent field takes its default. */
public record QuotaFields(
        @Nullable GpuAmount reserved,
        @Nullable GpuAmount limit,
        @Nullable Integer weight,
        @Nullable GpuAmount lendable,
        @Nullable Integer rank,
        QuotaOverrideApi.@Nullable Request override,
        @Nullable String drainBy,
        @Nullable Boolean fence) {

    /** Terms without an override. */
    public QuotaFields(
            @Nullable GpuAmount reserved,
            @Nullable GpuAmount limit,
            @Nullable Integer weight,
            @Nullable GpuAmount lendable,
            @Nullable Integer rank) {
        this(reserved, limit, weight, lendable, rank, null, null, null);
    }

    /** Without the override, whose form in requests differs from its form in answers. */
    public static QuotaFields of(QuotaTerms terms) {
        return new QuotaFields(
                new GpuAmount(terms.reservedGpuMilli()),
                terms.limitGpuMilli().isPresent()
                        ? new GpuAmount(terms.limitGpuMilli().getAsLong())
                        : null,
                terms.weight().isPresent() ? terms.weight().getAsInt() : null,
                terms.lendableGpuMilli().isPresent()
                        ? new GpuAmount(terms.lendableGpuMilli().getAsLong())
                        : null,
                terms.rank());
    }

    /**
     * The terms, or an empty reservation when there are errors.
     *
     * @param prefix the start of the fields' paths, such as {@code quotas[0].}
     */
    public QuotaTerms check(ProblemException.Invalid problems, String prefix) {
        GpuAmount asked = reserved == null ? new GpuAmount(0) : reserved;
        boolean limitFits = limit == null || limit.compareTo(asked) >= 0;
        boolean lendableFits = lendable == null || lendable.compareTo(asked) <= 0;
        boolean weightFits = weight == null || weight >= 0 && weight <= QuotaTerms.MAX_WEIGHT;
        boolean rankFits = rank == null || Math.abs((long) rank) <= QuotaTerms.MAX_RANK;
        problems.check(limitFits, prefix + "limit", "is below reserved", "at least " + asked)
                .check(lendableFits, prefix + "lendable", "is more than reserved", "at most " + asked)
                .check(weightFits, prefix + "weight", "is out of range", "0 to " + QuotaTerms.MAX_WEIGHT)
                .check(
                        rankFits,
                        prefix + "rank",
                        "is out of range",
                        -QuotaTerms.MAX_RANK + " to " + QuotaTerms.MAX_RANK);
        if (!limitFits || !lendableFits || !weightFits || !rankFits) {
            return QuotaTerms.reserving(0);
        }
        QuotaTerms terms = new QuotaTerms(
                        asked.milli(),
                        limit == null ? OptionalLong.empty() : OptionalLong.of(limit.milli()),
                        weight == null ? OptionalInt.empty() : OptionalInt.of(weight),
                        lendable == null ? OptionalLong.empty() : OptionalLong.of(lendable.milli()),
                        rank == null ? 0 : rank)
                .withFence(fence != null && fence);
        QuotaTerms turning = override == null
                ? terms
                : override.check(problems, prefix + "override", asked, limit)
                        .map(terms::withOverride)
                        .orElse(terms);
        Instant now = Instant.now();
        Optional<Instant> by = problems.instant(prefix + "drainBy", drainBy);
        by.ifPresent(time -> MaxLookahead.check(problems, prefix + "drainBy", time, now));
        return by.filter(time -> !time.isAfter(MaxLookahead.latest(now)))
                .map(time -> turning.drainedBy(time.toEpochMilli()))
                .orElse(turning);
    }

    /** Where work may run beyond the reservation, only a limit determines which work must end by the drain date. */
    public void requireLimitToDrain(ProblemException.Invalid problems, String prefix) {
        problems.check(
                drainBy == null || limit != null, prefix + "limit", "is required with drainBy", "a number of GPUs");
    }
}
