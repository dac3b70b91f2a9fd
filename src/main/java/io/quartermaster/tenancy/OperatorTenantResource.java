package io.quartermaster.tenancy;

import io.quartermaster.access.Callers;
import io.quartermaster.access.Needs;
import io.quartermaster.access.Permission;
import io.quartermaster.platform.OperatorWrites;
import io.quartermaster.platform.Page;
import io.quartermaster.platform.PageRequest;
import io.quartermaster.platform.ProblemException;
import io.quartermaster.platform.Reply;
import io.quartermaster.platform.SystemDatabase;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.Words;
import io.quartermaster.platform.WriteParams;
import io.quartermaster.platform.Writes;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponseSchema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Tenants, as the operator sees them. */
@Path("/v1/operator/tenants")
@Tag(name = "Tenants")
public class OperatorTenantResource {

    private final TenantService service;
    private final TenantStore tenants;
    private final SystemDatabase database;
    private final OperatorWrites writes;
    private final Callers callers;

    OperatorTenantResource(
            TenantService service,
            TenantStore tenants,
            SystemDatabase database,
            OperatorWrites writes,
            Callers callers) {
        this.service = service;
        this.tenants = tenants;
        this.database = database;
        this.writes = writes;
        this.callers = callers;
    }

    @POST
    @Needs(Permission.TENANTS_WRITE)
    @Operation(
            operationId = "createTenant",
            summary = "Makes a tenant",
            description =
                    "Answers with the operation that makes it. The same request again gives the same operation; a failed one begins again.")
    @APIResponseSchema(value = io.quartermaster.tenancy.Operation.class, responseCode = "202")
    public Uni<Response> create(
            @BeanParam WriteParams params, @Context UriInfo uri, TenantService.@Nullable NewTenant body) {
        TenantSpec spec = service.check(body);
        return writes.run(
                callers.current().subject(),
                uri,
                params,
                body,
                connection -> service.create(connection, callers.current(), spec));
    }

    @GET
    @Needs(Permission.TENANTS_READ)
    @Operation(operationId = "listTenants", summary = "Lists tenants by id")
    public Uni<Page<Tenant>> list(@BeanParam PageRequest page, @QueryParam("state") @Nullable String state) {
        TenantState wanted = state == null
                ? null
                : Words.parse(TenantState.class, state)
                        .orElseThrow(() -> ProblemException.invalid(
                                "state", "there is no such state", Words.accepted(TenantState.class)));
        String scope = "operator/tenants?state=" + (state == null ? "" : state);
        String after = page.after(scope).orElse("");
        return database.on(connection -> tenants.list(connection, wanted, after, page.size() + 1))
                .map(found ->
                        Page.of(found, page.size(), scope, tenant -> tenant.id().value()));
    }

    @GET
    @Path("/{tenant}")
    @Needs(Permission.TENANTS_READ)
    @Operation(operationId = "getTenant", summary = "Shows a tenant")
    @APIResponseSchema(Tenant.class)
    public Uni<Response> get(@PathParam("tenant") TenantId tenant) {
        return database.on(connection -> tenants.find(connection, tenant))
                .map(found -> found.orElseThrow(ProblemException::notFound))
                .map(known -> Writes.response(Reply.ok(known, known.version())));
    }

    @PATCH
    @Path("/{tenant}")
    @Needs(Permission.TENANTS_WRITE)
    @Operation(
            operationId = "updateTenant",
            summary = "Renames, suspends or resumes a tenant",
            description =
                    "A suspended tenant reads what it has and changes nothing; what it runs goes on, and nothing of it is started.")
    @APIResponseSchema(Tenant.class)
    public Uni<Response> change(
            @PathParam("tenant") TenantId tenant,
            @BeanParam WriteParams params,
            @Context UriInfo uri,
            TenantService.@Nullable TenantChange body) {
        return writes.run(
                        callers.current().subject(),
                        uri,
                        params,
                        body,
                        connection -> service.change(connection, callers.current(), tenant, params, body))
                .call(() -> service.committed(params.mode()));
    }
}
