package io.quartermaster.workloads;

import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.WriteParams;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.Explode;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
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
    private final CurrentCaller currentCaller;

    WorkloadResource(SubmissionService submissionService, WorkloadService workloads, CurrentCaller currentCaller) {
        this.submissionService = submissionService;
        this.workloads = workloads;
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
    @RequiresPermission(Permission.WORKLOADS_READ)
    @Operation(operationId = "listWorkloads", summary = "Lists workloads, newest first")
    public Uni<Page<WorkloadApi.View>> list(
            @PathParam("tenant") String tenant,
            @Parameter(
                            description = "One or more states, separated by commas. Absent: all.",
                            explode = Explode.FALSE,
                            schema = @Schema(ref = "WorkloadStates"))
                    @QueryParam("state")
                    @Nullable
                    String state,
            @QueryParam("queue") @Nullable String queue,
            @Parameter(description = "A group path; it includes the subgroups.") @QueryParam("group") @Nullable
                    String group,
            @QueryParam("submittedBy") @Nullable String submittedBy,
            @Parameter(description = "The beginning of the name.") @QueryParam("name") @Nullable String name,
            @BeanParam PageRequest page) {
        WorkloadStore.Filter filter =
                new WorkloadStore.Filter(parseStates(state), queue, parseGroup(group), submittedBy, name);
        return workloads.list(new TenantId(tenant), filter, page);
    }

    @GET
    @Path("{workload}")
    @RequiresPermission(Permission.WORKLOADS_READ)
    @Operation(operationId = "getWorkload", summary = "Shows a workload with its attempts, reasons and preemptions")
    public Uni<WorkloadApi.Details> get(@PathParam("tenant") String tenant, @PathParam("workload") String workload) {
        return workloads.details(new TenantId(tenant), currentCaller.current(), parseId(workload));
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

    private static Optional<Duration> parseGrace(@Nullable String text) {
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

    private static List<WorkloadState> parseStates(@Nullable String text) {
        List<WorkloadState> states = new ArrayList<>();
        if (text != null) {
            for (String word : text.split(",", -1)) {
                try {
                    states.add(WorkloadState.of(word.strip()));
                } catch (IllegalArgumentException e) {
                    throw ProblemException.invalid(
                            "state",
                            "\"" + word + "\" is not a state of a workload",
                            "one or more, separated by commas: held, waiting, starting, running, stopping, paused,"
                                    + " succeeded, failed, cancelled");
                }
            }
        }
        return states;
    }

    private static @Nullable GroupPath parseGroup(@Nullable String text) {
        if (text == null) {
            return null;
        }
        if (!GroupPath.isValid(text)) {
            throw ProblemException.invalid("group", "is not a group path", "a path such as /research/nlp");
        }
        return new GroupPath(text);
    }
}
