package io.quartermaster.execution.agents;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.quartermaster.access.Needs;
import io.quartermaster.access.Permission;
import io.quartermaster.agent.protocol.SyncReply;
import io.quartermaster.agent.protocol.SyncRequest;
import io.quartermaster.platform.ProblemException;
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

/** Where agents report and hear. */
@Path("/v1/nodes/{node}")
@Consumes(MediaType.APPLICATION_JSON)
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Agents", description = "The protocol between the service and the agents of its nodes")
public class AgentResource {

    /**
     * The agent's own way of writing JSON, not the API's: agents are older or newer than the service, so each side ignores what it does
     * not know.
     */
    private static final ObjectMapper PROTOCOL = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private final AgentService service;

    AgentResource(AgentService service) {
        this.service = service;
    }

    @POST
    @Path("/sync")
    @Needs(Permission.AGENTS_SYNC)
    @Operation(
            operationId = "syncNode",
            summary = "Report what runs on the node and hear what should; held open until there is news")
    @RequestBody(required = true, content = @Content(schema = @Schema(implementation = SyncRequest.class)))
    @APIResponse(responseCode = "200", content = @Content(schema = @Schema(implementation = SyncReply.class)))
    public Uni<Response> sync(@PathParam("node") String node, byte @Nullable [] body) throws IOException {
        @Nullable SyncRequest request = PROTOCOL.readValue(body == null ? new byte[0] : body, SyncRequest.class);
        if (request == null) {
            throw ProblemException.invalid("body", "is missing", "a report of what is on the node");
        }
        return service.sync(node, request)
                .map(Unchecked.function(
                        reply -> Response.ok(PROTOCOL.writeValueAsBytes(reply)).build()));
    }
}
