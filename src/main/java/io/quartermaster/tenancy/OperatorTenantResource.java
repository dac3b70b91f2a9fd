package io.quartermaster.tenancy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.OperatorWrites;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponseSchema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** Tenants, as the operator sees them. */
@Path("/v1/operator/tenants")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Tenants")
public class OperatorTenantResource {

    private final TenantService service;
    private final TenantStore tenants;
    private final SystemDatabase database;
    private final OperatorWrites writes;
    private final CurrentCaller currentCaller;
    private final TenantCredentials credentials;
    private final ObjectMapper json;

    OperatorTenantResource(
            TenantService service,
            TenantStore tenants,
            SystemDatabase database,
            OperatorWrites writes,
            CurrentCaller currentCaller,
            TenantCredentials credentials,
            ObjectMapper json) {
        this.json = json;
        this.service = service;
        this.tenants = tenants;
        this.database = database;
        this.writes = writes;
        this.currentCaller = currentCaller;
        this.credentials = credentials;
    }

    @POST
    @RequiresPermission(Permission.TENANTS_WRITE)
    @Operation(
            operationId = "createTenant",
            summary = "Creates a tenant",
            description = "Answers with the operation that creates it. A repeated request gets the same operation; a "
                    + "failed operation restarts.")
    @APIResponseSchema(value = io.quartermaster.platform.operations.Operation.class, responseCode = "202")
    public Uni<Response> create(
            @BeanParam WriteParams params, @Context UriInfo uri, TenantService.@Nullable NewTenant body) {
        TenantSpec spec = service.check(body);
        return writes.run(
                currentCaller.current().subject(),
                uri,
                params,
                body,
                connection -> service.create(connection, currentCaller.current(), spec));
    }

    @GET
    @RequiresPermission(Permission.TENANTS_READ)
    @Operation(operationId = "listTenants", summary = "Lists tenants by id")
    public Uni<Page<Tenant>> list(
            @BeanParam PageRequest page,
            @Parameter(
                            description = "Only tenants in this state.",
                            schema = @Schema(implementation = TenantState.class))
                    @QueryParam("state")
                    @Nullable
                    String state) {
        TenantState wanted = state == null
                ? null
                : EnumNames.parse(TenantState.class, state)
                        .orElseThrow(() -> ProblemException.invalid(
                                "state", "there is no such state", EnumNames.accepted(TenantState.class)));
        String scope = "operator/tenants?state=" + (state == null ? "" : state);
        String after = page.after(scope).orElse("");
        return database.on(connection -> tenants.list(connection, wanted, after, page.size() + 1))
                .map(found ->
                        Page.of(found, page.size(), scope, tenant -> tenant.id().value()));
    }

    @GET
    @Path("/{tenant}")
    @RequiresPermission(Permission.TENANTS_READ)
    @Operation(operationId = "getTenant", summary = "Shows a tenant")
    @APIResponseSchema(Tenant.class)
    public Uni<Response> get(@PathParam("tenant") TenantId tenant) {
        return database.on(connection -> tenants.find(connection, tenant))
                .map(found -> found.orElseThrow(ProblemException::notFound))
                .map(known -> TenantWrites.response(WriteReply.ok(known, known.version())));
    }

    @PATCH
    @Path("/{tenant}")
    @Consumes({MergePatch.MEDIA_TYPE, MediaType.APPLICATION_JSON})
    @RequiresPermission(Permission.TENANTS_WRITE)
    @Operation(
            operationId = "updateTenant",
            summary = "Renames, suspends or resumes a tenant, by a merge patch (RFC 7396)",
            description =
                    "The users of a suspended tenant can read, but change nothing. Its running work continues, and none "
                            + "of its waiting work starts.")
    @RequestBody(
            required = true,
            content = {
                @Content(
                        mediaType = MergePatch.MEDIA_TYPE,
                        schema = @Schema(implementation = TenantService.TenantChange.class)),
                @Content(
                        mediaType = MediaType.APPLICATION_JSON,
                        schema = @Schema(implementation = TenantService.TenantChange.class))
            })
    @APIResponseSchema(Tenant.class)
    public Uni<Response> change(
            @PathParam("tenant") TenantId tenant,
            @BeanParam WriteParams params,
            @Context UriInfo uri,
            @Nullable String body)
            throws JsonProcessingException {
        MergePatch patch = MergePatch.read(json, body, TenantService.TenantChange.class);
        return writes.run(
                        currentCaller.current().subject(),
                        uri,
                        params,
                        patch.patch(),
                        connection -> service.change(connection, currentCaller.current(), tenant, params, patch))
                .call(() -> service.committed(params.mode()));
    }

    @DELETE
    @Path("/{tenant}")
    @RequiresPermission(Permission.TENANTS_WRITE)
    @Operation(
            operationId = "offboardTenant",
            summary = "Offboards a suspended tenant, or one that is not active yet: its rules, allotments and realm "
                    + "are deleted, its usage stays",
            description =
                    "Answers with the operation that offboards it; a repeated request gets the same operation. The "
                            + "provisioning of a tenant that is not active yet, or failed, is cancelled. Refused while "
                            + "an attempt of the tenant holds a device. The users of the realm are deleted for good; the id is "
                            + "never used again.")
    @APIResponseSchema(value = io.quartermaster.platform.operations.Operation.class, responseCode = "202")
    public Uni<Response> offboard(
            @PathParam("tenant") TenantId tenant, @BeanParam WriteParams params, @Context UriInfo uri) {
        return writes.run(
                        currentCaller.current().subject(),
                        uri,
                        params,
                        null,
                        connection -> service.offboard(connection, currentCaller.current(), tenant))
                .call(() -> service.committed(params.mode()));
    }

    @POST
    @Path("/{tenant}/admins")
    @RequiresPermission(Permission.TENANTS_CREDENTIAL)
    @Operation(
            operationId = "createTenantAdmin",
            summary = "Creates an admin of the tenant, with a password for the first login",
            description =
                    "The password is shown once and must be replaced at the first login. Until then, a repeated request "
                            + "replaces it; an Idempotency-Key does not show it again.")
    @APIResponse(
            responseCode = "201",
            content = @Content(schema = @Schema(implementation = TenantCredentials.FirstLogin.class)))
    @APIResponse(responseCode = "502", ref = "IdentityRefused")
    public Uni<Response> createAdmin(
            @PathParam("tenant") TenantId tenant,
            @BeanParam WriteParams params,
            TenantCredentials.@Nullable NewAdmin body) {
        TenantCredentials.NewAdmin wanted = TenantCredentials.validate(body);
        return credentials
                .admin(currentCaller.current(), tenant, wanted, params.mode())
                .map(login -> secretResponse(params.mode(), login, login.withoutSecret()));
    }

    @POST
    @Path("/{tenant}/automation-secret")
    @RequiresPermission(Permission.TENANTS_CREDENTIAL)
    @Operation(
            operationId = "issueAutomationSecret",
            summary = "Issues the secret with which the tenant's automation gets its tokens",
            description =
                    "The secret is shown once. A repeated request replaces it; an Idempotency-Key does not show it again.")
    @APIResponse(
            responseCode = "201",
            content = @Content(schema = @Schema(implementation = TenantCredentials.ClientSecret.class)))
    @APIResponse(responseCode = "502", ref = "IdentityRefused")
    public Uni<Response> automationSecret(@PathParam("tenant") TenantId tenant, @BeanParam WriteParams params) {
        return credentials
                .automation(currentCaller.current(), tenant, params.mode())
                .map(secret -> secretResponse(params.mode(), secret, secret.withoutSecret()));
    }

    /**
     * Unlike other answers, this one is not stored for a repeated key: a secret is stored nowhere, and a dry run
     * creates none.
     */
    private Response secretResponse(WriteMode mode, Object secret, Object withoutSecret) {
        return writes.unstored(
                mode,
                new WriteReply(
                        201,
                        switch (mode) {
                            case COMMIT -> secret;
                            case DRY_RUN -> withoutSecret;
                        },
                        Map.of()));
    }
}
