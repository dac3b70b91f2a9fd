package io.quartermaster.insight;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.time.Instant;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The waiting workloads of a queue, with their forecast starts. */
@Path("/v1/tenants/{tenant}/queues/{queue}/waiting")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Queues")
public class QueueWaitingResource {

    private final QueueWaiting waiting;

    QueueWaitingResource(QueueWaiting waiting) {
        this.waiting = waiting;
    }

    /** A waiting workload. */
    @Schema(name = "WaitingWorkload")
    public record View(
            @Schema(
                    description = "The position in the scheduling order, from 1. Within one priority, preempted "
                            + "workloads come first, then those that an admin has placed, then the others in order "
                            + "of submission.")
            long position,

            UUID id,
            String name,
            String submittedBy,
            int priority,
            Instant submittedAt,

            @Schema(description = "Whether an admin has set its place in the order of the queue.")
            boolean placed,

            @Schema(ref = "WaitReasonCode") @Nullable String reason,

            @Schema(
                    description = "The forecast start, if running workloads use their whole maximum run time and no "
                            + "new workload arrives. Absent if it is unknown.")
            @Nullable
            Instant startsAt) {

        View with(@Nullable Instant start) {
            return new View(position, id, name, submittedBy, priority, submittedAt, placed, reason, start);
        }
    }

    @GET
    @RequiresPermission(Permission.WORKLOADS_READ)
    @Operation(operationId = "listWaiting", summary = "Lists the waiting workloads of a queue in scheduling order")
    public Uni<Page<View>> list(
            @PathParam("tenant") String tenant, @PathParam("queue") String queue, @BeanParam PageRequest page) {
        return waiting.list(new TenantId(tenant), queue, page);
    }
}
