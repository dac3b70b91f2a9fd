package io.quartermaster.governance.profiles;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.capacity.inventory.ResourceNames;
import io.quartermaster.governance.ListPager;
import io.quartermaster.governance.RuleChanges;
import io.quartermaster.governance.RulesStore;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PolicyChecks;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.Queue;
import io.quartermaster.governance.rules.QuotaTreeBuilder;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.governance.rules.WaitingWorkPolicy;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Creates, changes and retires profiles. A change of a shape is checked against every policy that uses it. */
@ApplicationScoped
public class ProfileService {

    private final TenantTransactions transactions;
    private final RulesStore store;
    private final RuleChanges ruleChanges;
    private final ObjectMapper json;

    ProfileService(TenantTransactions transactions, RulesStore store, RuleChanges writes, ObjectMapper json) {
        this.transactions = transactions;
        this.store = store;
        this.ruleChanges = writes;
        this.json = json;
    }

    Uni<Page<ProfileApi.View>> list(TenantId tenant, @Nullable String pool, PageRequest page) {
        return transactions.in(tenant, session -> store.read(session, tenant)).map(rules -> {
            List<ProfileApi.View> views = rules.profiles().stream()
                    .map(profile -> ProfileApi.View.of(rules, profile, null))
                    .filter(view -> pool == null || view.pools().contains(pool))
                    .toList();
            return ListPager.of(views, ProfileApi.View::name, tenant + " profiles " + pool, page);
        });
    }

    Uni<Response> get(TenantId tenant, String name) {
        return transactions.in(tenant, session -> store.read(session, tenant)).map(rules -> {
            Profile profile = rules.profile(name).orElseThrow(ProblemException::notFound);
            return TenantWrites.response(WriteReply.ok(ProfileApi.View.of(rules, profile, null), profile.version()));
        });
    }

    Uni<Response> create(TenantId tenant, ProfileApi.@Nullable Request body, WriteParams params, UriInfo uri) {
        ProfileApi.Request request = RuleChanges.required(body);
        return ruleChanges.run(tenant, uri, params, request, work -> {
            Optional<Profile> old = Optional.ofNullable(request.name()).flatMap(work.before()::profile);
            Profile asked = read(work.before(), request, old);
            if (old.isPresent()) {
                if (!isSame(old.get(), asked)) {
                    throw ProblemException.conflict(
                            "already-exists",
                            "there is a profile named " + asked.name() + " with other content; change it with PUT");
                }
                return unchanged(work, old.get());
            }
            TenantRules after = work.before().with(asked);
            requireLevels(after, asked);
            return ruleChanges
                    .apply(
                            work,
                            after,
                            new WaitingWorkPolicy.Refuse(),
                            change("create", work, Optional.empty(), after, asked))
                    .map(changeImpact -> WriteReply.created(
                            "/v1/tenants/" + tenant + "/profiles/" + asked.name(),
                            ProfileApi.View.of(after, asked, changeImpact),
                            asked.version()));
        });
    }

    Uni<Response> update(
            TenantId tenant, String name, ProfileApi.@Nullable Request body, WriteParams params, UriInfo uri) {
        ProfileApi.Request request = RuleChanges.required(body);
        return ruleChanges.run(tenant, uri, params, request, work -> set(work, requireProfile(work, name), request));
    }

    /** Changes the fields that the patch names, and leaves the rest unchanged. */
    Uni<Response> patch(TenantId tenant, String name, @Nullable String body, WriteParams params, UriInfo uri)
            throws JsonProcessingException {
        MergePatch patch = MergePatch.read(json, body, ProfileApi.Patch.class);
        return ruleChanges.run(tenant, uri, params, patch.patch(), work -> {
            Profile old = requireProfile(work, name);
            ProfileApi.Request now = ProfileApi.Request.of(work.before(), old);
            return set(work, old, patch.applyTo(now, ProfileApi.Request.class, json));
        });
    }

    /** The profile to update, in the version on which the update is based. */
    private static Profile requireProfile(RuleChanges.ChangeContext work, String name) {
        Profile old = work.before().profile(name).orElseThrow(ProblemException::notFound);
        work.params().requireVersion(old.version());
        return old;
    }

    private Uni<WriteReply> set(RuleChanges.ChangeContext work, Profile old, ProfileApi.Request request) {
        Profile asked = read(work.before(), request, Optional.of(old));
        if (isSame(old, asked)) {
            return unchanged(work, old);
        }
        TenantRules after = work.before().with(asked);
        requireLevels(after, asked);
        requireFits(after, asked);
        return ruleChanges
                .apply(
                        work,
                        after,
                        new WaitingWorkPolicy.Refuse(),
                        change("update", work, Optional.of(old), after, asked))
                .map(changeImpact -> WriteReply.ok(ProfileApi.View.of(after, asked, changeImpact), asked.version()));
    }

    /** Retires its queues with it, in every policy. */
    Uni<Response> retire(TenantId tenant, String name, WriteParams params, UriInfo uri, WaitingWorkPolicy how) {
        return ruleChanges.run(tenant, uri, params, null, work -> {
            Profile old = work.before().profile(name).orElseThrow(ProblemException::notFound);
            if (params.givenVersion().isPresent()) {
                params.requireVersion(old.version());
            }
            AuditLog.Change change = new AuditLog.Change(
                    "profiles:retire", "profiles/" + name, ProfileApi.View.of(work.before(), old, null), null);
            return ruleChanges
                    .apply(work, work.before().without(old), how, change)
                    .map(WriteReply::ok);
        });
    }

    private static Uni<WriteReply> unchanged(RuleChanges.ChangeContext work, Profile profile) {
        return Uni.createFrom()
                .item(WriteReply.ok(ProfileApi.View.of(work.before(), profile, null), profile.version()));
    }

    private static boolean isSame(Profile old, Profile asked) {
        return withVersion(asked, old).equals(old);
    }

    private static Profile withVersion(Profile profile, Profile of) {
        return new Profile(
                of.id(),
                profile.name(),
                profile.gpus(),
                profile.maxGpus(),
                profile.gpuLimitMilli(),
                profile.workers(),
                profile.minWorkers(),
                profile.cpuMilli(),
                profile.memoryMiB(),
                profile.nodeLabels(),
                profile.topology(),
                profile.pools(),
                profile.movesBack(),
                profile.maxRuntimeMillis(),
                of.version());
    }

    private static void requireFits(TenantRules after, Profile profile) {
        var problems = new ProblemException.Invalid();
        QuotaTreeBuilder tree = after.tree();
        for (Queue queue : after.queuesOf(profile)) {
            Policy policy = after.policyOf(queue);
            PolicyChecks.objection(after, tree, policy, profile)
                    .ifPresent(objection -> problems.add(
                            "gpus",
                            "work of policy " + policy.name() + " could never run: " + objection,
                            "a shape and pools that fit the limits of every policy that uses the profile"));
        }
        problems.throwIfAny();
    }

    private static void requireLevels(TenantRules rules, Profile profile) {
        var problems = new ProblemException.Invalid();
        new ProfileReader(problems, "").checkLevels(profile, grantedPools(rules));
        problems.throwIfAny();
    }

    public static Profile read(TenantRules rules, ProfileApi.Request request, Optional<Profile> old) {
        var problems = new ProblemException.Invalid();
        String name = old.map(Profile::name).orElseGet(() -> ResourceNames.check(problems, "name", request.name()));
        problems.check(
                old.isEmpty() || request.name() == null || request.name().equals(name),
                "name",
                "a profile keeps its name",
                name);
        return new ProfileReader(
                        problems,
                        "",
                        old.<Map<String, String>>map(Profile::nodeLabels).orElse(Map.of()))
                .read(
                        request,
                        old.map(Profile::id).orElseGet(Ids::next),
                        name,
                        old.map(profile -> profile.version() + 1).orElse(0L),
                        grantedPools(rules));
    }

    private static SortedMap<String, ProfileReader.GrantedPool> grantedPools(TenantRules rules) {
        SortedMap<String, ProfileReader.GrantedPool> granted = new TreeMap<>();
        rules.allotments()
                .forEach(one -> granted.put(
                        one.poolName(),
                        new ProfileReader.GrantedPool(one.allotment().pool(), one.topologyLevels())));
        return granted;
    }

    private static AuditLog.Change change(
            String verb, RuleChanges.ChangeContext work, Optional<Profile> old, TenantRules after, Profile now) {
        return new AuditLog.Change(
                "profiles:" + verb,
                "profiles/" + now.name(),
                old.map(profile -> ProfileApi.View.of(work.before(), profile, null))
                        .orElse(null),
                ProfileApi.View.of(after, now, null));
    }
}
