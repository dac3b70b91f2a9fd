package io.quartermaster.execution.agents;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.NodeSessionIssuer;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.agent.protocol.InvalidFieldException;
import io.quartermaster.agent.protocol.SessionReply;
import io.quartermaster.agent.protocol.SyncReply;
import io.quartermaster.agent.protocol.SyncRequest;
import io.quartermaster.platform.http.JsonProblems;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.unchecked.Unchecked;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.io.IOException;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.RequestBody;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The resource through which agents report their state and receive the desired state. */
@Path("/v1/nodes/{node}")
@Consumes(MediaType.APPLICATION_JSON)
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Agents", description = "The protocol between the service and the agents of its nodes")
public class AgentResource {

    /**
     * JSON in the form of the agents' protocol, not of the API: agents may be older or newer than the service, so each
     * side ignores unknown fields.
     */
    private static final ObjectMapper PROTOCOL = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private final AgentService service;
    private final NodeSessionIssuer sessions;
    private final CurrentCaller currentCaller;

    AgentResource(AgentService service, NodeSessionIssuer sessions, CurrentCaller currentCaller) {
        this.service = service;
        this.sessions = sessions;
        this.currentCaller = currentCaller;
    }

    @POST
    @Path("/sessions")
    @Consumes(MediaType.WILDCARD)
    @RequiresPermission(Permission.AGENTS_SYNC)
    @Operation(
            operationId = "openNodeSession",
            summary = "Get a token for the node's further calls, so that they do not depend on Keycloak",
            description = "The agent sends an access token of Keycloak, or a valid session of the node. A session"
                    + " ends after 24 hours, and when the node's credential is replaced or the node is "
                    + "retired. An access"
                    + " token from before the node's current credential is answered 409 with the code"
                    + " credential-is-newer.")
    @APIResponse(responseCode = "201", content = @Content(schema = @Schema(implementation = SessionReply.class)))
    public Uni<Response> openSession(@PathParam("node") String node) {
        return sessions.open(node, currentCaller.credential())
                .map(Unchecked.function(opened -> Response.status(Response.Status.CREATED)
                        .header("Cache-Control", "no-store")
                        .entity(PROTOCOL.writeValueAsBytes(new SessionReply(
                                opened.token(), opened.lifetime().toMillis())))
                        .build()));
    }

    @POST
    @Path("/sync")
    @RequiresPermission(Permission.AGENTS_SYNC)
    @Operation(
            operationId = "syncNode",
            summary = "Report the state of the node and receive its desired state; held open until there is news",
            description = "409 another-agent: an agent with another state folder, or from before this machine's last"
                    + " restart, holds the node's lease. 409 not-isolated: the agent does not isolate tenants, and the"
                    + " node is new and in a pool of several tenants. 409 inventory-unknown: the service has not stored"
                    + " the inventory that the digest names; repeat the request with the inventory. 503 lease-lapsed: the service is giving the node"
                    + " up; repeat the request in a moment.")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = SyncRequest.class)))
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = SyncReply.class)))
    public Uni<Response> sync(@PathParam("node") String node, byte @Nullable [] body) throws IOException {
        return service.sync(node, read(body == null ? new byte[0] : body))
                .map(Unchecked.function(
                        reply -> Response.ok(PROTOCOL.writeValueAsBytes(reply)).build()));
    }

    /** Reads a report. An invalid report is refused with the path of the field, before any part of it is applied. */
    private static SyncRequest read(byte[] body) throws IOException {
        try {
            @Nullable SyncRequest request = PROTOCOL.readValue(body, SyncRequest.class);
            if (request == null) {
                throw ProblemException.invalid("body", "is missing", "a report of the node's state");
            }
            return request;
        } catch (JsonMappingException e) {
            if (e.getCause() instanceof InvalidFieldException refused) {
                String record = e.getPath().isEmpty() ? "" : JsonProblems.path(e) + ".";
                throw ProblemException.invalid(
                        record + refused.field(), refused.given() + " is not accepted", refused.accepted());
            }
            throw e;
        }
    }
}
