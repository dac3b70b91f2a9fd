package io.quartermaster.capacity.grants;

import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
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

/** The capacity reservations that the operator gives to a tenant. */
@Path("/v1/operator/tenants/{tenant}/capacity-reservations")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Capacity reservations")
public class CapacityReservationResource {

    private final CapacityReservationService service;
    private final CapacityReservationStore reservations;

    CapacityReservationResource(CapacityReservationService service, CapacityReservationStore reservations) {
        this.service = service;
        this.reservations = reservations;
    }

    @POST
    @RequiresPermission(Permission.CAPACITY_RESERVATIONS_WRITE)
    @Operation(
            operationId = "createTenantCapacityReservation",
            summary = "Raises the reserved amount and the limit of a tenant in a pool for a window of time",
            description = "Together with the reservations of other tenants, more may be reserved than is up: "
                    + "the answer then contains a warning.")
    @APIResponse(
            responseCode = "201",
            content = @Content(schema = @Schema(implementation = CapacityReservationApi.View.class)))
    public Uni<Response> create(
            @PathParam("tenant") String tenant,
            CapacityReservationApi.@Nullable OfTenant body,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return service.create(tenantId(tenant), body, params, uri);
    }

    @GET
    @RequiresPermission(Permission.CAPACITY_RESERVATIONS_READ)
    @Operation(
            operationId = "listTenantCapacityReservations",
            summary = "Lists the capacity reservations of a tenant and its groups in the order in which they were made")
    public Uni<Page<CapacityReservationApi.View>> list(
            @PathParam("tenant") String tenant,
            @Parameter(description = "lists the reservations that are over, instead of those that are planned or open")
                    @QueryParam("over")
                    @DefaultValue("false")
                    boolean over,
            @BeanParam PageRequest page) {
        return reservations.list(tenantId(tenant), over, page);
    }

    @GET
    @Path("{capacityReservation}")
    @RequiresPermission(Permission.CAPACITY_RESERVATIONS_READ)
    @Operation(operationId = "getTenantCapacityReservation", summary = "Shows a capacity reservation")
    public Uni<CapacityReservationApi.View> get(
            @PathParam("tenant") String tenant, @PathParam("capacityReservation") String id) {
        return reservations.get(tenantId(tenant), id);
    }

    @DELETE
    @Path("{capacityReservation}")
    @RequiresPermission(Permission.CAPACITY_RESERVATIONS_WRITE)
    @Operation(
            operationId = "endTenantCapacityReservation",
            summary = "Cancels a planned capacity reservation, or ends an open one; running work continues "
                    + "as over-quota")
    @APIResponse(responseCode = "204", description = "The reservation is cancelled or ended.")
    public Uni<Response> end(
            @PathParam("tenant") String tenant,
            @PathParam("capacityReservation") String id,
            @BeanParam WriteParams params,
            UriInfo uri) {
        return service.end(tenantId(tenant), id, params, uri);
    }

    private static TenantId tenantId(String text) {
        if (!TenantId.isValid(text)) {
            throw ProblemException.notFound();
        }
        return new TenantId(text);
    }
}
