package io.quartermaster.tenancy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quarkus.arc.All;
import io.quartermaster.platform.operations.Operation;
import io.quartermaster.platform.operations.OperationHandler;
import io.quartermaster.platform.operations.OperationStore;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Creates a tenant: runs all {@link ProvisioningStep}s, from low to high. */
@ApplicationScoped
class ProvisionTenant implements OperationHandler {

    static final String KIND = "provision-tenant";

    private final Map<String, ProvisioningStep> steps = new LinkedHashMap<>();
    private final TenantStore tenants;
    private final ObjectMapper json;

    ProvisionTenant(@All List<ProvisioningStep> steps, TenantStore tenants, ObjectMapper json) {
        this.tenants = tenants;
        this.json = json;
        steps.stream()
                .sorted(Comparator.comparingInt(ProvisioningStep::order).thenComparing(ProvisioningStep::name))
                .forEach(step -> {
                    if (this.steps.put(step.name(), step) != null) {
                        throw new IllegalStateException("two provisioning steps have the name " + step.name());
                    }
                });
    }

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public List<String> steps() {
        return List.copyOf(steps.keySet());
    }

    @Override
    public Uni<Void> run(String step, OperationStore.Claim claim) {
        ProvisioningStep known = steps.get(step);
        if (known == null) {
            throw new IllegalArgumentException("no step " + step);
        }
        return known.apply(spec(claim));
    }

    TenantSpec spec(OperationStore.Claim claim) {
        try {
            return json.readValue(claim.request(), TenantSpec.class);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the request of an operation cannot be read", e);
        }
    }

    @Override
    public Uni<Void> onGivenUp(SqlConnection connection, Operation operation) {
        return tenants.move(connection, operation.tenant(), TenantState.PROVISIONING, TenantState.FAILED)
                .replaceWithVoid();
    }
}
