package io.quartermaster.governance;

import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PolicyQuota;
import io.quartermaster.governance.rules.Queue;
import io.quartermaster.governance.rules.QuotaTreeBuilder;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.writes.DryRun;
import io.quartermaster.platform.writes.FieldChange;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** The effects of a change on other things: part of the answer to every write, and the preview of a dry run. */
@Schema(
        name = "Effects",
        description = "The effects of the change on other things; with dryRun, the effects that it would have.")
public record ChangeImpact(
        @Schema(description = "names of the queues that the change creates")
        List<String> queuesMade,

        @Schema(description = "names of the queues that the change retires")
        List<String> queuesRetired,

        @Schema(description = "changes in the sum of the reservations below a tenant or a group")
        List<Reserved> reserved,

        @Schema(description = "number of running workloads that the change turns into over-quota work")
        long becomingOverQuota,

        @Schema(description = "number of waiting workloads that the change cancels or moves")
        long waitingTouched,

        @Schema(
                description = "the fields whose value changes, including fields that return to their default; "
                        + "empty for a creation or a retirement")
        List<FieldChange> changed,

        @Schema(
                description =
                        "Warnings: the service accepts the change, but it may not have the effect that you expect.")
        List<String> warnings)
        implements DryRun.Effect {

    public ChangeImpact {
        queuesMade = List.copyOf(queuesMade);
        queuesRetired = List.copyOf(queuesRetired);
        reserved = List.copyOf(reserved);
        changed = List.copyOf(changed);
        warnings = List.copyOf(warnings);
    }

    /**
     * The reservations below a tenant or a group in one pool, before and after the change.
     *
     * @param pool its name, or {@code *}
     * @param group the group that they are below; {@code /} for the tenant
     * @param of the reservation of the group, or of the tenant
     */
    @Schema(name = "ReservedChange")
    public record Reserved(String pool, String group, GpuAmount of, GpuAmount before, GpuAmount after) {}

    /** An allocation of a running workload; lists are ordered by start. */
    record HeldAmount(PoolId pool, UUID policy, long gpuMilli, boolean preemptible) {}

    static ChangeImpact between(TenantRules before, TenantRules after, List<HeldAmount> held, long waitingTouched) {
        return new ChangeImpact(
                names(Diff.ofQueues(before, after).added()),
                names(Diff.ofQueues(before, after).removed()),
                reserved(before, after),
                Math.max(0, countOverQuota(after, held) - countOverQuota(before, held)),
                waitingTouched,
                List.of(),
                warnings(before, after, held));
    }

    public ChangeImpact withWarning(String warning) {
        List<String> more = new ArrayList<>(warnings);
        more.add(warning);
        return new ChangeImpact(queuesMade, queuesRetired, reserved, becomingOverQuota, waitingTouched, changed, more);
    }

    ChangeImpact withChangedFields(List<FieldChange> fields) {
        return new ChangeImpact(
                queuesMade, queuesRetired, reserved, becomingOverQuota, waitingTouched, fields, warnings);
    }

    private static List<String> names(List<Queue> queues) {
        return queues.stream().map(Queue::name).sorted().toList();
    }

    private static List<Reserved> reserved(TenantRules before, TenantRules after) {
        QuotaTreeBuilder old = before.tree();
        QuotaTreeBuilder tree = after.tree();
        Map<Quota, List<Quota>> oldChildren = old.children();
        Map<Quota, List<Quota>> children = tree.children();
        List<Reserved> changes = new ArrayList<>();
        for (Quota parent : tree.quotas()) {
            long given = reservedByChildren(children, parent);
            Optional<Quota> was = old.quotaAt(parent.path(), parent.scope());
            long gave = was.map(quota -> reservedByChildren(oldChildren, quota)).orElse(0L);
            if (given != gave) {
                changes.add(new Reserved(
                        after.nameOf(parent.scope()),
                        parent.path().group(),
                        new GpuAmount(parent.reservedGpuMilli()),
                        new GpuAmount(gave),
                        new GpuAmount(given)));
            }
        }
        return changes;
    }

    private static long reservedByChildren(Map<Quota, List<Quota>> children, Quota parent) {
        return children.getOrDefault(parent, List.of()).stream()
                .mapToLong(Quota::reservedGpuMilli)
                .sum();
    }

    /**
     * Counts the allocations that lie, wholly or in part, beyond the reservation of their policy in their pool. The
     * allocations fill the reservation in the order of their start.
     */
    static long countOverQuota(TenantRules rules, List<HeldAmount> held) {
        QuotaTreeBuilder tree = rules.tree();
        Map<UUID, Policy> policies = byId(rules);
        Map<String, Long> filled = new HashMap<>();
        long beyond = 0;
        for (HeldAmount one : held) {
            String key = one.policy() + " " + one.pool();
            long sum = filled.merge(key, one.gpuMilli(), Math::addExact);
            long reserved = Optional.ofNullable(policies.get(one.policy()))
                    .flatMap(policy ->
                            tree.quotaAt(QuotaTreeBuilder.path(rules.tenant(), policy.group()), Scope.of(one.pool())))
                    .map(Quota::reservedGpuMilli)
                    .orElse(0L);
            if (one.gpuMilli() > 0 && sum > reserved) {
                beyond++;
            }
        }
        return beyond;
    }

    private static Map<UUID, Policy> byId(TenantRules rules) {
        return rules.policies().stream().collect(Collectors.toMap(Policy::id, policy -> policy));
    }

    /** Warns about the policies that the change creates or updates. */
    private static List<String> warnings(TenantRules before, TenantRules after, List<HeldAmount> held) {
        Diff<Policy> policies = Diff.ofPolicies(before, after);
        QuotaTreeBuilder tree = after.tree();
        Map<UUID, Policy> byId = byId(after);
        List<String> warnings = new ArrayList<>();
        Stream.concat(policies.added().stream(), policies.changed().stream()).forEach(policy -> {
            if (after.queuesOf(policy).isEmpty()) {
                warnings.add("policy " + policy.name() + " has no profiles, so members cannot submit work under it");
            }
            QuotaPath path = QuotaTreeBuilder.path(after.tenant(), policy.group());
            for (PolicyQuota quota : policy.quotas()) {
                excessWarning(after, byId, policy, quota, held).ifPresent(warnings::add);
                graceWarning(after, policy, quota.scope()).ifPresent(warnings::add);
                tree.parentOf(path, quota.scope())
                        .filter(parent -> exceeds(quota, parent))
                        .ifPresent(parent -> warnings.add("the limit of policy " + policy.name() + " in "
                                + after.nameOf(quota.scope()) + " is above the limit of "
                                + parent.path().group()
                                + "; the lower limit applies"));
            }
        });
        return warnings;
    }

    /** The maximum grace of a pool, which the operator sets, bounds the grace of every policy. */
    private static Optional<String> graceWarning(TenantRules rules, Policy policy, Scope scope) {
        Duration asked = Duration.ofMillis(policy.graceMillis());
        return rules.allotments().stream()
                .filter(one -> Scope.of(one.allotment().pool()).equals(scope))
                .filter(one -> asked.compareTo(one.maxGrace()) > 0)
                .map(one -> "work under policy " + policy.name() + " that is stopped in " + one.poolName()
                        + " keeps its GPUs for at most " + one.maxGrace() + ", not for its grace of " + asked)
                .findFirst();
    }

    /** Warns that a group and the groups below it hold more than the quota allows, and says what becomes of it. */
    private static Optional<String> excessWarning(
            TenantRules rules, Map<UUID, Policy> byId, Policy policy, PolicyQuota quota, List<HeldAmount> held) {
        long bound = policy.overQuota()
                ? quota.terms().limitGpuMilli().orElse(Long.MAX_VALUE)
                : quota.terms().reservedGpuMilli();
        long all = 0;
        long stays = 0;
        for (HeldAmount one : held) {
            boolean below = Optional.ofNullable(byId.get(one.policy()))
                    .filter(other -> policy.group().contains(other.group()))
                    .isPresent();
            boolean counts =
                    quota.scope().equals(Scope.ALL_POOLS) || quota.scope().equals(Scope.of(one.pool()));
            all += below && counts ? one.gpuMilli() : 0;
            stays += below && counts && !one.preemptible() ? one.gpuMilli() : 0;
        }
        if (all <= bound) {
            return Optional.empty();
        }
        String holds =
                "policy " + policy.name() + " holds " + GpuFormat.gpus(all) + " in " + rules.nameOf(quota.scope());
        if (quota.terms().drainByMillis().isEmpty()) {
            return Optional.of(holds + ", but its " + (policy.overQuota() ? "limit" : "reserved amount") + " is now "
                    + new GpuAmount(bound) + ". Excess work continues; no further work starts until it has ended");
        }
        return Optional.of(holds + "; the service stops what it holds beyond " + new GpuAmount(bound)
                + " at " + Instant.ofEpochMilli(quota.terms().drainByMillis().getAsLong())
                + (stays > bound ? ", except " + new GpuAmount(stays) + " held by work that cannot be preempted" : ""));
    }

    private static boolean exceeds(PolicyQuota quota, Quota parent) {
        return parent.limitGpuMilli().isPresent()
                && quota.terms().limitGpuMilli().orElse(0)
                        > parent.limitGpuMilli().getAsLong();
    }
}
