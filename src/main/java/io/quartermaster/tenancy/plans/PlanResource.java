package io.quartermaster.tenancy.plans;

import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Permission;
import io.quartermaster.access.RequiresPermission;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.tenancy.Blueprint;
import io.quartermaster.tenancy.BlueprintCatalog;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** The plans of tenants and their blueprints, as this replica has read them. */
@Path("/v1/operator/plans")
@Produces(MediaType.APPLICATION_JSON)
@Tag(name = "Tenants")
public class PlanResource {

    private final BlueprintCatalog blueprints;

    PlanResource(BlueprintCatalog blueprints) {
        this.blueprints = blueprints;
    }

    /** A plan and the blueprint of its tenants. */
    @Schema(name = "Plan", description = "A plan of tenants, with its blueprint. Passwords of demo users are left out.")
    public record Plan(
            @Schema(description = "Name of the plan.") String name,

            @Schema(description = "File of the realm template, in the folder of the blueprints.")
            String realmTemplate,

            @Schema(description = "Groups that each new tenant gets.")
            List<GroupPath> groups,

            @Schema(description = "The most groups that the realm of a tenant may have.")
            int maxGroups,

            @Schema(description = "Whether it is for demonstrations only.")
            boolean demo,

            @Schema(description = "Whether the tenant's admins manage its people. Otherwise another system does.")
            boolean adminsManagePeople,

            @Schema(
                    type = SchemaType.OBJECT,
                    additionalProperties = Schema.True.class,
                    implementation = Object.class,
                    description = "Further parts of the blueprint, such as the initial rules of a new tenant.")
            Map<String, Object> sections) {}

    @Schema(name = "PlanList", description = "All plans, in the order of their names.")
    public record Plans(@Schema(description = "The plans.") List<Plan> items) {}

    @GET
    @RequiresPermission(Permission.TENANTS_READ)
    @Operation(operationId = "listPlans", summary = "Lists the plans of tenants with their blueprints")
    public Plans list() {
        return new Plans(blueprints.names().stream().sorted().map(this::plan).toList());
    }

    @GET
    @Path("{plan}")
    @RequiresPermission(Permission.TENANTS_READ)
    @Operation(operationId = "getPlan", summary = "Shows a plan with its blueprint")
    public Plan get(@PathParam("plan") String plan) {
        if (!blueprints.names().contains(plan)) {
            throw ProblemException.notFound();
        }
        return plan(plan);
    }

    private Plan plan(String name) {
        Blueprint blueprint = blueprints.find(name).orElseThrow();
        return new Plan(
                name,
                blueprint.realmTemplate(),
                blueprint.groups(),
                blueprint.maxGroups(),
                blueprint.demo(),
                blueprints.adminsManageUsers(name),
                Map.copyOf(blueprints.sections(name)));
    }
}
