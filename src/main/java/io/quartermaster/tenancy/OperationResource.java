package io.quartermaster.tenancy;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.operations.Operation;
import io.quartermaster.platform.operations.OperationStore;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Long-running work and its progress. */
@Path("/v1")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Operations")
public class OperationResource {

    private final SystemDatabase database;
    private final OperationStore operations;

    OperationResource(SystemDatabase database, OperationStore operations) {
        this.database = database;
        this.operations = operations;
    }

    @GET
    @Path("/operator/operations/{operation}")
    @RequiresPermission(Permission.OPERATIONS_READ)
    @org.eclipse.microprofile.openapi.annotations.Operation(
            operationId = "getOperation",
            summary = "Shows an operation, of any tenant")
    public Uni<Operation> get(@PathParam("operation") UUID id) {
        return database.on(connection -> operations.find(connection, id))
                .map(found -> found.orElseThrow(ProblemException::notFound));
    }
}
