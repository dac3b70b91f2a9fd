package io.quartermaster.governance.policies;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.capacity.grants.Allotment;
import io.quartermaster.capacity.grants.QuotaFields;
import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.capacity.grants.TenantAllotments;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.governance.profiles.ProfileApi;
import io.quartermaster.governance.profiles.ProfileService;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PolicyChecks;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.JsonSettings;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.tenancy.BlueprintSection;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The initial rules of a tenant of a plan: the blueprints' section {@code rules}. Allotments come first, because
 * profiles run in pools and policies divide them. Profiles and policies have the form of the API and pass the same
 * checks. The service checks them already at its start, and assumes then that every pool they name exists.
 */
@Singleton
class PlanRules implements BlueprintSection {

    static final String KEY = "rules";
    private static final ObjectMapper STRICT = JsonSettings.newMapper();
    private static final TenantId PLACEHOLDER_TENANT = new TenantId("any");

    /** The section as the file states it. */
    record Section(
            @Nullable List<PlannedAllotment> allotments,
            @Nullable List<ProfileApi.Request> profiles,
            @Nullable List<PolicyApi.Request> policies) {}

    /** An allotment by the pool's name. An absent field takes its default of the API. */
    record PlannedAllotment(
            @Nullable String pool,
            @Nullable GpuAmount reserved,
            @Nullable GpuAmount limit,
            @Nullable Integer weight,
            @Nullable GpuAmount lendable,
            @Nullable Integer rank) {

        String poolName() {
            if (pool == null) {
                throw new IllegalArgumentException("rules: an allotment names no pool");
            }
            return pool;
        }

        QuotaTerms terms() {
            var problems = new ProblemException.Invalid();
            QuotaTerms terms = new QuotaFields(reserved, limit, weight, lendable, rank)
                    .check(problems, "allotment in " + poolName() + ": ");
            problems.throwIfAny();
            return terms;
        }
    }

    /** A section that was read. */
    record PlannedRules(
            List<PlannedAllotment> allotments, List<ProfileApi.Request> profiles, List<PolicyApi.Request> policies) {}

    static PlannedRules read(JsonNode value) {
        try {
            Section section = STRICT.treeToValue(value, Section.class);
            return new PlannedRules(
                    orEmpty(section.allotments()), orEmpty(section.profiles()), orEmpty(section.policies()));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("rules: " + e.getOriginalMessage(), e);
        }
    }

    private static <T> List<T> orEmpty(@Nullable List<T> list) {
        return list == null ? List.of() : list;
    }

    @Override
    public String key() {
        return KEY;
    }

    @Override
    public void check(JsonNode value) {
        PlannedRules planned = read(value);
        try {
            List<TenantAllotments.NamedAllotment> granted = new ArrayList<>();
            for (PlannedAllotment one : planned.allotments()) {
                UUID pool = Ids.next();
                granted.add(new TenantAllotments.NamedAllotment(
                        one.poolName(),
                        pool,
                        List.of(),
                        Duration.ofMillis(Policy.MAX_GRACE_MILLIS),
                        new Allotment(PLACEHOLDER_TENANT, new PoolId(pool.toString()), one.terms()),
                        0));
            }
            TenantRules rules = new TenantRules(PLACEHOLDER_TENANT, granted, List.of(), List.of(), List.of());
            for (ProfileApi.Request profile : planned.profiles()) {
                rules = withProfile(rules, profile).orElse(rules);
            }
            for (PolicyApi.Request policy : planned.policies()) {
                rules = withPolicy(rules, policy).orElse(rules);
            }
        } catch (ProblemException e) {
            throw new IllegalArgumentException("rules: " + problemText(e.problem()), e);
        }
    }

    private static String problemText(Problem problem) {
        return problem.errors().stream()
                .map(error -> error.field() + " " + error.message())
                .collect(Collectors.joining("; "));
    }

    /** Adds a profile to the rules; empty when there is one of that name. */
    static Optional<TenantRules> withProfile(TenantRules rules, ProfileApi.Request request) {
        return rules.profile(String.valueOf(request.name())).isPresent()
                ? Optional.empty()
                : Optional.of(rules.with(ProfileService.read(rules, request, Optional.empty())));
    }

    /** Adds a policy and its queues to the rules; empty when there is one of that name. */
    static Optional<TenantRules> withPolicy(TenantRules rules, PolicyApi.Request request) {
        if (rules.policy(String.valueOf(request.name())).isPresent()) {
            return Optional.empty();
        }
        var problems = new ProblemException.Invalid();
        PolicyReader reader = new PolicyReader(rules, problems);
        Policy policy = reader.policy(request, Optional.empty());
        List<Profile> profiles = reader.profiles(request.profiles());
        problems.throwIfAny();
        TenantRules after = reader.with(policy, profiles);
        PolicyChecks.check(rules, after, policy, profiles, problems, problems);
        problems.throwIfAny();
        return Optional.of(after);
    }
}
