package io.quartermaster.tenancy;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.operations.Operation;
import io.quartermaster.platform.operations.OperationStore;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Long-running work and its progress. */
@Path("/v1")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Operations")
public class OperationResource {

    /** Those of {@link Operation#kind}. */
    private static final List<String> KINDS = List.of("provision-tenant", "offboard-tenant", "audit-books");

    private final SystemDatabase database;
    private final OperationStore operations;

    OperationResource(SystemDatabase database, OperationStore operations) {
        this.database = database;
        this.operations = operations;
    }

    @GET
    @Path("/operator/operations")
    @RequiresPermission(Permission.OPERATIONS_READ)
    @org.eclipse.microprofile.openapi.annotations.Operation(
            operationId = "listOperations",
            summary = "Lists operations of all tenants and of the operator, newest first")
    public Uni<Page<Operation>> list(
            @Parameter(description = "Only operations of this tenant; `operator`: only those of no tenant.")
                    @QueryParam("tenant")
                    @Nullable
                    String tenant,
            @Parameter(
                            description = "Only operations of this kind.",
                            schema =
                                    @Schema(
                                            type = SchemaType.STRING,
                                            enumeration = {"provision-tenant", "offboard-tenant", "audit-books"}))
                    @QueryParam("kind")
                    @Nullable
                    String kind,
            @Parameter(
                            description = "Only operations in this state.",
                            schema = @Schema(implementation = Operation.State.class))
                    @QueryParam("state")
                    @Nullable
                    String state,
            @BeanParam PageRequest page) {
        if (kind != null && !KINDS.contains(kind)) {
            throw ProblemException.invalid("kind", "there is no such kind", String.join(", ", KINDS));
        }
        Operation.State wanted = state == null
                ? null
                : EnumNames.parse(Operation.State.class, state)
                        .orElseThrow(() -> ProblemException.invalid(
                                "state", "there is no such state", EnumNames.accepted(Operation.State.class)));
        String scope = "operator/operations?" + tenant + "&" + kind + "&" + state;
        Optional<UUID> after = page.afterId(scope);
        int size = page.size();
        return database.on(connection -> operations.list(connection, tenant, kind, wanted, after, size + 1))
                .map(found ->
                        Page.of(found, size, scope, operation -> operation.id().toString()));
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
