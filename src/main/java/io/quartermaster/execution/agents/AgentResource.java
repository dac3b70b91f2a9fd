package io.quartermaster.execution.agents;

import io.quartermaster.access.Needs;
import io.quartermaster.access.Permission;
import io.quartermaster.agent.protocol.SyncReply;
import io.quartermaster.agent.protocol.SyncRequest;
import io.smallrye.mutiny.Uni;
import jakarta.validation.constraints.NotNull;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** Where agents report and hear. */
@Path("/v1/nodes/{node}")
@Tag(name = "Agents", description = "The protocol between the service and the agents of its nodes")
public class AgentResource {

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
    public Uni<SyncReply> sync(@PathParam("node") String node, @NotNull SyncRequest request) {
        return service.sync(node, request);
    }
}
