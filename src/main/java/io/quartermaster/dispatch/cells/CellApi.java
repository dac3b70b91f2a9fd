package io.quartermaster.dispatch.cells;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Duration;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Cells as the API speaks of them. */
final class CellApi {

    private CellApi() {}

    @Schema(name = "Cell", description = "The pools that one leader plans, and the leadership over them.")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record View(
            @Schema(description = "The name of the cell.", examples = "main")
            String name,

            @Schema(description = "The number of the leader's term.")
            long epoch,

            @Schema(description = "The replica that leads. Absent while none does.") @Nullable
            String leader,

            @Schema(description = "When the leader's lease ends unless it renews it. Absent while none leads.")
            @Nullable
            Instant leaseUntil,

            @Schema(description = "The time of the last turn. Usage and states are known as of it.")
            Instant stamp,

            @Schema(description = "The time on the database's clock.")
            Instant databaseTime,

            @Schema(
                    description =
                            "How far the stamp is ahead of the database's clock. While that is more than quartermaster.dispatch.clock-tolerance, no replica leads.")
            Duration stampAhead,

            @Schema(
                    description =
                            "The latest time that anything is recorded at. A reset does not set the stamp before it.")
            Instant lastRecord) {}
}
