package io.quartermaster.engine.reference;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A quota tree: root, tenants, groups. A group lies under the nearest ancestor that has a quota. Work counts at leaves:
 * a node with groups under it has a leaf for its own work, which reserves what the groups leave of its reservation.
 */
final class Tree {
    final Scope scope;

    /** Whether the pool has no quotas: every path has weight 1, and no bound by R applies. */
    final boolean open;

    final QuotaBranch root;
    private final Map<QuotaPath, QuotaBranch> leaves = new HashMap<>();

    private final List<Placement> pools;

    /** @param used the paths that known work uses */
    Tree(
            Scope scope,
            SortedMap<QuotaPath, Quota> quotas,
            Collection<QuotaPath> used,
            Collection<Placement> placements) {
        this.scope = scope;
        this.pools = placements.stream().filter(pool -> counts(pool.pool.id())).toList();
        this.open = quotas.isEmpty();
        this.root = new QuotaBranch(this, null, QuotaPath.of("*"), defaults(0, OptionalLong.empty(), false));
        SortedMap<QuotaPath, QuotaBranch.Terms> all = new TreeMap<>();
        for (QuotaPath path : used) {
            if (open) {
                path.fromTenant().forEach(prefix -> all.put(prefix, defaults(0, OptionalLong.of(1000), true)));
            } else {
                all.put(path, defaults(0, OptionalLong.of(0), false));
            }
        }
        quotas.forEach((path, quota) -> all.put(path, terms(quota)));
        SortedMap<QuotaPath, QuotaBranch> nodes = new TreeMap<>();
        all.forEach((path, terms) -> {
            QuotaBranch parent = root;
            for (QuotaPath prefix : path.fromTenant()) {
                QuotaBranch above = nodes.get(prefix);
                parent = above != null && above.terms.named() ? above : parent;
            }
            QuotaBranch node = new QuotaBranch(this, parent, path, terms);
            parent.children.add(node);
            nodes.put(path, node);
        });
        nodes.forEach((path, node) -> leaves.put(path, node.children.isEmpty() ? node : ownLeaf(node)));
        setWeights(root);
    }

    private static QuotaBranch.Terms terms(Quota quota) {
        long reserved = quota.reservedGpuMilli();
        return new QuotaBranch.Terms(
                reserved,
                quota.limitGpuMilli().orElse(QuotaBranch.NO_LIMIT),
                quota.weightMilli(),
                Math.min(reserved, quota.lendableGpuMilli().orElse(reserved)),
                quota.rank(),
                quota.overQuota(),
                quota.sequence(),
                quota.fence(),
                true);
    }

    private static QuotaBranch.Terms defaults(long reserved, OptionalLong weight, boolean named) {
        return new QuotaBranch.Terms(
                reserved, QuotaBranch.NO_LIMIT, weight, reserved, 0, true, Long.MAX_VALUE, false, named);
    }

    private QuotaBranch ownLeaf(QuotaBranch node) {
        long left = node.terms.reserved();
        for (QuotaBranch child : node.children) {
            left -= child.terms.reserved();
        }
        QuotaBranch own = new QuotaBranch(
                this, node, node.path, defaults(Math.max(0, left), OptionalLong.empty(), node.terms.named()));
        node.children.addFirst(own);
        return own;
    }

    /**
     * A weight that is not stated is the reservation, or 1 if no sibling reserves. Tie-break: a node's own leaf is no
     * sibling here, because it has only what the groups leave.
     */
    private static void setWeights(QuotaBranch parent) {
        boolean anyReserves = parent.children.stream()
                .anyMatch(child -> child.terms.reserved() > 0 && !child.path.equals(parent.path));
        for (QuotaBranch child : parent.children) {
            child.weight = child.terms.weight().orElse(anyReserves ? child.terms.reserved() : 1000);
            setWeights(child);
        }
    }

    /** The capacity that is up. */
    long up() {
        return pools.stream().mapToLong(Placement::capacity).sum();
    }

    /** L of the root: the capacity that is up, and what is held outside it (ADR 13). */
    long capacity(Holdings holdings, Moment.View view) {
        return up()
                + pools.stream()
                        .mapToLong(pool -> pool.heldBeyondCapacity(holdings, view))
                        .sum();
    }

    boolean counts(PoolId pool) {
        return scope.equals(Scope.ALL_POOLS) || scope.equals(Scope.of(pool));
    }

    QuotaBranch leaf(QuotaPath path) {
        QuotaBranch leaf = leaves.get(path);
        if (leaf == null) {
            throw new IllegalArgumentException("no leaf for " + path);
        }
        return leaf;
    }

    /** The waiting amount at each leaf, by path. */
    void divide(SortedMap<QuotaPath, Long> waiting, Holdings holdings) {
        setDemand(root, waiting, holdings);
        root.fair = up();
        root.divide();
    }

    /** D: used plus waiting, from below, capped by L, and by R where over-quota is off. */
    private static long setDemand(QuotaBranch node, SortedMap<QuotaPath, Long> waiting, Holdings holdings) {
        node.usedAtFirst = node.used(holdings);
        long demand = 0;
        if (node.children.isEmpty() && !node.isRoot()) {
            demand = node.usedAtFirst + waiting.getOrDefault(node.path, 0L);
        }
        for (QuotaBranch child : node.children) {
            demand += setDemand(child, waiting, holdings);
        }
        if (!node.isRoot()) {
            demand = Math.min(demand, node.terms.limit());
            demand = node.terms.overQuota() ? demand : Math.min(demand, node.terms.reserved());
        }
        node.demand = demand;
        return demand;
    }
}
