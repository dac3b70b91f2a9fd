package io.quartermaster.dispatch.cells;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Duration;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Cells in the API. */
final class CellApi {

    private CellApi() {}

    @Schema(name = "Cell", description = "The set of pools that one leader schedules, and the state of its leadership.")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record View(
            @Schema(description = "The name of the cell.", examples = "main")
            String name,

            @Schema(description = "The number of the leader's term.")
            long epoch,

            @Schema(description = "The replica that leads the cell. Absent while no replica leads.") @Nullable
            String leader,

            @Schema(
                    description =
                            "When the leader's lease expires unless the leader renews it. Absent while none leads.")
            @Nullable
            Instant leaseUntil,

            @Schema(description = "The time of the last scheduling cycle. Usage and states are as of this time.")
            Instant stamp,

            @Schema(description = "The current time of the database's clock.")
            Instant databaseTime,

            @Schema(
                    description = "How far the stamp is ahead of the database's clock. While it is ahead by more than "
                            + "quartermaster.dispatch.clock-tolerance, no replica leads the cell.")
            Duration stampAhead,

            @Schema(description = "The latest time of any record in the cell. A reset never sets the stamp before it.")
            Instant lastRecord) {}
}
