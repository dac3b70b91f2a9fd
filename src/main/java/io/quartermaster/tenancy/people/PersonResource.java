package io.quartermaster.tenancy.people;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.WriteParams;
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
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.extensions.Extension;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The people of a tenant. The realm is the source of truth; the service stores none. */
@Path("/v1/tenants/{tenant}/people")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "People")
public class PersonResource {

    private final PersonService people;
    private final CurrentCaller currentCaller;

    PersonResource(PersonService people, CurrentCaller currentCaller) {
        this.people = people;
        this.currentCaller = currentCaller;
    }

    @GET
    @RequiresPermission(Permission.PEOPLE_READ)
    @Operation(operationId = "listPeople", summary = "Lists people, in the order of their usernames")
    @Extension(name = "x-problem", value = "502")
    public Uni<Page<PersonApi.Person>> list(
            @PathParam("tenant") TenantId tenant,
            @Parameter(description = "Only people whose username, name or email address has this text.")
                    @QueryParam("search")
                    @Nullable
                    String search,
            @Parameter(
                            description = "Only people with this role. Not together with the other filters.",
                            example = "tenant-admin")
                    @QueryParam("role")
                    @Nullable
                    String role,
            @Parameter(
                            description =
                                    "Only members of this group, named by its path; not those of its subgroups. Not "
                                            + "together with the other filters.",
                            example = "/research/nlp")
                    @QueryParam("group")
                    @Nullable
                    String group,
            @BeanParam PageRequest page) {
        return people.list(tenant, new PersonService.Filter(search, role, group), page);
    }

    @GET
    @Path("{person}")
    @RequiresPermission(Permission.PEOPLE_READ)
    @Operation(operationId = "getPerson", summary = "Shows a person with roles and groups")
    @Extension(name = "x-problem", value = "502")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = PersonApi.Details.class)))
    public Uni<Response> get(@PathParam("tenant") TenantId tenant, @PathParam("person") String person) {
        return people.get(tenant, id(person));
    }

    @POST
    @RequiresPermission(Permission.PEOPLE_WRITE)
    @Operation(
            operationId = "invitePerson",
            summary = "Adds a person with roles and groups, and lets the person set a password",
            description = "Where the realm has a mail server, it sends a mail with a link. Otherwise the answer has a "
                    + "password for one login; it is shown once. While the person has set no password, a repeated "
                    + "request replaces the invitation. No answer is stored for an Idempotency-Key: a repeated "
                    + "request is carried out again, because a password is shown once.")
    @APIResponse(responseCode = "201", content = @Content(schema = @Schema(implementation = PersonApi.Invited.class)))
    @APIResponse(responseCode = "502", ref = "IdentityRefused")
    public Uni<Response> invite(
            @PathParam("tenant") TenantId tenant, @BeanParam WriteParams params, PersonApi.@Nullable Invitation body) {
        return people.invite(tenant, currentCaller.current(), body, params);
    }

    @PATCH
    @Path("{person}")
    @Consumes({MergePatch.MEDIA_TYPE, MediaType.APPLICATION_JSON})
    @RequiresPermission(Permission.PEOPLE_WRITE)
    @Operation(
            operationId = "updatePerson",
            summary = "Sets roles and groups of a person, or disables or enables the person",
            description = "New roles and groups take effect with the person's next token, within minutes. You can "
                    + "grant and revoke only roles whose permissions you have. The tenant keeps at least one enabled "
                    + "admin (409). No answer is stored for an Idempotency-Key. If Keycloak fails, part of the change "
                    + "may be made: read the person again, and repeat the request with the new ETag.")
    @RequestBody(
            required = true,
            content = {
                @Content(mediaType = MergePatch.MEDIA_TYPE, schema = @Schema(implementation = PersonApi.Patch.class)),
                @Content(
                        mediaType = MediaType.APPLICATION_JSON,
                        schema = @Schema(implementation = PersonApi.Patch.class))
            })
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = PersonApi.Details.class)))
    @APIResponse(responseCode = "502", ref = "IdentityRefused")
    public Uni<Response> update(
            @PathParam("tenant") TenantId tenant,
            @PathParam("person") String person,
            @Nullable String body,
            @BeanParam WriteParams params)
            throws JsonProcessingException {
        return people.update(tenant, currentCaller.current(), id(person), body, params);
    }

    /** A malformed id gets the same response as an unknown one. */
    private static String id(String text) {
        try {
            return UUID.fromString(text).toString();
        } catch (IllegalArgumentException e) {
            throw ProblemException.notFound();
        }
    }
}
