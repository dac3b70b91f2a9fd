package io.quartermaster.dispatch.quarantine;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonValue;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** The quarantine in the API. */
public final class QuarantineApi {

    private QuarantineApi() {}

    /** The kinds of quarantined things. */
    @Schema(name = "QuarantineKind")
    public enum Kind {
        INBOX_ROW("inbox-row"),
        WORKLOAD("workload"),
        TENANT("tenant");

        private final String word;

        Kind(String word) {
            this.word = word;
        }

        @JsonValue
        public String word() {
            return word;
        }
    }

    @Schema(
            name = "QuarantineEntry",
            description =
                    "Something that the scheduler excludes from planning, because scheduling cycles with it failed.")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Entry(
            @Schema(description = "The id of the entry.", examples = "workload-0199a2b4-0000-7000-8000-000000000001")
            String id,

            @Schema(
                    implementation = Kind.class,
                    description =
                            "The kind of the entry: a workload, a tenant with all its workloads, or an inbox row, "
                                    + "which notifies the scheduler of a change.")
            Kind kind,

            @Schema(description = "The tenant that the entry belongs to. Absent if it belongs to no tenant.") @Nullable
            String tenant,

            @Schema(
                    description =
                            "The subject: the id and name of a workload, the id of a tenant, or the object of an inbox"
                                    + " row.")
            String subject,

            @Schema(description = "Why the scheduler quarantined it.")
            String why,

            @Schema(description = "When the scheduler quarantined it.")
            Instant since,

            @Schema(
                    description = "When the scheduler retries the entry by itself. Absent for an inbox row, which "
                            + "waits for an operator.")
            @Nullable
            Instant retryAt,

            @Schema(
                    description =
                            "How often the scheduler has quarantined it. Each time it waits twice as long, up to about "
                                    + "an hour.")
            int times,

            @Schema(description = "The state of the workload. Absent for other kinds.") @Nullable
            String state,

            @Schema(description = "The GPUs that it holds in the meantime. It keeps them, and they are metered.")
            String gpus) {}
}
