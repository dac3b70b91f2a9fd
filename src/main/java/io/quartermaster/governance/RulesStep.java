package io.quartermaster.governance;

import io.quartermaster.access.AuditLog;
import io.quartermaster.access.Caller;
import io.quartermaster.platform.ProblemException;
import io.quartermaster.platform.TenantTransactions;
import io.quartermaster.platform.Wakeups;
import io.quartermaster.platform.WriteParams;
import io.quartermaster.tenancy.Blueprints;
import io.quartermaster.tenancy.ProvisioningStep;
import io.quartermaster.tenancy.TenantSpec;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Optional;
import java.util.function.Function;

/**
 * The profiles and policies of the tenant's plan, all in one transaction. What the tenant has under the same name stays as it is. Undone,
 * everything is retired, also what its admins stated; the rows stay for the books.
 */
@ApplicationScoped
class RulesStep implements ProvisioningStep {

    private final Blueprints blueprints;
    private final TenantTransactions transactions;
    private final RulesStore store;
    private final RuleWrites writes;
    private final Wakeups wakeups;

    RulesStep(
            Blueprints blueprints,
            TenantTransactions transactions,
            RulesStore store,
            RuleWrites writes,
            Wakeups wakeups) {
        this.blueprints = blueprints;
        this.transactions = transactions;
        this.store = store;
        this.writes = writes;
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
        Optional<PlanRules.Planned> planned =
                blueprints.section(tenant, PlanRules.KEY).map(PlanRules::read);
        return planned.isEmpty() ? Uni.createFrom().voidItem() : change(tenant, work -> make(work, planned.get()));
    }

    private Uni<RuleWrites.Work> make(RuleWrites.Work work, PlanRules.Planned planned) {
        Uni<RuleWrites.Work> chain = Uni.createFrom().item(work);
        for (ProfileApi.Request profile : planned.profiles()) {
            chain = chain.chain(now -> apply(now, PlanRules.withProfile(now.before(), profile), after -> {
                Profile made = after.profile(String.valueOf(profile.name())).orElseThrow();
                return new AuditLog.Change(
                        "profiles:create", "profiles/" + made.name(), null, ProfileApi.View.of(after, made, null));
            }));
        }
        for (PolicyApi.Request policy : planned.policies()) {
            chain = chain.chain(now -> apply(now, PlanRules.withPolicy(now.before(), policy), after -> {
                Policy made = after.policy(String.valueOf(policy.name())).orElseThrow();
                return new AuditLog.Change(
                        "policies:create", "policies/" + made.name(), null, PolicyApi.View.of(after, made, null));
            }));
        }
        return chain;
    }

    @Override
    public Uni<Void> undo(TenantSpec tenant) {
        return change(tenant, this::retireAll);
    }

    /** What waits is cancelled. */
    private Uni<RuleWrites.Work> retireAll(RuleWrites.Work work) {
        Uni<RuleWrites.Work> chain = Uni.createFrom().item(work);
        for (Policy policy : work.before().policies()) {
            chain = chain.chain(now -> apply(
                    now,
                    Optional.of(now.before().without(policy)),
                    after -> new AuditLog.Change(
                            "policies:retire",
                            "policies/" + policy.name(),
                            PolicyApi.View.of(now.before(), policy, null),
                            null)));
        }
        for (Profile profile : work.before().profiles()) {
            chain = chain.chain(now -> apply(
                    now,
                    Optional.of(now.before().without(profile)),
                    after -> new AuditLog.Change(
                            "profiles:retire",
                            "profiles/" + profile.name(),
                            ProfileApi.View.of(now.before(), profile, null),
                            null)));
        }
        return chain;
    }

    private Uni<RuleWrites.Work> apply(
            RuleWrites.Work work, Optional<TenantRules> after, Function<TenantRules, AuditLog.Change> entry) {
        return after.map(rules -> writes.apply(work, rules, new OnWaiting.Cancel(), entry.apply(rules))
                        .replaceWith(work.with(rules)))
                .orElseGet(() -> Uni.createFrom().item(work));
    }

    private Uni<Void> change(TenantSpec tenant, Function<RuleWrites.Work, Uni<RuleWrites.Work>> change) {
        return transactions
                .in(tenant.id(), session -> store.lock(session, tenant.id())
                        .map(rules ->
                                new RuleWrites.Work(session, tenant.id(), Caller.service(), new WriteParams(), rules))
                        .chain(work -> change.apply(work)))
                .onFailure(ProblemException.class)
                .transform(e -> new IllegalStateException("the plan's rules do not fit: " + e.getMessage(), e))
                .invoke(wakeups::leader)
                .replaceWithVoid();
    }
}
