package io.quartermaster.metering.audit;

import io.quartermaster.metering.UsageApi;
import io.quartermaster.platform.TenantId;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Requests and answers of the API for audits. */
public final class AuditApi {

    private AuditApi() {}

    @Schema(name = "AuditRequest")
    public record Request(
            @Schema(description = "id of one tenant; absent: all tenants", implementation = String.class) @Nullable
            TenantId tenant,

            @Schema(description = "the audit covers hours that end after this instant; absent: from the beginning")
            @Nullable
            Instant from,

            @Schema(description = "end of the audited time; absent: now, including open usage") @Nullable
            Instant to) {}

    @Schema(name = "Audit")
    public record View(
            @Schema(description = "whether the audit found no violation")
            boolean holds,

            List<Books> tenants,

            @Schema(description = "the violations; at most 1000")
            List<Violation> violations,

            @Schema(
                    description = "Findings for an operator that are no violations: quarantined work, and "
                            + "attempts that should have stopped on nodes "
                            + "that are out of contact. At most 1000.")
            List<Violation> warnings) {
        /** The stored audit of an earlier version has no warnings. */
        public View {
            tenants = List.copyOf(tenants);
            violations = List.copyOf(violations);
            warnings = warnings == null ? List.of() : List.copyOf(warnings);
        }
    }

    @Schema(
            name = "AuditedBooks",
            description = "The extent of the audit of a tenant, and both sides of its equations.")
    public record Books(
            String tenant,

            @Schema(description = "number of closed hours audited")
            int closedHours,

            @Schema(description = "number of stored segments audited")
            long segments,

            @Schema(description = "number of usage events read")
            long events,

            @Schema(description = "end of the last audited closed hour") @Nullable
            Instant closedUntil,

            @Schema(description = "the instant up to which the audit counted and checked the open hour") @Nullable
            Instant asOf,

            List<PoolSums> pools) {
        public Books {
            pools = List.copyOf(pools);
        }
    }

    @Schema(
            name = "AuditedPool",
            description = "From events: stated (the reserved amount) and held. From segments: the rest. "
                    + "reserved + reservedIdle = stated, reserved + onDemand = held.")
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
            @Schema(description = "id of the tenant; absent where the violation belongs to no tenant") @Nullable
            String tenant,

            @Schema(description = "the violated rule", examples = "no-gap-no-overlap")
            String rule,

            @Schema(description = "the object that violates it: a pool, an allocation, a segment, a device")
            String subject,

            @Nullable Instant at,

            @Schema(description = "the expected value: thousandths of a GPU, milliseconds, a count, or a word")
            @Nullable
            String expected,

            @Nullable String found) {}
}
