package io.quartermaster.metering;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.quartermaster.ledger.GpuTime;
import io.quartermaster.ledger.LabelState;
import io.quartermaster.ledger.Phase;
import io.quartermaster.ledger.Standing;
import io.quartermaster.ledger.Usage;
import io.quartermaster.ledger.UsageClass;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Requests and answers of the API for usage. */
public final class UsageApi {

    private UsageApi() {}

    /** An amount of usage. */
    @Schema(name = "GpuTime")
    public record Amount(
            @Schema(description = "GPU-hours, rounded once, half up, at the ninth decimal", examples = "12.5")
            String gpuHours,

            @Schema(
                    description = "the exact amount in thousandths of a GPU times milliseconds; 3600000000 of them are "
                            + "a GPU-hour",
                    examples = "45000000000")
            String gpuMilliMillis) {

        private static final BigDecimal PER_GPU_HOUR = BigDecimal.valueOf(3_600_000_000L);
        private static final int PLACES = 9;

        public static Amount of(GpuTime time) {
            return new Amount(hours(time), time.toString());
        }

        /**
         * The exact quotient has an infinite number of decimals for most amounts (3,600,000,000 has the factor 9), so
         * it is rounded once, here.
         */
        static String hours(GpuTime time) {
            BigDecimal hours = new BigDecimal(time.gpuMilliMillis())
                    .divide(PER_GPU_HOUR, PLACES, RoundingMode.HALF_UP)
                    .stripTrailingZeros();
            return hours.scale() < 0 ? hours.setScale(0).toPlainString() : hours.toPlainString();
        }
    }

    @Schema(
            name = "UsageTotals",
            description =
                    "Held usage is divided twice: by class (reserved, onDemand), which is billed, and by standing "
                            + "(within, overQuota), for "
                            + "showback; the two divisions are never added together. reservedUnmet is "
                            + "part of neither.")
    record Totals(
            @Schema(description = "held by work: reserved + onDemand, which equals within + overQuota")
            Amount held,

            @Schema(description = "held within the tenant's reservation")
            Amount reserved,

            @Schema(description = "held beyond the tenant's reservation")
            Amount onDemand,

            @Schema(description = "reserved by the tenant, but not held by its work")
            Amount reservedIdle,

            @Schema(description = "requested as reserved, but not provided; part of no other amount")
            Amount reservedUnmet,

            @Schema(description = "held within the policy's reservation")
            Amount within,

            @Schema(description = "held beyond the policy's reservation")
            Amount overQuota) {

        static Totals of(Usage.Totals totals) {
            return new Totals(
                    Amount.of(totals.held()),
                    Amount.of(totals.reserved()),
                    Amount.of(totals.onDemand()),
                    Amount.of(totals.reservedIdle()),
                    Amount.of(totals.reservedUnmet()),
                    Amount.of(totals.within()),
                    Amount.of(totals.overQuota()));
        }
    }

    @Schema(
            name = "UsageRow",
            description = "The sums of all usage with the same values of the requested dimensions; a "
                    + "dimension that the usage lacks is absent.")
    record Row(
            @Schema(description = "begin of the hour, with granularity hour") @Nullable
            Instant hour,

            @Schema(
                    description = "begin of the day, week or month, with these granularities; it may lie before the "
                            + "begin of the window")
            @Nullable
            Instant periodStart,

            @Nullable String pool,

            @JsonProperty("class") @Nullable UsageClass usageClass,

            @Nullable Standing standing,
            @Nullable Phase phase,
            @Nullable Boolean preemptible,
            @Nullable String group,
            @Nullable String policy,

            @Schema(description = "name of the policy, beside its id") @Nullable
            String policyName,

            @Nullable String profile,
            @Nullable String queue,
            @Nullable String workload,
            @Nullable String user,
            @Nullable String cluster,

            @Schema(
                    description = "with groupBy=label: `set` if the workload had the label when the allocation began, "
                            + "`unset` if it did not, `undeclared` if the key was not declared then. Absent for "
                            + "capacity that nothing held.")
            @Nullable
            LabelState labelState,

            @Schema(description = "value of the label, where labelState is `set`") @Nullable
            String labelValue,

            Totals totals) {}

    @Schema(name = "Usage")
    record View(
            String tenant,
            Instant from,
            Instant to,
            UsageRequest.Granularity granularity,
            List<String> groupBy,

            @Schema(description = "time zone of the days, weeks or months, with these granularities") @Nullable
            String timeZone,

            @Schema(description = "key of the label that the request is about") @Nullable
            String label,

            @Schema(
                    description =
                            "whether all hours of the window are closed; the figures of closed hours never change. "
                                    + "Otherwise open usage is "
                                    + "counted up to asOf.")
            boolean complete,

            @Schema(description = "the instant up to which usage is known and counted; at most the end of the window")
            Instant asOf,

            @Schema(description = "end of the last closed hour; absent before the first") @Nullable
            Instant closedUntil,

            List<Row> rows,

            @Schema(description = "the sums of the whole window")
            Totals totals) {

        View {
            groupBy = List.copyOf(groupBy);
            rows = List.copyOf(rows);
        }
    }
}
