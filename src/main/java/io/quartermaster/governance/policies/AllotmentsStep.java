package io.quartermaster.governance.policies;

import io.quartermaster.access.Caller;
import io.quartermaster.capacity.grants.AllotmentService;
import io.quartermaster.tenancy.BlueprintCatalog;
import io.quartermaster.tenancy.ProvisioningStep;
import io.quartermaster.tenancy.TenantSpec;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;

/** Creates the allotments of the tenant's plan. An allotment that the tenant already has stays unchanged. */
@ApplicationScoped
public class AllotmentsStep implements ProvisioningStep {

    private final BlueprintCatalog blueprintCatalog;
    private final AllotmentService allotments;

    AllotmentsStep(BlueprintCatalog blueprintCatalog, AllotmentService allotments) {
        this.blueprintCatalog = blueprintCatalog;
        this.allotments = allotments;
    }

    @Override
    public String name() {
        return "allotments";
    }

    @Override
    public int order() {
        return 500;
    }

    @Override
    public Uni<Void> apply(TenantSpec tenant) {
        List<PlanRules.PlannedAllotment> planned = blueprintCatalog
                .section(tenant, PlanRules.KEY)
                .map(PlanRules::read)
                .map(PlanRules.PlannedRules::allotments)
                .orElse(List.of());
        Uni<Void> chain = Uni.createFrom().voidItem();
        for (PlanRules.PlannedAllotment one : planned) {
            chain = chain.chain(
                    () -> allotments.grantIfAbsent(tenant.id(), one.poolName(), one.terms(), Caller.service()));
        }
        return chain;
    }

    @Override
    public Uni<Void> undo(TenantSpec tenant) {
        return allotments.revokeAll(tenant.id(), Caller.service());
    }
}
