package io.quartermaster.capacity.grants;

import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.writes.FieldChange;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Requests and answers of the API for allotments. */
final class AllotmentApi {

    private AllotmentApi() {}

    @Schema(
            name = "AllotmentRequest",
            description = "An absent field takes its default: 0 reserved, no limit, all lendable, rank 0.")
    record Request(
            @Schema(
                    description = "the tenant's deserved share; others may borrow it while it is unused",
                    examples = "10")
            @Nullable
            GpuAmount reserved,

            @Schema(description = "the most that the tenant may hold at the same time; absent: no limit") @Nullable
            GpuAmount limit,

            @Schema(
                    description = "share of spare capacity; absent: the reserved amount, or 1 where no tenant "
                            + "reserves anything")
            @Nullable
            Integer weight,

            @Schema(description = "how much of the reserved amount others may borrow; absent: all of it, 0: dedicated")
            @Nullable
            GpuAmount lendable,

            @Schema(description = "tenants with a lower rank go first") @Nullable
            Integer rank,

            @Schema(description = "temporary values for reserved and limit; absent: none")
            QuotaOverrideApi.@Nullable Request override,

            @Schema(
                    description = "time from which the service stops work beyond the limit; a time in the past: "
                            + "immediately; absent: such work continues",
                    examples = "2026-12-01T18:00:00Z")
            @Nullable
            String drainBy,

            @Schema(
                    description =
                            "whether its work reclaims nothing from other tenants; other tenants still reclaim from "
                                    + "it; absent: false")
            @Nullable
            Boolean fence) {

        /** The request that would state these terms. */
        static Request of(QuotaTerms terms) {
            QuotaFields fields = QuotaFields.of(terms);
            Instant drainBy = QuotaOverrideApi.instant(terms.drainByMillis());
            return new Request(
                    fields.reserved(),
                    fields.limit(),
                    fields.weight(),
                    fields.lendable(),
                    fields.rank(),
                    QuotaOverrideApi.toRequest(terms),
                    drainBy == null ? null : drainBy.toString(),
                    terms.fence());
        }

        QuotaFields fields() {
            return new QuotaFields(reserved, limit, weight, lendable, rank, override, drainBy, fence);
        }
    }

    @Schema(name = "Allotment")
    record View(
            String tenant,
            String pool,
            GpuAmount reserved,
            @Nullable GpuAmount limit,
            @Nullable Integer weight,
            @Nullable GpuAmount lendable,
            int rank,

            @Schema(description = "temporary values for reserved and limit")
            QuotaOverrideApi.@Nullable View override,

            @Schema(description = "from then on what is held beyond the limit is stopped") @Nullable
            Instant drainBy,

            @Schema(description = "whether the tenant's work reclaims nothing from other tenants")
            boolean fence,

            long version,

            @Schema(
                    description = "in answers to updates: the fields whose value changes, including fields that "
                            + "return to their default")
            @Nullable
            List<FieldChange> changed,

            @Schema(
                    description = "Warnings: the service accepts the change, but it may not have the effect "
                            + "that you expect. In answers to writes only.")
            @Nullable
            List<String> warnings) {

        View with(List<FieldChange> fields) {
            return new View(
                    tenant, pool, reserved, limit, weight, lendable, rank, override, drainBy, fence, version, fields,
                    warnings);
        }

        static View of(TenantAllotments.NamedAllotment allotment, @Nullable List<String> warnings) {
            QuotaTerms terms = allotment.allotment().terms();
            QuotaFields fields = QuotaFields.of(terms);
            return new View(
                    allotment.allotment().tenant().value(),
                    allotment.poolName(),
                    new GpuAmount(terms.reservedGpuMilli()),
                    fields.limit(),
                    fields.weight(),
                    fields.lendable(),
                    terms.rank(),
                    QuotaOverrideApi.of(terms),
                    QuotaOverrideApi.instant(terms.drainByMillis()),
                    terms.fence(),
                    allotment.version(),
                    null,
                    warnings);
        }
    }
}
