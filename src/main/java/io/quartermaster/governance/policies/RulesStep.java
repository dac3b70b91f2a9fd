package io.quartermaster.governance.policies;

import io.quartermaster.access.Caller;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.governance.RuleChanges;
import io.quartermaster.governance.RulesStore;
import io.quartermaster.governance.profiles.ProfileApi;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.governance.rules.WaitingWorkPolicy;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.inbox.Wakeups;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.tenancy.BlueprintCatalog;
import io.quartermaster.tenancy.ProvisioningStep;
import io.quartermaster.tenancy.TenantSpec;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Creates the profiles and policies of the tenant's plan in one transaction. An object that the tenant already has
 * under the same name stays unchanged. The undo retires everything, including what the tenant's admins created; the
 * rows stay for the ledger.
 */
@ApplicationScoped
public class RulesStep implements ProvisioningStep {

    private final BlueprintCatalog blueprintCatalog;
    private final TenantTransactions transactions;
    private final RulesStore store;
    private final RuleChanges ruleChanges;
    private final Wakeups wakeups;

    RulesStep(
            BlueprintCatalog blueprintCatalog,
            TenantTransactions transactions,
            RulesStore store,
            RuleChanges writes,
            Wakeups wakeups) {
        this.blueprintCatalog = blueprintCatalog;
        this.transactions = transactions;
        this.store = store;
        this.ruleChanges = writes;
        this.wakeups = wakeups;
    }

    @Override
    public String name() {
        return "rules";
    }

    @Override
    public int order() {
        return 600;
    }

    @Override
    public Uni<Void> apply(TenantSpec tenant) {
        Optional<PlanRules.PlannedRules> planned =
                blueprintCatalog.section(tenant, PlanRules.KEY).map(PlanRules::read);
        return planned.isEmpty()
                ? Uni.createFrom().voidItem()
                : runWrite(tenant, work -> createRules(work, planned.get()));
    }

    private Uni<Void> createRules(RuleChanges.ChangeContext work, PlanRules.PlannedRules planned) {
        TenantRules rules = work.before();
        List<AuditLog.Change> changes = new ArrayList<>();
        for (ProfileApi.Request request : planned.profiles()) {
            Optional<TenantRules> after = PlanRules.withProfile(rules, request);
            if (after.isPresent()) {
                rules = after.get();
                Profile profile = rules.profile(String.valueOf(request.name())).orElseThrow();
                changes.add(new AuditLog.Change(
                        "profiles:create",
                        "profiles/" + profile.name(),
                        null,
                        ProfileApi.View.of(rules, profile, null)));
            }
        }
        for (PolicyApi.Request request : planned.policies()) {
            Optional<TenantRules> after = PlanRules.withPolicy(rules, request);
            if (after.isPresent()) {
                rules = after.get();
                Policy policy = rules.policy(String.valueOf(request.name())).orElseThrow();
                changes.add(new AuditLog.Change(
                        "policies:create", "policies/" + policy.name(), null, PolicyApi.View.of(rules, policy, null)));
            }
        }
        return apply(work, rules, changes);
    }

    @Override
    public Uni<Void> undo(TenantSpec tenant) {
        return runWrite(tenant, this::retireAll);
    }

    /** Cancels the waiting work. */
    private Uni<Void> retireAll(RuleChanges.ChangeContext work) {
        TenantRules before = work.before();
        List<AuditLog.Change> retired = new ArrayList<>();
        for (Policy policy : before.policies()) {
            retired.add(new AuditLog.Change(
                    "policies:retire", "policies/" + policy.name(), PolicyApi.View.of(before, policy, null), null));
        }
        for (Profile profile : before.profiles()) {
            retired.add(new AuditLog.Change(
                    "profiles:retire", "profiles/" + profile.name(), ProfileApi.View.of(before, profile, null), null));
        }
        TenantRules none = new TenantRules(before.tenant(), before.allotments(), List.of(), List.of(), List.of());
        return apply(work, none, retired);
    }

    private Uni<Void> apply(RuleChanges.ChangeContext work, TenantRules after, List<AuditLog.Change> changes) {
        return changes.isEmpty()
                ? Uni.createFrom().voidItem()
                : ruleChanges
                        .apply(work, after, new WaitingWorkPolicy.Cancel(), changes)
                        .replaceWithVoid();
    }

    private Uni<Void> runWrite(TenantSpec tenant, Function<RuleChanges.ChangeContext, Uni<Void>> change) {
        return transactions
                .in(tenant.id(), session -> store.lock(session, tenant.id())
                        .map(rules -> new RuleChanges.ChangeContext(
                                session, tenant.id(), Caller.service(), new WriteParams(), rules))
                        .chain(work -> change.apply(work)))
                .onFailure(ProblemException.class)
                .transform(e -> new IllegalStateException("the plan's rules do not fit: " + e.getMessage(), e))
                .invoke(wakeups::requestLeaderWakeup)
                .replaceWithVoid();
    }
}
