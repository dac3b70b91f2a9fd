package io.quartermaster.governance.policies;

import io.quartermaster.access.GroupPath;
import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.capacity.inventory.ResourceNames;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PolicyQuota;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.Queue;
import io.quartermaster.governance.rules.SubmissionRights;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.http.ProblemException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads requests for policies and profiles against the current rules. It turns names into ids, and reports all errors
 * together.
 */
public final class PolicyReader {

    private static final int MAX_QUOTAS = 100;
    private static final int MAX_PROFILES = 100;
    private static final GroupPath NO_GROUP = new GroupPath("/none");

    private final TenantRules rules;
    private final ProblemException.Invalid problems;

    PolicyReader(TenantRules rules, ProblemException.Invalid problems) {
        this.rules = rules;
        this.problems = problems;
    }

    /**
     * Reads a policy with the id, name and version of {@code old}, or a new one. The result is complete only when there
     * are no errors.
     */
    Policy policy(PolicyApi.Request request, Optional<Policy> old) {
        String name = old.map(Policy::name).orElseGet(() -> ResourceNames.check(problems, "name", request.name()));
        problems.check(
                old.isEmpty() || request.name() == null || request.name().equals(name),
                "name",
                "a policy keeps its name",
                name);
        GroupPath group = group(request.group(), old);
        boolean mayGoBeyond = request.overQuota() == null || request.overQuota();
        return new Policy(
                old.map(Policy::id).orElseGet(Ids::next),
                name,
                group,
                quotas(request.quotas() == null ? List.of() : request.quotas(), mayGoBeyond),
                mayGoBeyond,
                request.onPreemption() == null ? PreemptionAction.REQUEUE : request.onPreemption(),
                grace(request.grace()),
                request.userLimit() == null
                        ? OptionalLong.empty()
                        : OptionalLong.of(request.userLimit().milli()),
                maxRunning(problems, "maxRunning", request.maxRunning()),
                rights(request),
                old.filter(policy -> policy.group().equals(group)).flatMap(Policy::groupGoneSince),
                old.map(policy -> policy.version() + 1).orElse(0L));
    }

    /**
     * A limit on running workloads; empty where the request states none, or states an invalid one, which is an error.
     */
    public static OptionalInt maxRunning(ProblemException.Invalid problems, String field, @Nullable Integer asked) {
        if (asked == null) {
            return OptionalInt.empty();
        }
        boolean fits = asked >= 1 && asked <= Policy.MAX_MAX_RUNNING;
        problems.check(fits, field, "out of range", "1 to " + Policy.MAX_MAX_RUNNING);
        return fits ? OptionalInt.of(asked) : OptionalInt.empty();
    }

    private SubmissionRights rights(PolicyApi.Request request) {
        Integer highest = request.maxPriority();
        boolean fits = highest == null || highest >= 0 && highest <= SubmissionRights.HIGHEST_PRIORITY;
        problems.check(fits, "maxPriority", "out of range", "0 to " + SubmissionRights.HIGHEST_PRIORITY);
        return new SubmissionRights(
                highest == null || !fits ? OptionalInt.empty() : OptionalInt.of(highest),
                Boolean.TRUE.equals(request.nonPreemptible()));
    }

    /** The policy keeps its group even if the path would no longer be valid. */
    private GroupPath group(@Nullable String path, Optional<Policy> old) {
        if (path == null) {
            problems.add("group", "is missing", GroupPath.ACCEPTED);
            return NO_GROUP;
        }
        Optional<GroupPath> kept =
                old.map(Policy::group).filter(group -> group.value().equals(path));
        if (kept.isPresent()) {
            return kept.get();
        }
        Optional<String> refusal = GroupPath.refusal(path);
        refusal.ifPresent(why -> problems.add("group", why, GroupPath.ACCEPTED));
        return refusal.isPresent() ? NO_GROUP : new GroupPath(path);
    }

    private List<PolicyQuota> quotas(List<PolicyApi.@Nullable QuotaRequest> requests, boolean mayGoBeyond) {
        problems.check(requests.size() <= MAX_QUOTAS, "quotas", "too many", "at most " + MAX_QUOTAS);
        List<PolicyQuota> quotas = new ArrayList<>();
        Set<Scope> seen = new HashSet<>();
        for (int i = 0; i < requests.size(); i++) {
            PolicyApi.QuotaRequest request = requests.get(i);
            String prefix = "quotas[" + i + "].";
            if (request == null) {
                problems.add("quotas[" + i + "]", "is null", "an object");
                continue;
            }
            Optional<Scope> scope = scope(prefix + "pool", request.pool());
            QuotaTerms terms = request.fields().check(problems, prefix);
            if (mayGoBeyond) {
                request.fields().requireLimitToDrain(problems, prefix);
            }
            if (scope.isPresent()) {
                if (seen.add(scope.get())) {
                    quotas.add(new PolicyQuota(scope.get(), terms));
                } else {
                    problems.add(prefix + "pool", "is named twice", "one quota per pool");
                }
            }
        }
        return quotas;
    }

    private Optional<Scope> scope(String field, @Nullable String pool) {
        if ("*".equals(pool)) {
            return Optional.of(Scope.ALL_POOLS);
        }
        Optional<Scope> found =
                pool == null ? Optional.empty() : rules.pool(pool).map(Scope::of);
        if (found.isEmpty()) {
            problems.add(
                    field,
                    pool == null ? "is missing" : "\"" + pool + "\" is not a pool of this tenant",
                    acceptedPools() + ", or * for all together");
        }
        return found;
    }

    private String acceptedPools() {
        return rules.poolNames().isEmpty() ? "none: no pool is allotted yet" : String.join(", ", rules.poolNames());
    }

    private long grace(@Nullable Duration grace) {
        if (grace == null) {
            return Policy.DEFAULT_GRACE_MILLIS;
        }
        if (grace.isNegative() || grace.compareTo(Duration.ofMillis(Policy.MAX_GRACE_MILLIS)) > 0) {
            problems.add("grace", "out of range", "PT0S to " + Duration.ofMillis(Policy.MAX_GRACE_MILLIS));
            return Policy.DEFAULT_GRACE_MILLIS;
        }
        return grace.toMillis();
    }

    /** The profiles that a policy names, in its order. */
    List<Profile> profiles(@Nullable List<String> names) {
        if (names == null) {
            return List.of();
        }
        problems.check(names.size() <= MAX_PROFILES, "profiles", "too many", "at most " + MAX_PROFILES);
        List<Profile> profiles = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            String name = names.get(i);
            Optional<Profile> found = rules.profile(name);
            if (found.isEmpty()) {
                problems.add("profiles[" + i + "]", "there is no profile " + name, acceptedProfiles());
            } else if (profiles.contains(found.get())) {
                problems.add("profiles[" + i + "]", "is named twice", "each profile once");
            } else {
                profiles.add(found.get());
            }
        }
        return profiles;
    }

    private String acceptedProfiles() {
        return rules.profiles().isEmpty()
                ? "none: there are no profiles yet"
                : String.join(", ", rules.profiles().stream().map(Profile::name).toList());
    }

    /** The rules with the policy and exactly these profiles. Existing queues stay unchanged. */
    TenantRules with(Policy policy, List<Profile> profiles) {
        TenantRules after = rules.with(policy);
        Set<UUID> wanted = new HashSet<>(profiles.stream().map(Profile::id).toList());
        Set<UUID> there = new HashSet<>();
        for (Queue queue : rules.queuesOf(policy)) {
            if (wanted.contains(queue.profile())) {
                there.add(queue.profile());
            } else {
                after = after.without(queue);
            }
        }
        for (int i = 0; i < profiles.size(); i++) {
            Profile profile = profiles.get(i);
            if (!there.contains(profile.id())) {
                after = after.with(queue(after, policy, profile, "profiles[" + i + "]"));
            }
        }
        return after;
    }

    private Queue queue(TenantRules among, Policy policy, Profile profile, String field) {
        String name = Queue.nameOf(policy.name(), profile.name());
        problems.check(
                among.queue(name).isEmpty(),
                field,
                "its queue would be named " + name + ", but a queue of that name exists already",
                "another name for the policy or the profile");
        return Queue.of(name, policy, profile, Queue.Terms.DEFAULT);
    }
}
