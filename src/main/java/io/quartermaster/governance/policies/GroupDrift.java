package io.quartermaster.governance.policies;

import io.quarkus.scheduler.Scheduled;
import io.quartermaster.access.Caller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.governance.RuleChanges;
import io.quartermaster.governance.RulesStore;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PolicyState;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.governance.rules.WaitingWorkPolicy;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.inbox.Wakeups;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.quartermaster.tenancy.groups.TenantGroups;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jboss.logging.Logger;

/**
 * Compares policies with the groups of their tenant's realm, which the tenant's admins may change in Keycloak. A policy
 * whose group is gone is suspended, and resumed when the group is back. The check asks the realm before the
 * transaction, so that it holds no lock while it waits for Keycloak. It judges only the groups that it asked for.
 * Replicas may check at the same time: the second one finds nothing to change.
 */
@ApplicationScoped
public class GroupDrift {

    private static final Logger LOG = Logger.getLogger(GroupDrift.class);

    private final SystemDatabase database;
    private final TenantTransactions transactions;
    private final RulesStore store;
    private final RuleChanges ruleChanges;
    private final TenantGroups groups;
    private final Wakeups wakeups;

    GroupDrift(
            SystemDatabase database,
            TenantTransactions transactions,
            RulesStore store,
            RuleChanges writes,
            TenantGroups groups,
            Wakeups wakeups) {
        this.database = database;
        this.transactions = transactions;
        this.store = store;
        this.ruleChanges = writes;
        this.groups = groups;
        this.wakeups = wakeups;
    }

    /** The realm's answer: the groups that it covers, and those of them that the realm lacks. */
    private record GroupCheck(Set<GroupPath> checked, Set<GroupPath> missing) {

        boolean differsFrom(Policy policy) {
            return checked.contains(policy.group())
                    && missing.contains(policy.group())
                            != policy.groupGoneSince().isPresent();
        }

        boolean differsFrom(TenantRules rules) {
            return rules.policies().stream().anyMatch(this::differsFrom);
        }
    }

    /** A group for which Keycloak gives no answer leaves its policies unchanged. */
    private static GroupCheck groupCheck(TenantGroups.Presence presence) {
        Set<GroupPath> checked = new HashSet<>(presence.present());
        checked.addAll(presence.missing());
        return new GroupCheck(checked, presence.missing());
    }

    private record Comparison(TenantRules rules, GroupCheck groupCheck) {}

    @Scheduled(
            every = "${quartermaster.governance.drift-every:5m}",
            delayed = "${quartermaster.governance.drift-every:5m}",
            concurrentExecution = Scheduled.ConcurrentExecution.SKIP)
    public Uni<Void> checkRegularly() {
        return tenants()
                .onItem()
                .transformToMulti(all -> Multi.createFrom().iterable(all))
                .onItem()
                .transformToUniAndConcatenate(tenant -> check(tenant)
                        .onFailure()
                        .invoke(e -> LOG.warnf(
                                "cannot compare the policies of tenant %s with the groups of its realm: %s",
                                tenant, e.getMessage()))
                        .onFailure()
                        .recoverWithNull())
                .collect()
                .last()
                .replaceWithVoid()
                .onFailure()
                .invoke(e -> LOG.warnf("cannot compare policies with the groups of their realms: %s", e.getMessage()))
                .onFailure()
                .recoverWithNull();
    }

    private Uni<List<TenantId>> tenants() {
        return database.on(connection -> connection
                        .query("select distinct t.id from tenant t join policy p on p.tenant_id = t.id where "
                                + "t.state in ('active', 'suspended') and p.retired_at is null order by t.id")
                        .execute())
                .map(rows -> {
                    List<TenantId> ids = new ArrayList<>();
                    rows.forEach(row -> ids.add(new TenantId(row.getString("id"))));
                    return ids;
                });
    }

    private Uni<Void> check(TenantId tenant) {
        return compare(tenant)
                .chain(comparison -> comparison.groupCheck().differsFrom(comparison.rules())
                        ? transactions
                                .in(tenant, session -> store.lock(session, tenant)
                                        .map(rules -> new RuleChanges.ChangeContext(
                                                session, tenant, Caller.service(), new WriteParams(), rules))
                                        .chain(work -> applyDrift(work, comparison.groupCheck())))
                                .invoke(wakeups::requestLeaderWakeup)
                                .replaceWithVoid()
                        : Uni.createFrom().voidItem());
    }

    /** Runs the check immediately, for a caller of the API. */
    Uni<Response> check(TenantId tenant, WriteParams params, UriInfo uri) {
        return compare(tenant)
                .chain(comparison ->
                        ruleChanges.run(tenant, uri, params, null, work -> applyDrift(work, comparison.groupCheck())
                                .map(WriteReply::ok)));
    }

    private Uni<Comparison> compare(TenantId tenant) {
        return transactions.in(tenant, session -> store.read(session, tenant)).chain(rules -> {
            Set<GroupPath> groupPaths =
                    rules.policies().stream().map(Policy::group).collect(Collectors.toSet());
            return groups.presence(tenant, groupPaths).map(presence -> new Comparison(rules, groupCheck(presence)));
        });
    }

    private Uni<PolicyApi.DriftChecked> applyDrift(RuleChanges.ChangeContext work, GroupCheck groupCheck) {
        Instant since = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        List<String> suspended = new ArrayList<>();
        List<String> resumed = new ArrayList<>();
        TenantRules after = work.before();
        List<Policy> changed = new ArrayList<>();
        for (Policy policy : work.before().policies()) {
            if (groupCheck.differsFrom(policy)) {
                boolean gone = groupCheck.missing().contains(policy.group());
                (gone ? suspended : resumed).add(policy.name());
                Policy now = policy.withGroupGoneSince(gone ? Optional.of(since) : Optional.empty());
                after = after.with(now);
                changed.add(now);
            }
        }
        PolicyApi.DriftChecked answer =
                new PolicyApi.DriftChecked(after.policies().size(), suspended, resumed);
        return changed.isEmpty()
                ? Uni.createFrom().item(answer)
                : ruleChanges
                        .apply(work, after, new WaitingWorkPolicy.Refuse(), auditChanges(work.before(), after, changed))
                        .replaceWith(answer);
    }

    private static List<AuditLog.Change> auditChanges(TenantRules before, TenantRules after, List<Policy> changed) {
        return changed.stream()
                .map(policy -> new AuditLog.Change(
                        policy.state() == PolicyState.SUSPENDED ? "policies:suspend" : "policies:resume",
                        "policies/" + policy.name(),
                        PolicyApi.View.of(before, before.policy(policy.id()).orElseThrow(), null),
                        PolicyApi.View.of(after, policy, null)))
                .toList();
    }
}
