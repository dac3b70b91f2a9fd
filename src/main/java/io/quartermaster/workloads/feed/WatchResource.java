package io.quartermaster.workloads.feed;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Multi;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.sse.OutboundSseEvent;
import jakarta.ws.rs.sse.Sse;
import java.util.Optional;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The live view of a tenant's workloads. */
@Path("/v1/tenants/{tenant}/workloads/watch")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Workloads")
public class WatchResource {

    private final WorkloadStreams workloadStreams;
    private final CurrentCaller currentCaller;
    private final ObjectMapper json;

    WatchResource(WorkloadStreams workloadStreams, CurrentCaller currentCaller, ObjectMapper json) {
        this.workloadStreams = workloadStreams;
        this.currentCaller = currentCaller;
        this.json = json;
    }

    @GET
    @RequiresPermission(Permission.WORKLOADS_READ)
    @Produces(MediaType.SERVER_SENT_EVENTS)
    @Operation(
            operationId = "watchWorkloads",
            summary = "Streams the changes of workloads",
            description =
                    "Server-sent events named `workload`. The stream ends by itself: at the latest when the token "
                            + "expires, and within a minute when the user or the tenant is gone. To resume without a "
                            + "gap, send the id of the last event as Last-Event-ID. If later entries are no longer "
                            + "kept, the stream consists of one event named `problem` with the problem document (code "
                            + "`feed-entry-gone`), and ends.")
    @APIResponse(
            responseCode = "200",
            content =
                    @Content(
                            mediaType = MediaType.SERVER_SENT_EVENTS,
                            schema = @Schema(implementation = WatchApi.Event.class)))
    public Multi<OutboundSseEvent> watch(
            @PathParam("tenant") String tenant,
            @Parameter(description = "Only the changes of this workload.") @QueryParam("workload") @Nullable
                    String workload,
            @HeaderParam("Last-Event-ID") @Nullable String lastEventId,
            @Context Sse sse) {
        TenantId id = new TenantId(tenant);
        WorkloadStreams.Viewer viewer =
                new WorkloadStreams.Viewer(currentCaller.current(), currentCaller.tokenExpiry());
        Optional<UUID> only = Optional.ofNullable(workload).map(WatchResource::workload);
        return workloadStreams
                .startingSeq(id, lastEventId)
                .onItem()
                .transformToMulti(from ->
                        workloadStreams.signalsAfter(id, viewer, from, only).map(signal -> event(sse, signal)))
                // The stream has begun by then, so a refusal is an event in it, and ends it.
                .onFailure(ProblemException.class)
                .recoverWithItem(refused -> problem(sse, ((ProblemException) refused).problem()));
    }

    private OutboundSseEvent event(Sse sse, WorkloadStreams.Signal signal) {
        return switch (signal) {
            case WorkloadStreams.Signal.Heartbeat heartbeat ->
                sse.newEventBuilder().comment("still here").build();
            case WorkloadStreams.Signal.Entry(FeedStore.Entry entry) ->
                sse.newEventBuilder()
                        .id(Long.toString(entry.seq()))
                        .name(entry.kind())
                        .data(String.class, write(entry.event()))
                        .build();
        };
    }

    private OutboundSseEvent problem(Sse sse, Problem problem) {
        return sse.newEventBuilder()
                .name("problem")
                .data(String.class, write(problem))
                .build();
    }

    private String write(Object event) {
        try {
            return json.writeValueAsString(event);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("could not write an event as JSON", e);
        }
    }

    private static UUID workload(String text) {
        try {
            return UUID.fromString(text);
        } catch (IllegalArgumentException e) {
            throw ProblemException.invalid(
                    "workload", "is not an id of a workload", "an id such as a submission returns");
        }
    }
}
