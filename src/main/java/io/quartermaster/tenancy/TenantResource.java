package io.quartermaster.tenancy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.operations.Operation;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteReply;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponseSchema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** A tenant's view of itself. Runs as the request role, so that the database, too, shows no other tenant's row. */
@Path("/v1/tenants/{tenant}")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Tenants")
public class TenantResource {

    private static final String TENANT =
            "select cast(jsonb_build_object('id', id, 'displayName', display_name, 'plan', plan, 'state', state, "
                    + "'issuer', issuer, 'createdAt', created_at, 'updatedAt', updated_at, 'version', version) as text) "
                    + "from tenant where id = :tenant";
    private static final String OPERATION =
            "select cast(jsonb_build_object('id', id, 'tenant', tenant_id, 'kind', kind, 'state', state, 'steps', "
                    + "steps, 'error', error, 'attempts', attempts, 'createdAt', created_at, 'updatedAt', updated_at) as "
                    + "text) from operation where tenant_id = :tenant and id = :id";

    private final TenantTransactions transactions;
    private final ObjectMapper json;

    TenantResource(TenantTransactions transactions, ObjectMapper json) {
        this.transactions = transactions;
        this.json = json;
    }

    @GET
    @RequiresPermission(Permission.TENANTS_READ)
    @org.eclipse.microprofile.openapi.annotations.Operation(
            operationId = "getOwnTenant",
            summary = "Shows the tenant itself")
    @APIResponseSchema(Tenant.class)
    public Uni<Response> get(@PathParam("tenant") TenantId tenant) {
        return transactions
                .in(tenant, session -> session.createNativeQuery(TENANT, String.class)
                        .setParameter("tenant", tenant.value())
                        .getSingleResultOrNull())
                .map(text -> read(text, Tenant.class))
                .map(known -> TenantWrites.response(WriteReply.ok(known, known.version())));
    }

    @GET
    @Path("/operations/{operation}")
    @Tag(name = "Operations")
    @RequiresPermission(Permission.OPERATIONS_READ)
    @org.eclipse.microprofile.openapi.annotations.Operation(
            operationId = "getOwnOperation",
            summary = "Shows an operation on the tenant")
    public Uni<Operation> operation(@PathParam("tenant") TenantId tenant, @PathParam("operation") UUID id) {
        return transactions
                .in(tenant, session -> session.createNativeQuery(OPERATION, String.class)
                        .setParameter("tenant", tenant.value())
                        .setParameter("id", id)
                        .getSingleResultOrNull())
                .map(text -> read(text, Operation.class));
    }

    private <T> T read(@org.jspecify.annotations.Nullable String text, Class<T> type) {
        if (text == null) {
            throw ProblemException.notFound();
        }
        try {
            return json.readValue(text, type);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a stored " + type.getSimpleName() + " cannot be read", e);
        }
    }
}
