package io.quartermaster.tenancy.signin;

import io.quartermaster.access.IdentityConfig;
import io.quartermaster.access.WithoutToken;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.security.SecurityRequirements;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Where a command line signs in. It reads no table, so it does not reveal which tenants exist. */
@Path("/v1/sign-in/{tenant}")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Tenants")
public class SignInResource {

    /** The public client of every realm with which {@code qm} signs people in. */
    public static final String CLIENT = "qm-cli";

    private final IdentityConfig identity;

    SignInResource(IdentityConfig identity) {
        this.identity = identity;
    }

    /** The addresses and names with which a command line starts to sign in. */
    @Schema(name = "SignIn", description = "Where the command line of a tenant's people signs in.")
    public record SignIn(
            @Schema(description = "The name in the request.")
            String tenant,

            @Schema(
                    description = "The issuer of the tenant's tokens, an OpenID provider.",
                    examples = "https://login.example.com/realms/acme")
            String issuer,

            @Schema(description = "The public client for the device authorization grant (RFC 8628).", examples = CLIENT)
            String clientId) {}

    @GET
    @WithoutToken
    @SecurityRequirements({})
    @Operation(
            operationId = "getSignIn",
            summary = "Names the issuer and the client with which people of a tenant sign in",
            description = "Needs no token. The answer has the same form for every well-formed name, whether or not a "
                    + "tenant has it. The operator's people use the name `operator`.")
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = SignIn.class)))
    @APIResponse(responseCode = "404", ref = "NotFound")
    public Uni<SignIn> get(@PathParam("tenant") String tenant) {
        if (!TenantId.isValid(tenant)) {
            throw ProblemException.invalid("tenant", "\"" + tenant + "\" is not an id of a tenant", TenantId.ACCEPTED);
        }
        return Uni.createFrom().item(new SignIn(tenant, identity.issuerOf(tenant), CLIENT));
    }
}
