package io.quartermaster.governance.rules;

import io.quartermaster.access.GroupPath;
import io.quartermaster.capacity.grants.Allotment;
import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.TenantId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A tenant's part of the quota trees, one tree per pool and one over all pools: the tenant's allotments on top, under
 * them the quotas of its policies. A policy lies under the nearest ancestor group that has a quota in the same tree,
 * else under the tenant. Quotas come ordered by tree (all pools first), then by path, so a parent comes before its
 * children.
 *
 * <p>In the engine, a path that is missing in a tree may use nothing there. The builder therefore adds places where a
 * policy states nothing. Such a place limits no workload, grants no right and protects no work. A policy with a quota
 * over all pools gets a place in each allotted pool that it does not name. As soon as one policy has a quota over all
 * pools, the tenant and its other policies get places in that tree; these reserve what they reserve in the pools
 * together. A quota in a pool in which the tenant has no allotment has no place.
 */
public final class QuotaTreeBuilder {

    private static final Comparator<Key> ORDER =
            Comparator.comparing(Key::scope).thenComparing(Key::path);

    private record Key(Scope scope, QuotaPath path) {}

    private final TenantId tenant;
    private final SortedMap<Key, Quota> quotas = new TreeMap<>(ORDER);

    private QuotaTreeBuilder(TenantId tenant) {
        this.tenant = tenant;
    }

    /**
     * @param allotments the tenant's; those of other tenants are ignored
     * @param policies those that are not retired; at most one per group
     */
    public static QuotaTreeBuilder of(TenantId tenant, Collection<Allotment> allotments, Collection<Policy> policies) {
        return build(tenant, allotments, policies, policies.stream().anyMatch(QuotaTreeBuilder::countsAllPools));
    }

    /**
     * Builds the tree over all pools even where no policy of this tenant needs one. The engine needs it for every
     * tenant as soon as any tenant of the cell has such a quota.
     */
    public static QuotaTreeBuilder withAllPools(
            TenantId tenant, Collection<Allotment> allotments, Collection<Policy> policies) {
        return build(tenant, allotments, policies, true);
    }

    public static boolean countsAllPools(Policy policy) {
        return policy.quotaFor(Scope.ALL_POOLS).isPresent();
    }

    private static QuotaTreeBuilder build(
            TenantId tenant, Collection<Allotment> allotments, Collection<Policy> policies, boolean allPools) {
        QuotaTreeBuilder tree = new QuotaTreeBuilder(tenant);
        QuotaPath root = QuotaPath.of(tenant.value());
        for (Allotment allotment : allotments) {
            if (allotment.tenant().equals(tenant)) {
                tree.addQuota(allotment.terms().at(root, Scope.of(allotment.pool()), true));
            }
        }
        if (allPools) {
            tree.addQuota(Quota.implied(tree.quotas(), root, Scope.ALL_POOLS));
        }
        List<Scope> allotted = tree.quotas().stream()
                .map(Quota::scope)
                .filter(scope -> !scope.equals(Scope.ALL_POOLS))
                .toList();
        for (Policy policy : policies) {
            tree.addPolicy(policy, allotted, allPools);
        }
        return tree;
    }

    private void addPolicy(Policy policy, List<Scope> allotted, boolean allPools) {
        QuotaPath path = path(tenant, policy.group());
        boolean everywhere = countsAllPools(policy);
        List<Quota> inPools = new ArrayList<>();
        for (Scope pool : allotted) {
            Optional<QuotaTerms> terms = policy.quotaFor(pool).map(PolicyQuota::terms);
            if (terms.isPresent()) {
                Quota quota = terms.get().at(path, pool, policy.overQuota());
                addQuota(quota);
                inPools.add(quota);
            } else if (everywhere) {
                addQuota(Quota.reserving(path, pool, 0));
            }
        }
        Optional<QuotaTerms> overall = policy.quotaFor(Scope.ALL_POOLS).map(PolicyQuota::terms);
        if (overall.isPresent()) {
            addQuota(overall.get().at(path, Scope.ALL_POOLS, policy.overQuota()));
        } else if (allPools) {
            addQuota(Quota.implied(inPools, path, Scope.ALL_POOLS));
        }
    }

    private void addQuota(Quota quota) {
        Quota before = quotas.put(new Key(quota.scope(), quota.path()), quota);
        if (before != null) {
            throw new IllegalArgumentException("two quotas at " + quota.path() + " in " + quota.scope());
        }
    }

    /** The path of a group in the quota trees: {@code /research/nlp} of acme is {@code acme/research/nlp}. */
    public static QuotaPath path(TenantId tenant, GroupPath group) {
        List<String> segments = new ArrayList<>();
        segments.add(tenant.value());
        Collections.addAll(segments, group.value().substring(1).split("/"));
        return new QuotaPath(segments);
    }

    public List<Quota> quotas() {
        return List.copyOf(quotas.values());
    }

    public Optional<Quota> quotaAt(QuotaPath path, Scope scope) {
        return Optional.ofNullable(quotas.get(new Key(scope, path)));
    }

    /** The nearest place above; empty for the tenant's own, and where the tree has none. */
    public Optional<Quota> parentOf(QuotaPath path, Scope scope) {
        List<QuotaPath> above = path.fromTenant();
        for (int i = above.size() - 2; i >= 0; i--) {
            Optional<Quota> found = quotaAt(above.get(i), scope);
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    /**
     * The children of each place that has any, both in the order of places. One pass finds them all: the places below a
     * place follow it directly, so the ancestors of the next place are always known.
     */
    public SequencedMap<Quota, List<Quota>> children() {
        SequencedMap<Quota, List<Quota>> children = new LinkedHashMap<>();
        Deque<Quota> above = new ArrayDeque<>();
        for (Quota quota : quotas.values()) {
            while (!above.isEmpty() && !covers(above.getLast(), quota)) {
                above.removeLast();
            }
            if (!above.isEmpty()) {
                children.computeIfAbsent(above.getLast(), parent -> new ArrayList<>())
                        .add(quota);
            }
            above.addLast(quota);
        }
        return children;
    }

    private static boolean covers(Quota above, Quota quota) {
        return above.scope().equals(quota.scope()) && above.path().covers(quota.path());
    }

    /** Places whose children reserve more than they do; empty in a tree that passed the checks. */
    public List<Overdraft> overdrafts() {
        List<Overdraft> found = new ArrayList<>();
        children().forEach((parent, children) -> {
            long sum = children.stream().mapToLong(Quota::reservedGpuMilli).sum();
            if (sum > parent.reservedGpuMilli()) {
                found.add(new Overdraft(
                        parent,
                        children.stream()
                                .filter(child -> child.reservedGpuMilli() > 0)
                                .toList(),
                        sum));
            }
        });
        return found;
    }

    /**
     * The most that a path may ever hold in a pool: the least of the limits on its path, in the pool's tree and over
     * all pools. Where over-quota is off, the reservation is the limit. 0 where the path has no place in the pool;
     * absent = no limit.
     */
    public OptionalLong lowestLimit(QuotaPath path, PoolId pool) {
        if (quotaAt(path, Scope.of(pool)).isEmpty()) {
            return OptionalLong.of(0);
        }
        OptionalLong ceiling = OptionalLong.empty();
        for (Scope scope : List.of(Scope.of(pool), Scope.ALL_POOLS)) {
            for (QuotaPath step : path.fromTenant()) {
                OptionalLong bound =
                        quotaAt(step, scope).map(QuotaTreeBuilder::ownLimit).orElse(OptionalLong.empty());
                if (bound.isPresent() && bound.getAsLong() < ceiling.orElse(Long.MAX_VALUE)) {
                    ceiling = bound;
                }
            }
        }
        return ceiling;
    }

    private static OptionalLong ownLimit(Quota quota) {
        return quota.overQuota() ? quota.limitGpuMilli() : OptionalLong.of(quota.reservedGpuMilli());
    }

    /** A place whose children's reservations add up to more than its own. */
    public record Overdraft(Quota parent, List<Quota> children, long childrenReservedGpuMilli) {

        /** The children by group, each with its reservation. */
        public String reservations() {
            return children.stream().map(Overdraft::reservation).collect(Collectors.joining(", "));
        }

        private static String reservation(Quota quota) {
            return quota.path().group() + " " + new GpuAmount(quota.reservedGpuMilli());
        }

        /** The holder of the reservation at this path: the tenant or a group. */
        static String holder(QuotaPath path) {
            return path.group().equals("/") ? "the tenant" : "group " + path.group();
        }
    }
}
