package io.quartermaster.governance.profiles;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.governance.ChangeImpact;
import io.quartermaster.governance.rules.WaitingWorkPolicy;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.writes.WriteParams;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.PATCH;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.PUT;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The shapes of a tenant's jobs. */
@Path("/v1/tenants/{tenant}/profiles")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Profiles")
public class ProfileResource {

    private final ProfileService profiles;

    ProfileResource(ProfileService profiles) {
        this.profiles = profiles;
    }

    @POST
    @RequiresPermission(Permission.PROFILES_WRITE)
    @Operation(
            operationId = "createProfile",
            summary = "Creates a profile, the shape of a job; an identical repeat changes nothing and answers 200")
    @APIResponse(responseCode = "201", content = @Content(schema = @Schema(implementation = ProfileApi.View.class)))
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ProfileApi.View.class)))
    public Uni<Response> create(
            @PathParam("tenant") String tenant,
            ProfileApi.@Nullable Request body,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return profiles.create(new TenantId(tenant), body, params, uri);
    }

    @GET
    @RequiresPermission(Permission.PROFILES_READ)
    @Operation(operationId = "listProfiles", summary = "Lists profiles by name")
    public Uni<Page<ProfileApi.View>> list(
            @PathParam("tenant") String tenant,
            @QueryParam("pool") @Nullable String pool,
            @BeanParam PageRequest page) {
        return profiles.list(new TenantId(tenant), pool, page);
    }

    @GET
    @Path("{profile}")
    @RequiresPermission(Permission.PROFILES_READ)
    @Operation(operationId = "getProfile", summary = "Shows a profile")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ProfileApi.View.class)))
    public Uni<Response> get(@PathParam("tenant") String tenant, @PathParam("profile") String profile) {
        return profiles.get(new TenantId(tenant), profile);
    }

    @PUT
    @Path("{profile}")
    @RequiresPermission(Permission.PROFILES_WRITE)
    @Operation(
            operationId = "updateProfile",
            summary = "Replaces a profile",
            description = "Running work keeps the shape with which it started.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ProfileApi.View.class)))
    public Uni<Response> update(
            @PathParam("tenant") String tenant,
            @PathParam("profile") String profile,
            ProfileApi.@Nullable Request body,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return profiles.update(new TenantId(tenant), profile, body, params, uri);
    }

    @PATCH
    @Path("{profile}")
    @Consumes({MergePatch.MEDIA_TYPE, MediaType.APPLICATION_JSON})
    @RequiresPermission(Permission.PROFILES_WRITE)
    @Operation(
            operationId = "patchProfile",
            summary = "Changes some fields of a profile, by a merge patch (RFC 7396)",
            description = "An absent field stays unchanged, null returns a field to its default, lists are "
                    + "replaced. A patch that changes nothing leaves the version as it is.")
    @RequestBody(
            required = true,
            content = {
                @Content(mediaType = MergePatch.MEDIA_TYPE, schema = @Schema(implementation = ProfileApi.Patch.class)),
                @Content(
                        mediaType = MediaType.APPLICATION_JSON,
                        schema = @Schema(implementation = ProfileApi.Patch.class))
            })
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ProfileApi.View.class)))
    public Uni<Response> patch(
            @PathParam("tenant") String tenant,
            @PathParam("profile") String profile,
            @Nullable String body,
            @BeanParam WriteParams params,
            UriInfo uri)
            throws JsonProcessingException {
        return profiles.patch(new TenantId(tenant), profile, body, params, uri);
    }

    @DELETE
    @Path("{profile}")
    @RequiresPermission(Permission.PROFILES_WRITE)
    @Operation(
            operationId = "retireProfile",
            summary = "Retires a profile and its queues, in every policy; running work continues as over-quota",
            description =
                    "While work waits in a queue that the call retires, the call must say what to do with it, or is "
                            + "refused (409).")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = ChangeImpact.class)))
    @APIResponse(responseCode = "412", ref = "PreconditionFailed")
    public Uni<Response> retire(
            @PathParam("tenant") String tenant,
            @PathParam("profile") String profile,
            @Parameter(
                            description = WaitingWorkPolicy.DESCRIPTION,
                            schema =
                                    @Schema(
                                            type = SchemaType.STRING,
                                            enumeration = {"cancel", "move"}))
                    @QueryParam("onWaiting")
                    @Nullable
                    String onWaiting,
            @Parameter(description = WaitingWorkPolicy.MOVE_TO) @QueryParam("moveTo") @Nullable String moveTo,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return profiles.retire(new TenantId(tenant), profile, params, uri, WaitingWorkPolicy.parse(onWaiting, moveTo));
    }
}
