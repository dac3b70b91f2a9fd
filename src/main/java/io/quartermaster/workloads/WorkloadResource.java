package io.quartermaster.workloads;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.headers.Header;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** A tenant's workloads. */
@Path("/v1/tenants/{tenant}/workloads")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Workloads")
public class WorkloadResource {

    static final int DEFAULT_LOG_CHARS = 8_192;
    static final int MAX_LOG_CHARS = 65_536;

    private static final Duration MAX_GRACE = Duration.ofMillis(Policy.MAX_GRACE_MILLIS);

    private final SubmissionService submissionService;
    private final WorkloadService workloads;
    private final WorkloadCloner cloner;
    private final WorkloadEditor editor;
    private final CurrentCaller currentCaller;

    WorkloadResource(
            SubmissionService submissionService,
            WorkloadService workloads,
            WorkloadCloner cloner,
            WorkloadEditor editor,
            CurrentCaller currentCaller) {
        this.submissionService = submissionService;
        this.workloads = workloads;
        this.cloner = cloner;
        this.editor = editor;
        this.currentCaller = currentCaller;
    }

    @POST
    @RequiresPermission(Permission.WORKLOADS_SUBMIT)
    @Operation(operationId = "submitWorkload", summary = "Submits a workload to a queue")
    @APIResponse(
            responseCode = "201",
            content = @Content(schema = @Schema(implementation = WorkloadApi.Submitted.class)))
    public Uni<Response> submit(
            @PathParam("tenant") String tenant, @Nullable Submission body, @BeanParam WriteParams params, UriInfo uri) {
        return submissionService.submitOne(new TenantId(tenant), currentCaller.current(), body, params, uri);
    }

    @POST
    @Path("batches")
    @RequiresPermission(Permission.WORKLOADS_SUBMIT)
    @Operation(operationId = "submitWorkloadBatch", summary = "Submits up to 1,000 workloads: all of them or none")
    @APIResponse(
            responseCode = "201",
            content = @Content(schema = @Schema(implementation = WorkloadApi.SubmittedBatch.class)))
    public Uni<Response> submitBatch(
            @PathParam("tenant") String tenant,
            WorkloadApi.@Nullable Batch body,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return submissionService.submitBatch(new TenantId(tenant), currentCaller.current(), body, params, uri);
    }

    @GET
    @Path("{workload}")
    @RequiresPermission(Permission.WORKLOADS_READ)
    @Operation(operationId = "getWorkload", summary = "Shows a workload with its attempts, reasons and preemptions")
    @APIResponse(
            responseCode = "200",
            headers =
                    @Header(
                            name = "ETag",
                            description = "The version of the workload, in quotation marks; `If-Match` takes it.",
                            schema = @Schema(type = SchemaType.STRING)),
            content = @Content(schema = @Schema(implementation = WorkloadApi.Details.class)))
    public Uni<Response> get(@PathParam("tenant") String tenant, @PathParam("workload") String workload) {
        return workloads
                .details(new TenantId(tenant), currentCaller.current(), parseId(workload))
                .map(details -> TenantWrites.response(
                        WriteReply.ok(details, details.workload().version())));
    }

    @GET
    @Path("{workload}/explain")
    @RequiresPermission(Permission.WORKLOADS_READ)
    @Operation(operationId = "explainWorkload", summary = "Explains why a workload waits, runs or stops")
    public Uni<WorkloadApi.Explanation> explain(
            @PathParam("tenant") String tenant, @PathParam("workload") String workload) {
        return workloads.explain(new TenantId(tenant), parseId(workload));
    }

    @GET
    @Path("{workload}/logs")
    @RequiresPermission(Permission.WORKLOADS_READ)
    @Produces(MediaType.TEXT_PLAIN)
    @Operation(operationId = "readWorkloadLogs", summary = "Shows the end of an attempt's output")
    public Uni<String> logs(
            @PathParam("tenant") String tenant,
            @PathParam("workload") String workload,
            @Parameter(
                            description = "The number of the attempt. Absent: the newest.",
                            schema = @Schema(type = SchemaType.INTEGER, format = "int32", minimum = "1"))
                    @QueryParam("attempt")
                    @Nullable
                    Integer attempt,
            @Parameter(
                            description = "The most characters to read, counted from the end.",
                            schema =
                                    @Schema(
                                            type = SchemaType.INTEGER,
                                            format = "int32",
                                            minimum = "1",
                                            maximum = "65536",
                                            defaultValue = "8192"))
                    @QueryParam("bytes")
                    @Nullable
                    Integer bytes) {
        if (bytes != null && (bytes < 1 || bytes > MAX_LOG_CHARS)) {
            throw ProblemException.invalid("bytes", "out of range", "1 to " + MAX_LOG_CHARS);
        }
        return workloads.logs(
                new TenantId(tenant),
                parseId(workload),
                attempt == null ? OptionalInt.empty() : OptionalInt.of(attempt),
                bytes == null ? DEFAULT_LOG_CHARS : bytes);
    }

    @PATCH
    @Path("{workload}")
    @Consumes({MergePatch.MEDIA_TYPE, MediaType.APPLICATION_JSON})
    @RequiresPermission(Permission.WORKLOADS_SUBMIT)
    @Operation(operationId = "updateWorkload", summary = "Changes a waiting workload by a merge patch (RFC 7396)")
    @RequestBody(
            required = true,
            content = {
                @Content(mediaType = MergePatch.MEDIA_TYPE, schema = @Schema(implementation = WorkloadApi.Patch.class)),
                @Content(
                        mediaType = MediaType.APPLICATION_JSON,
                        schema = @Schema(implementation = WorkloadApi.Patch.class))
            })
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = WorkloadApi.View.class)))
    public Uni<Response> update(
            @PathParam("tenant") String tenant,
            @PathParam("workload") String workload,
            @Nullable String body,
            @BeanParam WriteParams params,
            UriInfo uri)
            throws JsonProcessingException {
        return editor.update(new TenantId(tenant), currentCaller.current(), parseId(workload), body, params, uri);
    }

    @POST
    @Path("{workload}/clone")
    @Consumes({MergePatch.MEDIA_TYPE, MediaType.APPLICATION_JSON})
    @RequiresPermission(Permission.WORKLOADS_SUBMIT)
    @Operation(operationId = "cloneWorkload", summary = "Submits a workload again, with the fields of the body changed")
    @RequestBody(
            required = false,
            content = {
                @Content(
                        mediaType = MergePatch.MEDIA_TYPE,
                        schema = @Schema(implementation = WorkloadApi.Overrides.class)),
                @Content(
                        mediaType = MediaType.APPLICATION_JSON,
                        schema = @Schema(implementation = WorkloadApi.Overrides.class))
            })
    @APIResponse(
            responseCode = "201",
            content = @Content(schema = @Schema(implementation = WorkloadApi.Submitted.class)))
    public Uni<Response> clone(
            @PathParam("tenant") String tenant,
            @PathParam("workload") String workload,
            @Nullable String body,
            @BeanParam WriteParams params,
            UriInfo uri)
            throws JsonProcessingException {
        return cloner.clone(new TenantId(tenant), currentCaller.current(), parseId(workload), body, params, uri);
    }

    @POST
    @Path("{workload}/cancel")
    @RequiresPermission(Permission.WORKLOADS_CANCEL)
    @Operation(operationId = "cancelWorkload", summary = "Cancels a workload and stops it if it runs")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = WorkloadApi.View.class)))
    public Uni<Response> cancel(
            @PathParam("tenant") String tenant,
            @PathParam("workload") String workload,
            @Parameter(
                            description =
                                    "The longest time that a running workload gets to stop, if that is shorter than "
                                            + "the grace period of its policy. "
                                            + "With PT0S it is killed immediately, without its abort callback. "
                                            + "A repeated call can shorten the time of a workload that is stopping.",
                            schema = @Schema(type = SchemaType.STRING, format = "duration", examples = "PT5S"))
                    @QueryParam("grace")
                    @Nullable
                    String grace,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return workloads.cancel(
                new TenantId(tenant), currentCaller.current(), parseId(workload), parseGrace(grace), params, uri);
    }

    @POST
    @Path("{workload}/hold")
    @RequiresPermission(Permission.WORKLOADS_HOLD)
    @Operation(operationId = "holdWorkload", summary = "Keeps a workload from starting; it does not stop a running one")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = WorkloadApi.View.class)))
    public Uni<Response> hold(
            @PathParam("tenant") String tenant,
            @PathParam("workload") String workload,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return workloads.setDesiredState(
                new TenantId(tenant), currentCaller.current(), parseId(workload), DesiredState.HOLD, params, uri);
    }

    @POST
    @Path("{workload}/release")
    @RequiresPermission(Permission.WORKLOADS_HOLD)
    @Operation(operationId = "releaseWorkload", summary = "Lets a held workload start")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = WorkloadApi.View.class)))
    public Uni<Response> release(
            @PathParam("tenant") String tenant,
            @PathParam("workload") String workload,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return workloads.setDesiredState(
                new TenantId(tenant), currentCaller.current(), parseId(workload), DesiredState.RUN, params, uri);
    }

    /** Reads the query parameter {@code grace}. */
    public static Optional<Duration> parseGrace(@Nullable String text) {
        if (text == null) {
            return Optional.empty();
        }
        try {
            Duration grace = Duration.parse(text);
            if (!grace.isNegative() && grace.compareTo(MAX_GRACE) <= 0) {
                return Optional.of(grace);
            }
        } catch (DateTimeParseException e) {
            // The throw below reports it.
        }
        throw ProblemException.invalid("grace", "\"" + text + "\" is not a valid grace period", "PT0S to " + MAX_GRACE);
    }

    /** A malformed id gets the same response as an unknown one. */
    private static UUID parseId(String text) {
        try {
            return UUID.fromString(text);
        } catch (IllegalArgumentException e) {
            throw ProblemException.notFound();
        }
    }
}
