package io.quartermaster.governance.policies;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.Caller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Permission;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.governance.ListPager;
import io.quartermaster.governance.RuleChanges;
import io.quartermaster.governance.RulesStore;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PolicyChecks;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.governance.rules.WaitingWorkPolicy;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.quartermaster.tenancy.groups.TenantGroups;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Creates, changes and retires policies together with their queues. */
@ApplicationScoped
class PolicyService {

    private static final Duration REALM_TIMEOUT = Duration.ofSeconds(2);

    private final TenantTransactions transactions;
    private final RulesStore store;
    private final RuleChanges ruleChanges;
    private final TenantGroups groups;
    private final ObjectMapper json;

    PolicyService(
            TenantTransactions transactions,
            RulesStore store,
            RuleChanges writes,
            TenantGroups groups,
            ObjectMapper json) {
        this.transactions = transactions;
        this.store = store;
        this.ruleChanges = writes;
        this.groups = groups;
        this.json = json;
    }

    /** The filters of a list of policies; null does not filter. */
    record Filter(@Nullable String group, @Nullable String profile) {

        boolean matches(TenantRules rules, Policy policy) {
            return (group == null || policy.group().value().equals(group))
                    && (profile == null
                            || rules.queuesOf(policy).stream()
                                    .anyMatch(queue ->
                                            rules.profileOf(queue).name().equals(profile)));
        }
    }

    Uni<Page<PolicyApi.View>> list(TenantId tenant, Filter filter, PageRequest page) {
        return transactions.in(tenant, session -> store.read(session, tenant)).map(rules -> {
            List<PolicyApi.View> views = rules.policies().stream()
                    .filter(policy -> filter.matches(rules, policy))
                    .map(policy -> PolicyApi.View.of(rules, policy, null))
                    .toList();
            return ListPager.of(views, PolicyApi.View::name, tenant + " policies " + filter, page);
        });
    }

    Uni<Response> get(TenantId tenant, String name) {
        return transactions.in(tenant, session -> store.read(session, tenant)).map(rules -> {
            Policy policy = rules.policy(name).orElseThrow(ProblemException::notFound);
            return TenantWrites.response(WriteReply.ok(PolicyApi.View.of(rules, policy, null), policy.version()));
        });
    }

    Uni<Response> create(TenantId tenant, PolicyApi.@Nullable Request body, WriteParams params, UriInfo uri) {
        PolicyApi.Request request = RuleChanges.required(body);
        return groupWarning(tenant, request.group())
                .chain(warning -> ruleChanges.run(tenant, uri, params, request, work -> {
                    Optional<Policy> old = Optional.ofNullable(request.name()).flatMap(work.before()::policy);
                    return set(work, request, old, "create", new WaitingWorkPolicy.Refuse(), warning);
                }));
    }

    Uni<Response> update(
            TenantId tenant,
            String name,
            PolicyApi.@Nullable Request body,
            WriteParams params,
            UriInfo uri,
            WaitingWorkPolicy how) {
        PolicyApi.Request request = RuleChanges.required(body);
        return groupWarning(tenant, request.group())
                .chain(warning -> ruleChanges.run(tenant, uri, params, request, work -> {
                    Policy old = work.before().policy(name).orElseThrow(ProblemException::notFound);
                    requireMayWrite(work.caller(), old.group());
                    params.requireVersion(old.version());
                    return set(work, request, Optional.of(old), "update", how, warning);
                }));
    }

    /** Changes the fields that the patch names, and leaves the rest unchanged. */
    Uni<Response> patch(
            TenantId tenant, String name, @Nullable String body, WriteParams params, UriInfo uri, WaitingWorkPolicy how)
            throws JsonProcessingException {
        MergePatch patch = MergePatch.read(json, body, PolicyApi.Patch.class);
        String group = patch.patch().path("group").textValue();
        return groupWarning(tenant, group)
                .chain(warning -> ruleChanges.run(tenant, uri, params, patch.patch(), work -> {
                    Policy old = work.before().policy(name).orElseThrow(ProblemException::notFound);
                    requireMayWrite(work.caller(), old.group());
                    params.requireVersion(old.version());
                    PolicyApi.Patch asked =
                            patch.applyTo(PolicyApi.Patch.of(work.before(), old), PolicyApi.Patch.class, json);
                    return withPoolNames(
                            asked.pools(),
                            () -> set(work, asked.request(name), Optional.of(old), "update", how, warning));
                }));
    }

    /** A patch names quotas by pool, so its errors name them by pool too. */
    private static Uni<WriteReply> withPoolNames(List<String> pools, Supplier<Uni<WriteReply>> work) {
        return Uni.createFrom()
                .<WriteReply>deferred(work::get)
                .onFailure(ProblemException.class)
                .transform(e -> {
                    ProblemException renamed = (ProblemException) e;
                    for (int i = 0; i < pools.size(); i++) {
                        // The pool is the name of the quota, which has no field for it.
                        renamed = renamed.renamed("quotas[" + i + "].pool", "quotas." + pools.get(i))
                                .renamed("quotas[" + i + "]", "quotas." + pools.get(i));
                    }
                    return renamed;
                });
    }

    /**
     * Asks the realm before the transaction, so that no lock is held while Keycloak answers. The service accepts the
     * policy in any case, because groups may be created after policies. It gives no warning when Keycloak does not
     * answer soon.
     */
    private Uni<Optional<String>> groupWarning(TenantId tenant, @Nullable String group) {
        if (group == null || !GroupPath.isValid(group)) {
            return Uni.createFrom().item(Optional.empty());
        }
        return groups.isMissing(tenant, new GroupPath(group), REALM_TIMEOUT)
                .onFailure()
                .recoverWithItem(false)
                .map(lacks -> lacks
                        ? Optional.of("the realm has no group " + group
                                + ". The next drift check suspends the policy; create the group to resume it")
                        : Optional.empty());
    }

    private Uni<WriteReply> set(
            RuleChanges.ChangeContext work,
            PolicyApi.Request request,
            Optional<Policy> old,
            String verb,
            WaitingWorkPolicy how,
            Optional<String> warning) {
        TenantRules before = work.before();
        var problems = new ProblemException.Invalid();
        PolicyReader reader = new PolicyReader(before, problems);
        Policy policy = reader.policy(request, old);
        List<Profile> profiles = reader.profiles(request.profiles());
        if (request.group() != null && GroupPath.isValid(request.group())) {
            requireMayWrite(work.caller(), new GroupPath(request.group()));
        }
        problems.throwIfAny();
        if (old.isPresent() && isSame(before, old.get(), policy, profiles)) {
            PolicyApi.View view = PolicyApi.View.of(before, old.get(), null);
            return Uni.createFrom().item(WriteReply.ok(view, view.version()));
        }
        if (old.isPresent() && verb.equals("create")) {
            throw ProblemException.conflict(
                    "already-exists",
                    "there is a policy named " + policy.name() + " with other content; change it with PUT");
        }
        TenantRules after = reader.with(policy, profiles);
        var unfit = new ProblemException.Invalid();
        PolicyChecks.check(before, after, policy, profiles, problems, unfit);
        if (!work.caller().mayEverywhere(Permission.POLICIES_WRITE)) {
            PolicyChecks.checkRights(after, old, policy, problems);
        }
        problems.throwIfAny();
        unfit.refuseIfAny(RuleChanges.DO_NOT_FIT);
        return ruleChanges
                .apply(work, after, how, change(verb, before, old, after, Optional.of(policy)))
                .map(changeImpact -> warning.map(changeImpact::withWarning).orElse(changeImpact))
                .map(changeImpact -> {
                    PolicyApi.View view = PolicyApi.View.of(after, policy, changeImpact);
                    return old.isPresent()
                            ? WriteReply.ok(view, policy.version())
                            : WriteReply.created(
                                    "/v1/tenants/" + work.tenant() + "/policies/" + policy.name(),
                                    view,
                                    policy.version());
                });
    }

    /**
     * Running work continues as over-quota. From then on, the reservations of groups below are checked against the next
     * policy above.
     */
    Uni<Response> retire(TenantId tenant, String name, WriteParams params, UriInfo uri, WaitingWorkPolicy how) {
        return ruleChanges.run(tenant, uri, params, null, work -> {
            TenantRules before = work.before();
            Policy old = before.policy(name).orElseThrow(ProblemException::notFound);
            requireMayWrite(work.caller(), old.group());
            if (params.givenVersion().isPresent()) {
                params.requireVersion(old.version());
            }
            TenantRules after = before.without(old);
            return ruleChanges
                    .apply(work, after, how, change("retire", before, Optional.of(old), after, Optional.empty()))
                    .map(changeImpact -> WriteReply.ok(changeImpact));
        });
    }

    /** A group's own policy is the grant to that group: its admins set policies only for the groups below it. */
    private static void requireMayWrite(Caller caller, GroupPath group) {
        boolean above = caller.groups().stream().anyMatch(mine -> mine.contains(group) && !mine.equals(group));
        if (!caller.mayEverywhere(Permission.POLICIES_WRITE) && !above) {
            throw ProblemException.forbidden("the permission " + Permission.POLICIES_WRITE
                    + " of a group admin covers policies of groups below its own groups, not of " + group);
        }
    }

    private static boolean isSame(TenantRules rules, Policy old, Policy asked, List<Profile> profiles) {
        List<String> had = rules.queuesOf(old).stream()
                .map(queue -> rules.profileOf(queue).name())
                .sorted()
                .toList();
        List<String> wanted = profiles.stream().map(Profile::name).sorted().toList();
        return had.equals(wanted)
                && old.group().equals(asked.group())
                && Set.copyOf(old.quotas()).equals(Set.copyOf(asked.quotas()))
                && old.overQuota() == asked.overQuota()
                && old.onPreemption() == asked.onPreemption()
                && old.graceMillis() == asked.graceMillis()
                && old.userLimitGpuMilli().equals(asked.userLimitGpuMilli())
                && old.maxRunning().equals(asked.maxRunning())
                && old.rights().equals(asked.rights());
    }

    private static AuditLog.Change change(
            String verb, TenantRules before, Optional<Policy> old, TenantRules after, Optional<Policy> now) {
        String name = now.or(() -> old).map(Policy::name).orElseThrow();
        return new AuditLog.Change(
                "policies:" + verb,
                "policies/" + name,
                old.map(policy -> PolicyApi.View.of(before, policy, null)).orElse(null),
                now.map(policy -> PolicyApi.View.of(after, policy, null)).orElse(null));
    }
}
