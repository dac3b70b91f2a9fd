package io.quartermaster.workloads.logs;

import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.workloads.feed.Viewers;
import io.smallrye.mutiny.Uni;
import io.vertx.ext.web.RoutingContext;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import java.util.OptionalInt;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The output of a workload as it grows. */
@Path("/v1/tenants/{tenant}/workloads/{workload}/logs/stream")
@Tag(name = "Workloads")
public class LogStreamResource {

    private final LogStreams streams;
    private final CurrentCaller currentCaller;

    LogStreamResource(LogStreams streams, CurrentCaller currentCaller) {
        this.streams = streams;
        this.currentCaller = currentCaller;
    }

    @GET
    @RequiresPermission(Permission.WORKLOADS_READ)
    @Produces(MediaType.SERVER_SENT_EVENTS)
    @Operation(
            operationId = "streamWorkloadLogs",
            summary = "Streams the output of a workload, line by line",
            description = "Server-sent events named `log`. The stream begins with the stored end of the newest "
                    + "attempt's output, at most 16 KiB per worker. It continues with the next attempts, and ends with "
                    + "the workload: the last event is named `end` and has its `state`. An event named `gap` has the "
                    + "number of `lostBytes` that were not stored long enough. An event named `omitted` says that "
                    + "an attempt has more than 256 workers with output, and that the others are left out. The stream also ends without `end`: at "
                    + "the latest when the token expires, and within a minute when the user or the tenant is gone. To "
                    + "resume, send the last id as Last-Event-ID; with more than 8 workers, not every event has one. An id is `attempt:worker:offset`, with "
                    + "commas between several workers; offsets count bytes.")
    @APIResponse(
            responseCode = "200",
            content =
                    @Content(
                            mediaType = MediaType.SERVER_SENT_EVENTS,
                            schema = @Schema(implementation = LogLine.class)))
    public Uni<Void> stream(
            @PathParam("tenant") String tenant,
            @PathParam("workload") String workload,
            @Parameter(
                            description = "Only the output of this attempt. The stream ends with it.",
                            schema = @Schema(type = SchemaType.INTEGER, format = "int32", minimum = "1"))
                    @QueryParam("attempt")
                    @Nullable
                    Integer attempt,
            @Parameter(
                            description = "Id of the last event that the caller received; the stream continues after "
                                    + "it.",
                            example = "1:0:4096")
                    @HeaderParam("Last-Event-ID")
                    @Nullable
                    String lastEventId,
            @Context RoutingContext http) {
        return streams.send(
                new TenantId(tenant),
                new Viewers.Viewer(currentCaller.current(), currentCaller.tokenExpiry()),
                id(workload),
                attempt == null ? OptionalInt.empty() : OptionalInt.of(attempt),
                lastEventId,
                http);
    }

    /** A malformed id gets the same response as an unknown one. */
    private static UUID id(String text) {
        try {
            return UUID.fromString(text);
        } catch (IllegalArgumentException e) {
            throw ProblemException.notFound();
        }
    }
}
