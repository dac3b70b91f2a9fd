package io.quartermaster.capacity;

import io.quartermaster.engine.Quota;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.IdClass;
import jakarta.persistence.Table;
import java.io.Serializable;
import java.time.Instant;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A row of {@code allotment}. */
@Entity(name = "Allotment")
@Table(name = "allotment")
@IdClass(AllotmentRow.Key.class)
class AllotmentRow {

    /** The primary key. */
    record Key(String tenantId, UUID poolId) implements Serializable {}

    @Id
    @Column(name = "tenant_id")
    String tenantId;

    @Id
    @Column(name = "pool_id")
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

    /** Counted by hand, under the lock of the tenant's quotas: the answer's ETag is needed before the flush. */
    @Column(name = "version")
    long version;

    @SuppressWarnings("NullAway.Init")
    AllotmentRow() {}

    AllotmentRow(String tenantId, UUID poolId) {
        this.tenantId = tenantId;
        this.poolId = poolId;
    }

    QuotaTerms terms() {
        return new QuotaTerms(
                reservedMilli,
                limitMilli == null ? OptionalLong.empty() : OptionalLong.of(limitMilli),
                weight == null ? OptionalInt.empty() : OptionalInt.of(weight),
                lendableMilli == null ? OptionalLong.empty() : OptionalLong.of(lendableMilli),
                rank,
                QuotaOverrideApi.stored(
                        overrideReservedMilli, overrideLimitMilli, overrideFrom, overrideUntil, Instant.now()),
                QuotaOverrideApi.millis(drainBy),
                fence);
    }

    void set(QuotaTerms terms) {
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
}
