package io.quartermaster.governance.rules;

import io.quartermaster.access.GroupPath;
import io.quartermaster.capacity.grants.Allotment;
import io.quartermaster.capacity.grants.TenantAllotments;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.platform.TenantId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The rules of a tenant at one moment: its allotments, and what its admins set, without retired objects. A change is
 * this value before and after; checks, previews and the writing of rows are functions of the two.
 */
public record TenantRules(
        TenantId tenant,
        List<TenantAllotments.NamedAllotment> allotments,
        List<Policy> policies,
        List<Profile> profiles,
        List<Queue> queues) {

    public TenantRules {
        allotments = List.copyOf(allotments);
        policies = List.copyOf(policies);
        profiles = List.copyOf(profiles);
        queues = List.copyOf(queues);
    }

    public QuotaTreeBuilder tree() {
        List<Allotment> granted = allotments.stream()
                .map(TenantAllotments.NamedAllotment::allotment)
                .toList();
        return QuotaTreeBuilder.of(tenant, granted, policies);
    }

    public Optional<Policy> policy(String name) {
        return find(policies, policy -> policy.name().equals(name));
    }

    public Optional<Policy> policy(UUID id) {
        return find(policies, policy -> policy.id().equals(id));
    }

    public Optional<Policy> policyOf(GroupPath group) {
        return find(policies, policy -> policy.group().equals(group));
    }

    public Optional<Profile> profile(String name) {
        return find(profiles, profile -> profile.name().equals(name));
    }

    public Optional<Profile> profile(UUID id) {
        return find(profiles, profile -> profile.id().equals(id));
    }

    public Optional<Queue> queue(String name) {
        return find(queues, queue -> queue.name().equals(name));
    }

    /** The queue's policy, which exists as long as the queue does. */
    public Policy policyOf(Queue queue) {
        return policy(queue.policy()).orElseThrow();
    }

    /** The queue's profile, which exists as long as the queue does. */
    public Profile profileOf(Queue queue) {
        return profile(queue.profile()).orElseThrow();
    }

    public List<Queue> queuesOf(Policy policy) {
        return queues.stream()
                .filter(queue -> queue.policy().equals(policy.id()))
                .toList();
    }

    public List<Queue> queuesOf(Profile profile) {
        return queues.stream()
                .filter(queue -> queue.profile().equals(profile.id()))
                .toList();
    }

    /** A pool in which the tenant has an allotment. */
    public Optional<PoolId> pool(String name) {
        return find(allotments, one -> one.poolName().equals(name))
                .map(one -> one.allotment().pool());
    }

    public List<String> poolNames() {
        return allotments.stream()
                .map(TenantAllotments.NamedAllotment::poolName)
                .toList();
    }

    /** The name that admins know; the id of a pool in which the tenant no longer has an allotment. */
    public String nameOf(Scope scope) {
        return switch (scope) {
            case Scope.AllPools all -> all.toString();
            case Scope.OnePool one -> nameOf(one.pool());
        };
    }

    public String nameOf(PoolId pool) {
        return find(allotments, one -> one.allotment().pool().equals(pool))
                .map(TenantAllotments.NamedAllotment::poolName)
                .orElse(pool.value());
    }

    public TenantRules with(Policy policy) {
        return new TenantRules(tenant, allotments, withItem(policies, policy, Policy::id), profiles, queues);
    }

    public TenantRules with(Profile profile) {
        return new TenantRules(tenant, allotments, policies, withItem(profiles, profile, Profile::id), queues);
    }

    public TenantRules with(Queue queue) {
        return new TenantRules(tenant, allotments, policies, profiles, withItem(queues, queue, Queue::id));
    }

    public TenantRules withAllotments(List<TenantAllotments.NamedAllotment> granted) {
        return new TenantRules(tenant, granted, policies, profiles, queues);
    }

    /** Removes the policy together with its queues. */
    public TenantRules without(Policy policy) {
        List<Queue> remaining = queues.stream()
                .filter(queue -> !queue.policy().equals(policy.id()))
                .toList();
        return new TenantRules(tenant, allotments, withoutItem(policies, policy), profiles, remaining);
    }

    /** Removes the profile together with its queues. */
    public TenantRules without(Profile profile) {
        List<Queue> remaining = queues.stream()
                .filter(queue -> !queue.profile().equals(profile.id()))
                .toList();
        return new TenantRules(tenant, allotments, policies, withoutItem(profiles, profile), remaining);
    }

    public TenantRules without(Queue queue) {
        return new TenantRules(tenant, allotments, policies, profiles, withoutItem(queues, queue));
    }

    private static <T> Optional<T> find(List<T> all, Predicate<T> wanted) {
        return all.stream().filter(wanted).findFirst();
    }

    /** Replaces the entry with the same id, or appends it. */
    private static <T> List<T> withItem(List<T> all, T by, Function<T, UUID> id) {
        List<T> result = new ArrayList<>(all);
        for (int i = 0; i < result.size(); i++) {
            if (id.apply(result.get(i)).equals(id.apply(by))) {
                result.set(i, by);
                return result;
            }
        }
        result.add(by);
        return result;
    }

    private static <T> List<T> withoutItem(List<T> all, T one) {
        return all.stream().filter(each -> !each.equals(one)).toList();
    }
}
