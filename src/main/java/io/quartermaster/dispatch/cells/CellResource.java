package io.quartermaster.dispatch.cells;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.writes.WriteParams;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
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

/** The cells and their leaders. */
@Path("/v1/operator/cells")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Scheduler")
public class CellResource {

    private final CellService cells;

    CellResource(CellService cells) {
        this.cells = cells;
    }

    @GET
    @RequiresPermission(Permission.CELLS_READ)
    @Operation(operationId = "listCells", summary = "Lists the cells by name, with their leaders and stamps")
    public Uni<Page<CellApi.View>> list(@BeanParam PageRequest page) {
        return cells.list(page);
    }

    @GET
    @Path("{cell}")
    @RequiresPermission(Permission.CELLS_READ)
    @Operation(operationId = "getCell", summary = "Shows a cell, its leader and its stamp")
    public Uni<CellApi.View> get(@PathParam("cell") String cell) {
        return cells.get(cell);
    }

    @POST
    @Path("{cell}/stamp-resets")
    @RequiresPermission(Permission.CELLS_WRITE)
    @Operation(
            operationId = "resetStamp",
            summary = "Resets a stamp that is ahead of the database's clock",
            description = "Use it after the database's clock was ahead: no replica leads the cell until the clock "
                    + "has caught up with the stamp. "
                    + "The reset sets the stamp to the database's time, but never before the latest record in "
                    + "the cell. If a record lies "
                    + "in the future, the call answers 409 and states when planning resumes by itself.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = CellApi.View.class)))
    public Uni<Response> resetStamp(@PathParam("cell") String cell, @BeanParam WriteParams params, UriInfo uri) {
        return cells.resetStamp(cell, params, uri);
    }
}
