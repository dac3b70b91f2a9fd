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

            @Schema(description = "How long the leader's cycles took lately. Absent before a leader has measured them.")
            @Nullable
            CycleTimes cycles,

            @Schema(description = "The changes that the leader has yet to read.")
            Backlog inbox,

            @Schema(description = "The number of quarantined inputs, which plans exclude.")
            long quarantined,

            @Schema(description = "The latest time of any record in the cell. A reset never sets the stamp before it.")
            Instant lastRecord) {}

    @Schema(
            name = "CycleTimes",
            description = "The durations of the leader's cycles with changes: reading, planning, committing.")
    record CycleTimes(
            @Schema(description = "Half of the cycles took no longer.")
            Duration median,

            @Schema(description = "All but one in a hundred took no longer.")
            Duration p99,

            @Schema(description = "When the leader measured this.")
            Instant asOf) {}

    @Schema(name = "InboxBacklog", description = "Changes that wait for the leader.")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Backlog(
            @Schema(description = "Their number. It stops at 10000.")
            long rows,

            @Schema(description = "How long the oldest has waited. Absent if there is none.") @Nullable
            Duration oldestAge) {}
}
