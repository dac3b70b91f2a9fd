package io.quartermaster.dispatch.quarantine;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonValue;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** The quarantine as the API speaks of it. */
public final class QuarantineApi {

    private QuarantineApi() {}

    /** What is set aside. */
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
            description = "Something that the scheduler plans without, because turns with it failed.")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Entry(
            @Schema(description = "The id of the entry.", examples = "workload-0199a2b4-0000-7000-8000-000000000001")
            String id,

            @Schema(
                    implementation = Kind.class,
                    description =
                            "A workload, a tenant with all its work, or an inbox row: the note for the scheduler that something changed.")
            Kind kind,

            @Schema(description = "The tenant whose it is. Absent for what belongs to no tenant.") @Nullable
            String tenant,

            @Schema(description = "What it is: a workload's id and name, a tenant's id, or what the inbox row names.")
            String subject,

            @Schema(description = "Why the scheduler set it aside.")
            String why,

            @Schema(description = "When the scheduler set it aside.")
            Instant since,

            @Schema(
                    description =
                            "When the scheduler plans with it again by itself. Absent for an inbox row, which waits for an operator.")
            @Nullable
            Instant retryAt,

            @Schema(
                    description =
                            "How often the scheduler has set it aside: each time it waits twice as long, about an hour at most.")
            int times,

            @Schema(description = "The state of a workload.") @Nullable
            String state,

            @Schema(description = "GPUs that it holds meanwhile. They stay its own, and their use is metered.")
            String gpus) {}
}
