package io.quartermaster.governance;

import io.quartermaster.capacity.QuotaOverrideApi;
import io.quartermaster.capacity.QuotaTerms;
import io.quartermaster.engine.PoolId;
import io.quartermaster.engine.Quota;
import io.quartermaster.engine.Scope;
import jakarta.persistence.Column;
import jakarta.persistence.Embeddable;
import java.time.Instant;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A row of {@code policy_quota}: part of its policy, written and read with it. */
@Embeddable
class PolicyQuotaRow {

    /** Null: over all pools together. */
    @Column(name = "pool_id")
    @Nullable
    UUID poolId;

    @Column(name = "reserved_milli")
    long reservedMilli;

    @Column(name = "limit_milli")
    @Nullable
    Long limitMilli;

    @Column(name = "weight")
    @Nullable
    Integer weight;

    @Column(name = "lendable_milli")
    @Nullable
    Long lendableMilli;

    @Column(name = "rank")
    int rank;

    @Column(name = "override_reserved_milli")
    @Nullable
    Long overrideReservedMilli;

    @Column(name = "override_limit_milli")
    @Nullable
    Long overrideLimitMilli;

    @Column(name = "override_from")
    @Nullable
    Instant overrideFrom;

    @Column(name = "override_until")
    @Nullable
    Instant overrideUntil;

    @Column(name = "drain_by")
    @Nullable
    Instant drainBy;

    @Column(name = "fence")
    boolean fence;

    PolicyQuotaRow() {}

    PolicyQuotaRow(PolicyQuota quota) {
        QuotaTerms terms = quota.terms();
        poolId = switch (quota.scope()) {
            case Scope.AllPools all -> null;
            case Scope.OnePool one -> UUID.fromString(one.pool().value());
        };
        reservedMilli = terms.reservedGpuMilli();
        limitMilli = terms.limitGpuMilli().isPresent() ? terms.limitGpuMilli().getAsLong() : null;
        weight = terms.weight().isPresent() ? terms.weight().getAsInt() : null;
        lendableMilli =
                terms.lendableGpuMilli().isPresent() ? terms.lendableGpuMilli().getAsLong() : null;
        rank = terms.rank();
        drainBy = QuotaOverrideApi.instant(terms.drainByMillis());
        fence = terms.fence();
        overrideReservedMilli = terms.override()
                .map(Quota.Override::reservedGpuMilli)
                .filter(OptionalLong::isPresent)
                .map(OptionalLong::getAsLong)
                .orElse(null);
        overrideLimitMilli = terms.override()
                .map(Quota.Override::limitGpuMilli)
                .filter(OptionalLong::isPresent)
                .map(OptionalLong::getAsLong)
                .orElse(null);
        overrideFrom = terms.override()
                .map(Quota.Override::fromMillis)
                .filter(OptionalLong::isPresent)
                .map(from -> Instant.ofEpochMilli(from.getAsLong()))
                .orElse(null);
        overrideUntil = terms.override()
                .map(override -> Instant.ofEpochMilli(override.untilMillis()))
                .orElse(null);
    }

    PolicyQuota toQuota() {
        Scope scope = poolId == null ? Scope.ALL_POOLS : Scope.of(new PoolId(poolId.toString()));
        return new PolicyQuota(
                scope,
                new QuotaTerms(
                        reservedMilli,
                        limitMilli == null ? OptionalLong.empty() : OptionalLong.of(limitMilli),
                        weight == null ? OptionalInt.empty() : OptionalInt.of(weight),
                        lendableMilli == null ? OptionalLong.empty() : OptionalLong.of(lendableMilli),
                        rank,
                        QuotaOverrideApi.stored(
                                overrideReservedMilli, overrideLimitMilli, overrideFrom, overrideUntil, Instant.now()),
                        QuotaOverrideApi.millis(drainBy),
                        fence));
    }
}
