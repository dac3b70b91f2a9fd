package io.quartermaster.metering.audit;

import io.quartermaster.metering.UsageApi;
import io.quartermaster.platform.TenantId;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Audits as the API speaks of them. */
public final class AuditApi {

    private AuditApi() {}

    @Schema(name = "AuditRequest")
    public record Request(
            @Schema(description = "one tenant; absent: all of them", implementation = String.class) @Nullable
            TenantId tenant,

            @Schema(description = "hours that end after it are audited; absent: from the beginning") @Nullable
            Instant from,

            @Schema(description = "absent: up to now, what is open included") @Nullable
            Instant to) {}

    @Schema(name = "Audit")
    public record View(
            @Schema(description = "whether nothing was found")
            boolean holds,

            List<Books> tenants,

            @Schema(description = "what does not hold; at most 1000")
            List<Violation> violations,

            @Schema(
                    description =
                            "What someone should look at, though the books hold: work that is set aside, and attempts that should have stopped on nodes "
                                    + "that are out of contact. At most 1000.")
            List<Violation> warnings) {
        /** An audit of an earlier version has no warnings. */
        public View {
            tenants = List.copyOf(tenants);
            violations = List.copyOf(violations);
            warnings = warnings == null ? List.of() : List.copyOf(warnings);
        }
    }

    @Schema(name = "AuditedBooks", description = "What was looked at of a tenant, and both sides of its equations.")
    public record Books(
            String tenant,

            @Schema(description = "closed hours that were audited")
            int closedHours,

            @Schema(description = "stored segments that were audited")
            long segments,

            @Schema(description = "usage events that were read")
            long events,

            @Schema(description = "end of the last audited closed hour") @Nullable
            Instant closedUntil,

            @Schema(description = "the instant up to which the open hour was counted and checked") @Nullable
            Instant asOf,

            List<PoolSums> pools) {
        public Books {
            pools = List.copyOf(pools);
        }
    }

    @Schema(
            name = "AuditedPool",
            description =
                    "By events: stated (reserved) and held. By segments: the rest. reserved + reservedIdle = stated, reserved + onDemand = held.")
    public record PoolSums(
            String pool,
            UsageApi.Amount stated,
            UsageApi.Amount held,
            UsageApi.Amount reserved,
            UsageApi.Amount reservedIdle,
            UsageApi.Amount onDemand,
            UsageApi.Amount reservedUnmet) {}

    @Schema(name = "AuditViolation")
    public record Violation(
            @Schema(description = "whose books; absent for what belongs to no tenant") @Nullable
            String tenant,

            @Schema(description = "the rule that does not hold", examples = "no-gap-no-overlap")
            String rule,

            @Schema(description = "what it does not hold for: a pool, an allocation, a segment, a device")
            String subject,

            @Nullable Instant at,

            @Schema(description = "what should be; thousandths of a GPU, milliseconds, counts, or words") @Nullable
            String expected,

            @Nullable String found) {}
}
