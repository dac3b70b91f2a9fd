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

/** What waits in a queue, and when it will start. */
@Path("/v1/tenants/{tenant}/queues/{queue}/waiting")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Queues")
public class QueueWaitingResource {

    private final QueueWaiting waiting;

    QueueWaitingResource(QueueWaiting waiting) {
        this.waiting = waiting;
    }

    /** A workload that waits. */
    @Schema(name = "WaitingWorkload")
    public record View(
            @Schema(
                    description =
                            "1 for the first that would be tried; of one priority first what was preempted, then what an admin gave a place, then in order of submission")
            long position,

            UUID id,
            String name,
            String submittedBy,
            int priority,
            Instant submittedAt,

            @Schema(description = "whether an admin's order of the queue gave it its place")
            boolean placed,

            @Schema(ref = "WaitReasonCode") @Nullable String reason,

            @Schema(
                    description =
                            "when it starts, if what runs ends when its maximum run time is over and nothing new comes; absent where that is not known")
            @Nullable
            Instant startsAt) {

        View with(@Nullable Instant start) {
            return new View(position, id, name, submittedBy, priority, submittedAt, placed, reason, start);
        }
    }

    @GET
    @RequiresPermission(Permission.WORKLOADS_READ)
    @Operation(operationId = "listWaiting", summary = "Lists what waits in a queue, in the order in which it is tried")
    public Uni<Page<View>> list(
            @PathParam("tenant") String tenant, @PathParam("queue") String queue, @BeanParam PageRequest page) {
        return waiting.list(new TenantId(tenant), queue, page);
    }
}
