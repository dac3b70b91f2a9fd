package io.quartermaster.dispatch.quarantine;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.writes.WriteParams;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** The quarantine of the scheduler. */
@Path("/v1/operator/quarantine-entries")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Scheduler")
public class QuarantineResource {

    private final QuarantineService quarantine;

    QuarantineResource(QuarantineService quarantine) {
        this.quarantine = quarantine;
    }

    @GET
    @RequiresPermission(Permission.QUARANTINE_READ)
    @Operation(
            operationId = "listQuarantineEntries",
            summary = "Lists the workloads, tenants and inbox rows in quarantine")
    public Uni<Page<QuarantineApi.Entry>> list(@BeanParam PageRequest page) {
        return quarantine.list(page);
    }

    @GET
    @Path("{quarantineEntry}")
    @RequiresPermission(Permission.QUARANTINE_READ)
    @Operation(operationId = "getQuarantineEntry", summary = "Shows an entry of the quarantine")
    public Uni<QuarantineApi.Entry> get(@PathParam("quarantineEntry") String entry) {
        return quarantine.get(entry);
    }

    @POST
    @Path("{quarantineEntry}/retries")
    @RequiresPermission(Permission.QUARANTINE_WRITE)
    @Operation(
            operationId = "retryQuarantineEntry",
            summary = "Retries an entry in the next scheduling cycle",
            description =
                    "If cycles with it still fail, the scheduler quarantines it again, for twice as long as before. "
                            + "The response is the entry before the retry.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = QuarantineApi.Entry.class)))
    public Uni<Response> retry(@PathParam("quarantineEntry") String entry, @BeanParam WriteParams params, UriInfo uri) {
        return quarantine.retry(entry, params, uri);
    }

    @DELETE
    @Path("{quarantineEntry}")
    @RequiresPermission(Permission.QUARANTINE_WRITE)
    @Operation(
            operationId = "dropQuarantineEntry",
            summary = "Removes an entry from the quarantine",
            description =
                    "Deletes an inbox row: the scheduler reads the changed object from the database when it starts "
                            + "again. Cancels a workload: the workload leaves the"
                            + " quarantine when it has stopped. A tenant cannot be removed: suspend or "
                            + "offboard it instead.")
    @APIResponse(responseCode = "204", description = "The inbox row is deleted, or the workload is being cancelled.")
    public Uni<Response> drop(@PathParam("quarantineEntry") String entry, @BeanParam WriteParams params, UriInfo uri) {
        return quarantine.drop(entry, params, uri);
    }
}
