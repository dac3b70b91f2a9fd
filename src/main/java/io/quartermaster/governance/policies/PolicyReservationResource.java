package io.quartermaster.governance.policies;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.capacity.grants.CapacityReservationApi;
import io.quartermaster.capacity.grants.CapacityReservationStore;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.writes.WriteParams;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.media.Content;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.responses.APIResponse;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jspecify.annotations.Nullable;

/** The capacity reservations that a tenant's admins give to groups. */
@Path("/v1/tenants/{tenant}/capacity-reservations")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Capacity reservations")
public class PolicyReservationResource {

    private final PolicyReservationService service;
    private final CapacityReservationStore reservations;

    PolicyReservationResource(PolicyReservationService service, CapacityReservationStore reservations) {
        this.service = service;
        this.reservations = reservations;
    }

    @POST
    @RequiresPermission(Permission.CAPACITY_RESERVATIONS_WRITE)
    @Operation(
            operationId = "createCapacityReservation",
            summary = "Raises the reserved amount and the limit of a policy's group in a pool for a window of time",
            description = "At each moment of the window, the reservations of groups must fit the reservation "
                    + "of their parent.")
    @APIResponse(
            responseCode = "201",
            content = @Content(schema = @Schema(implementation = CapacityReservationApi.View.class)))
    public Uni<Response> create(
            @PathParam("tenant") String tenant,
            CapacityReservationApi.@Nullable OfPolicy body,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return service.create(new TenantId(tenant), body, params, uri);
    }

    @GET
    @RequiresPermission(Permission.CAPACITY_RESERVATIONS_READ)
    @Operation(
            operationId = "listCapacityReservations",
            summary =
                    "Lists the capacity reservations of the tenant and its groups in the order in which they were made")
    public Uni<Page<CapacityReservationApi.View>> list(
            @PathParam("tenant") String tenant,
            @Parameter(description = "lists the reservations that are over, instead of those that are planned or open")
                    @QueryParam("over")
                    @DefaultValue("false")
                    boolean over,
            @BeanParam PageRequest page) {
        return reservations.list(new TenantId(tenant), over, page);
    }

    @GET
    @Path("{capacityReservation}")
    @RequiresPermission(Permission.CAPACITY_RESERVATIONS_READ)
    @Operation(operationId = "getCapacityReservation", summary = "Shows a capacity reservation")
    public Uni<CapacityReservationApi.View> get(
            @PathParam("tenant") String tenant, @PathParam("capacityReservation") String id) {
        return reservations.get(new TenantId(tenant), id);
    }

    @DELETE
    @Path("{capacityReservation}")
    @RequiresPermission(Permission.CAPACITY_RESERVATIONS_WRITE)
    @Operation(
            operationId = "endCapacityReservation",
            summary = "Cancels a group's planned capacity reservation, or ends an open one; running work "
                    + "continues as over-quota")
    @APIResponse(responseCode = "204", description = "The reservation is cancelled or ended.")
    public Uni<Response> end(
            @PathParam("tenant") String tenant,
            @PathParam("capacityReservation") String id,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return service.end(new TenantId(tenant), id, params, uri);
    }
}
