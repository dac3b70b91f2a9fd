package io.quartermaster.governance.rules;

import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.governance.RuleChanges;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.http.ProblemException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The checks that a policy fits the rules around it: its group is free, its reservations fit between those above and
 * below, and each of its profiles could run somewhere. Each error has the field to change and an accepted value.
 */
public final class PolicyChecks {

    private final TenantRules before;
    private final TenantRules after;
    private final Policy policy;
    private final QuotaPath path;
    private final QuotaTreeBuilder tree;
    private final ProblemException.Invalid problems;
    private final ProblemException.Invalid unfit;

    private PolicyChecks(
            TenantRules before,
            TenantRules after,
            QuotaTreeBuilder tree,
            Policy policy,
            ProblemException.Invalid problems,
            ProblemException.Invalid unfit) {
        this.before = before;
        this.after = after;
        this.policy = policy;
        this.path = QuotaTreeBuilder.path(after.tenant(), policy.group());
        this.tree = tree;
        this.problems = problems;
        this.unfit = unfit;
    }

    /**
     * Reports the errors of a policy that was added or changed.
     *
     * @param after the rules with the policy and its queues as they would be
     * @param profiles the profiles of the policy, in the order of the request
     * @param unfit receives the reservations that exceed what is available; see {@link RuleChanges#DO_NOT_FIT}
     */
    public static void check(
            TenantRules before,
            TenantRules after,
            Policy policy,
            List<Profile> profiles,
            ProblemException.Invalid problems,
            ProblemException.Invalid unfit) {
        Optional<Policy> other =
                before.policyOf(policy.group()).filter(found -> !found.id().equals(policy.id()));
        if (other.isPresent()) {
            problems.add(
                    "group",
                    "the group has a policy already: " + other.get().name(),
                    "a group without a policy; or change the existing policy");
            return;
        }
        PolicyChecks checks = new PolicyChecks(before, after, after.tree(), policy, problems, unfit);
        checks.checkReservations();
        checks.checkProfiles(profiles);
    }

    /**
     * A group admin passes on no more rights, and no longer grace, than the policy above gives. Existing rights of a
     * group stay as they are, but they do not move with the policy to another group.
     */
    public static void checkRights(
            TenantRules rules, Optional<Policy> old, Policy policy, ProblemException.Invalid problems) {
        Optional<Policy> kept = old.filter(was -> was.group().equals(policy.group()));
        Optional<Policy> above = rules.policies().stream()
                .filter(other ->
                        !other.group().equals(policy.group()) && other.group().contains(policy.group()))
                .max(Comparator.comparingInt(other -> other.group().value().length()));
        String giver = above.map(other -> "policy " + other.name()).orElse("a group without a policy above it");
        long longestGrace = above.map(Policy::graceMillis).orElse(Policy.DEFAULT_GRACE_MILLIS);
        problems.check(
                policy.graceMillis() <= longestGrace
                        || kept.filter(was -> was.graceMillis() == policy.graceMillis())
                                .isPresent(),
                "grace",
                "is more than " + giver + " gives",
                "PT0S to " + Duration.ofMillis(longestGrace));
        if (kept.filter(was -> was.rights().equals(policy.rights())).isPresent()) {
            return;
        }
        SubmissionRights given = above.map(Policy::rights).orElse(SubmissionRights.DEFAULT);
        SubmissionRights asked = policy.rights();
        problems.check(
                new SubmissionRights(asked.maxPriority(), false).areWithin(given),
                "maxPriority",
                "is more than " + giver + " gives",
                given.maxPriority().isPresent()
                        ? "0 to " + given.maxPriority().getAsInt()
                        : "absent, or 0 to " + SubmissionRights.LOWEST_TYPE_DEFAULT);
        problems.check(
                new SubmissionRights(OptionalInt.empty(), asked.nonPreemptible())
                        .areWithin(new SubmissionRights(OptionalInt.empty(), given.nonPreemptible())),
                "nonPreemptible",
                "is more than " + giver + " gives",
                "false");
    }

    private void checkReservations() {
        List<QuotaTreeBuilder.Overdraft> had = before.tree().overdrafts();
        for (QuotaTreeBuilder.Overdraft overdraft : tree.overdrafts()) {
            Quota parent = overdraft.parent();
            if (parent.path().equals(path)) {
                unfit.add(
                        field(parent.scope(), "reserved"),
                        "is less than the groups below it reserve: " + overdraft.reservations(),
                        "at least " + new GpuAmount(overdraft.childrenReservedGpuMilli()));
            } else if (overdraft.children().stream()
                    .anyMatch(child -> child.path().equals(path))) {
                long own = tree.quotaAt(path, parent.scope())
                        .map(Quota::reservedGpuMilli)
                        .orElse(0L);
                long others = overdraft.childrenReservedGpuMilli() - own;
                unfit.add(
                        field(parent.scope(), "reserved"),
                        "does not fit: " + placeText(parent) + " has " + new GpuAmount(parent.reservedGpuMilli())
                                + " reserved, of which other groups have " + new GpuAmount(others),
                        "at most " + new GpuAmount(Math.max(0, parent.reservedGpuMilli() - others)));
            } else if (!had.contains(overdraft)) {
                unfit.add(
                        "quotas",
                        "do not fit: " + placeText(parent)
                                + " would have less reserved than the groups below it reserve: "
                                + overdraft.reservations(),
                        "quotas that leave room for the groups below");
            }
        }
    }

    /**
     * The path of a field in the quota of a scope, as the request names it; the list of quotas where the request has
     * none for the scope.
     */
    private String field(Scope scope, String name) {
        return field(policy, scope, name);
    }

    static String field(Policy policy, Scope scope, String name) {
        for (int i = 0; i < policy.quotas().size(); i++) {
            if (policy.quotas().get(i).scope().equals(scope)) {
                return "quotas[" + i + "]." + name;
            }
        }
        return "quotas";
    }

    private String placeText(Quota parent) {
        return "in " + after.nameOf(parent.scope()) + " " + QuotaTreeBuilder.Overdraft.holder(parent.path());
    }

    private void checkProfiles(List<Profile> profiles) {
        Optional<Profile> beyondUserLimit =
                profiles.stream().filter(this::exceedsUserLimit).max(Comparator.comparingLong(Profile::startGpuMilli));
        if (beyondUserLimit.isPresent()) {
            Profile largest = beyondUserLimit.get();
            problems.add(
                    "userLimit",
                    "profile " + largest.name() + " could never run: " + userLimitObjection(largest),
                    "at least " + new GpuAmount(largest.startGpuMilli()) + ", or profiles that start with fewer GPUs");
        }
        for (int i = 0; i < profiles.size(); i++) {
            if (exceedsUserLimit(profiles.get(i))) {
                continue;
            }
            Optional<String> objection = objection(profiles.get(i));
            if (objection.isPresent()) {
                problems.add(
                        "profiles[" + i + "]",
                        "profile " + profiles.get(i).name() + " could never run: " + objection.get(),
                        "a profile that fits the limits of the policy, of the groups above it and of the tenant");
            }
        }
    }

    /**
     * The reason why work of the profile could never start under the policy.
     *
     * @param tree of the rules
     */
    public static Optional<String> objection(TenantRules rules, QuotaTreeBuilder tree, Policy policy, Profile profile) {
        return new PolicyChecks(
                        rules, rules, tree, policy, new ProblemException.Invalid(), new ProblemException.Invalid())
                .objection(profile);
    }

    private boolean exceedsUserLimit(Profile profile) {
        OptionalLong userLimit = policy.userLimitGpuMilli();
        return userLimit.isPresent() && userLimit.getAsLong() < profile.startGpuMilli();
    }

    private String userLimitObjection(Profile profile) {
        return "it starts with " + GpuFormat.gpus(profile.startGpuMilli()) + ", and one user may hold "
                + new GpuAmount(policy.userLimitGpuMilli().orElseThrow());
    }

    private Optional<String> objection(Profile profile) {
        long needed = profile.startGpuMilli();
        if (exceedsUserLimit(profile)) {
            return Optional.of(userLimitObjection(profile));
        }
        List<String> bounds = new ArrayList<>();
        for (PoolId pool : profile.pools()) {
            if (tree.quotaAt(path, Scope.of(pool)).isEmpty()) {
                bounds.add("no quota in " + after.nameOf(pool));
                continue;
            }
            OptionalLong ceiling = tree.lowestLimit(path, pool);
            if (ceiling.isEmpty() || ceiling.getAsLong() >= needed) {
                return Optional.empty();
            }
            bounds.add("at most " + new GpuAmount(ceiling.getAsLong()) + " in " + after.nameOf(pool));
        }
        return Optional.of("it starts with " + GpuFormat.gpus(needed) + ", and there is " + String.join(", ", bounds));
    }
}
