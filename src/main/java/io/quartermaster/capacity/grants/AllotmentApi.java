package io.quartermaster.capacity.grants;

import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.writes.FieldChange;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Allotments as the API speaks of them. */
final class AllotmentApi {

    private AllotmentApi() {}

    @Schema(
            name = "AllotmentRequest",
            description = "What is absent takes its default: 0 reserved, no limit, all lendable, rank 0.")
    record Request(
            @Schema(description = "the deserved share; others may borrow it while it is unused", examples = "10")
            @Nullable
            GpuAmount reserved,

            @Schema(description = "ceiling on what is held at once; absent: none") @Nullable
            GpuAmount limit,

            @Schema(
                    description =
                            "part in spare capacity; absent: what is reserved, or 1 where nobody reserves anything")
            @Nullable
            Integer weight,

            @Schema(description = "how much of the reserved amount others may borrow; absent: all of it, 0: dedicated")
            @Nullable
            GpuAmount lendable,

            @Schema(description = "lower goes first") @Nullable
            Integer rank,

            @Schema(description = "what stands for a time in the place of reserved and limit; absent: nothing")
            QuotaOverrideApi.@Nullable Request override,

            @Schema(
                    description =
                            "by then what is held beyond the limit is to be gone: from then on it is stopped; a time that has passed: at once; absent: it goes on",
                    examples = "2026-12-01T18:00:00Z")
            @Nullable
            String drainBy,

            @Schema(
                    description =
                            "whether its work takes nothing back from outside it; others take back from it as ever; absent: false")
            @Nullable
            Boolean fence) {

        /** As a request would state it. */
        static Request of(QuotaTerms terms) {
            QuotaFields fields = QuotaFields.of(terms);
            Instant drainBy = QuotaOverrideApi.instant(terms.drainByMillis());
            return new Request(
                    fields.reserved(),
                    fields.limit(),
                    fields.weight(),
                    fields.lendable(),
                    fields.rank(),
                    QuotaOverrideApi.requested(terms),
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

            @Schema(description = "what stands for a time in the place of reserved and limit")
            QuotaOverrideApi.@Nullable View override,

            @Schema(description = "from then on what is held beyond the limit is stopped") @Nullable
            Instant drainBy,

            @Schema(description = "whether the tenant's work takes nothing back from other tenants")
            boolean fence,

            long version,

            @Schema(
                    description =
                            "in answers to updates: the fields that the change gives another value, those that take their default again included")
            @Nullable
            List<FieldChange> changed,

            @Schema(
                    description =
                            "Warnings: the change was made, but may not do what you expect. In answers to writes only.")
            @Nullable
            List<String> warnings) {

        View with(List<FieldChange> fields) {
            return new View(
                    tenant, pool, reserved, limit, weight, lendable, rank, override, drainBy, fence, version, fields,
                    warnings);
        }

        static View of(TenantAllotments.Named allotment, @Nullable List<String> warnings) {
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
