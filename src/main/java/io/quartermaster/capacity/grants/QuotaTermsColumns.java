package io.quartermaster.capacity.grants;

import io.quartermaster.engine.model.Quota;
import jakarta.persistence.Column;
import jakarta.persistence.Embeddable;
import java.time.Instant;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The columns of {@link QuotaTerms} in rows of allotments and of policies' quotas. */
@Embeddable
public class QuotaTermsColumns {

    @Column(name = "reserved_milli")
    private long reservedMilli;

    @Column(name = "limit_milli")
    @Nullable
    private Long limitMilli;

    @Column(name = "weight")
    @Nullable
    private Integer weight;

    @Column(name = "lendable_milli")
    @Nullable
    private Long lendableMilli;

    @Column(name = "rank")
    private int rank;

    @Column(name = "override_reserved_milli")
    @Nullable
    private Long overrideReservedMilli;

    @Column(name = "override_limit_milli")
    @Nullable
    private Long overrideLimitMilli;

    @Column(name = "override_from")
    @Nullable
    private Instant overrideFrom;

    @Column(name = "override_until")
    @Nullable
    private Instant overrideUntil;

    @Column(name = "drain_by")
    @Nullable
    private Instant drainBy;

    @Column(name = "fence")
    private boolean fence;

    protected QuotaTermsColumns() {}

    public QuotaTermsColumns(QuotaTerms terms) {
        reservedMilli = terms.reservedGpuMilli();
        limitMilli = stored(terms.limitGpuMilli());
        weight = terms.weight().isPresent() ? terms.weight().getAsInt() : null;
        lendableMilli = stored(terms.lendableGpuMilli());
        rank = terms.rank();
        overrideReservedMilli = ofOverride(terms, Quota.Override::reservedGpuMilli);
        overrideLimitMilli = ofOverride(terms, Quota.Override::limitGpuMilli);
        overrideFrom = time(ofOverride(terms, Quota.Override::fromMillis));
        overrideUntil = time(ofOverride(terms, override -> OptionalLong.of(override.untilMillis())));
        drainBy = QuotaOverrideApi.instant(terms.drainByMillis());
        fence = terms.fence();
    }

    /** The terms; an override that is over is left out. */
    public QuotaTerms terms() {
        return new QuotaTerms(
                reservedMilli,
                read(limitMilli),
                weight == null ? OptionalInt.empty() : OptionalInt.of(weight),
                read(lendableMilli),
                rank,
                QuotaOverrideApi.stored(
                        overrideReservedMilli, overrideLimitMilli, overrideFrom, overrideUntil, Instant.now()),
                QuotaOverrideApi.millis(drainBy),
                fence);
    }

    private static @Nullable Long ofOverride(QuotaTerms terms, Function<Quota.Override, OptionalLong> part) {
        return stored(terms.override().map(part).orElse(OptionalLong.empty()));
    }

    private static @Nullable Long stored(OptionalLong value) {
        return value.isPresent() ? value.getAsLong() : null;
    }

    private static OptionalLong read(@Nullable Long value) {
        return value == null ? OptionalLong.empty() : OptionalLong.of(value);
    }

    private static @Nullable Instant time(@Nullable Long millis) {
        return millis == null ? null : Instant.ofEpochMilli(millis);
    }
}
