package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Caps;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.quota.Ask;
import io.quartermaster.engine.quota.Ceilings;
import io.quartermaster.engine.quota.Meter;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaTree;
import io.quartermaster.engine.quota.When;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;

/**
 * The capacity of every pool and the quota trees over them. What is held counts at once on its devices and in every
 * tree that it concerns, so the two never differ.
 */
public final class Cluster {
    private final SortedMap<PoolId, Space> spaces = new TreeMap<>();
    private final SortedMap<Scope, QuotaTree> trees = new TreeMap<>();
    private final Map<PoolId, Map<QuotaPath, List<QuotaNode>>> leaves = new HashMap<>();
    private final Map<PoolId, Map<QuotaPath, List<QuotaNode>>> bindingLeaves = new HashMap<>();
    private final Map<Kind.Key, Kind> kinds = new HashMap<>();
    private final List<Kind> byNumber = new ArrayList<>();

    private final Ceilings ceilings;

    private List<Meter> meters = List.of();

    private long inUnknownPoolsNowGpuMilli;
    private long inUnknownPoolsNextGpuMilli;

    private Cluster(Ceilings ceilings) {
        this.ceilings = ceilings;
    }

    /** An empty cluster; {@code paths} are all that work is known to use. */
    public static Cluster of(
            Collection<Pool> pools,
            Collection<Node> nodes,
            SortedMap<Scope, SortedMap<QuotaPath, Quota>> quotas,
            SortedMap<QuotaPath, Caps> caps,
            SortedSet<QuotaPath> paths) {
        Cluster cluster = new Cluster(new Ceilings(caps));
        SortedMap<PoolId, List<Node>> byPool = new TreeMap<>();
        for (Node node : nodes) {
            byPool.computeIfAbsent(node.pool(), pool -> new ArrayList<>()).add(node);
        }
        SortedMap<QuotaPath, Quota> ofAllPools = quotas.getOrDefault(Scope.ALL_POOLS, Collections.emptySortedMap());
        boolean overAll = !ofAllPools.isEmpty();
        for (Pool pool : pools) {
            cluster.spaces.put(pool.id(), spaceOf(pool, byPool.getOrDefault(pool.id(), List.of())));
            if (!overAll && !quotas.containsKey(Scope.of(pool.id()))) {
                cluster.trees.put(Scope.of(pool.id()), QuotaTree.open(Scope.of(pool.id()), paths));
            }
        }
        quotas.forEach((scope, ofScope) -> cluster.trees.put(scope, QuotaTree.of(scope, ofScope, paths)));
        if (overAll && quotas.size() > 1) {
            List<QuotaPath> stated = ofAllPools.values().stream()
                    .filter(quota -> !quota.implied())
                    .map(Quota::path)
                    .toList();
            cluster.trees.values().forEach(tree -> tree.beside(stated));
        }
        return cluster;
    }

    private static Space spaceOf(Pool pool, List<Node> nodes) {
        return switch (pool.capacity()) {
            case Pool.Capacity.Nodes capacity -> new NodesSpace(pool, capacity, nodes);
            case Pool.Capacity.Count capacity -> new CountedSpace(pool, capacity);
        };
    }

    public Optional<Space> space(PoolId pool) {
        return Optional.ofNullable(spaces.get(pool));
    }

    public Collection<Space> spaces() {
        return Collections.unmodifiableCollection(spaces.values());
    }

    public Collection<QuotaTree> trees() {
        return Collections.unmodifiableCollection(trees.values());
    }

    /** Where work of a path counts in a pool: the pool's tree first, then the one over all pools, as far as they are. */
    public List<QuotaNode> leaves(PoolId pool, QuotaPath path) {
        return leaves.computeIfAbsent(pool, id -> new HashMap<>()).computeIfAbsent(path, key -> findLeaves(pool, key));
    }

    /**
     * Where work of a path is bound in a pool: where it counts, without the tree over all pools if neither the path nor a path above
     * it states a quota there.
     */
    public List<QuotaNode> bindingLeaves(PoolId pool, QuotaPath path) {
        return bindingLeaves
                .computeIfAbsent(pool, id -> new HashMap<>())
                .computeIfAbsent(path, key -> onlyBinding(leaves(pool, key)));
    }

    private static List<QuotaNode> onlyBinding(List<QuotaNode> places) {
        List<QuotaNode> binding = places.stream().filter(QuotaNode::isStated).toList();
        return binding.isEmpty() ? places : binding;
    }

    private List<QuotaNode> findLeaves(PoolId pool, QuotaPath path) {
        List<QuotaNode> found = new ArrayList<>(2);
        for (Scope scope : List.of(Scope.of(pool), Scope.ALL_POOLS)) {
            QuotaTree tree = trees.get(scope);
            if (tree != null) {
                found.add(tree.leaf(path));
            }
        }
        return List.copyOf(found);
    }

    /** The kind of a request that may be on any node that its shape allows, with what it counts as. */
    public Kind kind(Space space, Request request, long gpuMilli) {
        boolean tenantMatters = space.hasNodesOfOneTenant()
                || !request.isOfWholeGpus() && space.pool().sharing() == Pool.Sharing.TENANT;
        Kind.Key key = new Kind.Key(
                space.pool().id(), request.shape(), request.workers(), tenantMatters ? request.tenant() : "");
        Kind known = kinds.get(key);
        if (known != null) {
            return known;
        }
        List<QuotaNode> roots = new ArrayList<>(2);
        for (QuotaNode leaf : leaves(space.pool().id(), request.path())) {
            roots.add(leaf.tree().root());
        }
        Kind kind = new Kind(byNumber.size(), space, request, gpuMilli, roots);
        kinds.put(key, kind);
        byNumber.add(kind);
        space.tell(kind);
        return kind;
    }

    /** All kinds that were asked for, by their numbers. */
    public List<Kind> kinds() {
        return Collections.unmodifiableList(byNumber);
    }

    /** What a tenure would ask of the quotas if it began now. */
    public Ask ask(Tenure tenure, boolean dedicatedOnly) {
        return new Ask(
                bindingLeaves(tenure.allocation().pool(), tenure.path()),
                ceilings.over(tenure.path(), tenure.user()),
                tenure.gpuMilli(),
                tenure.whole(),
                tenure.preemptible(),
                dedicatedOnly,
                OptionalLong.empty());
    }

    /** Has what is held counted against budgets too; while nothing is held yet. */
    public void meterBy(List<Meter> budgets) {
        meters = List.copyOf(budgets);
    }

    public List<Meter> meters() {
        return meters;
    }

    /** The budgets that work of a path counts against in a pool. */
    public List<Meter> meters(PoolId pool, QuotaPath path) {
        return meters.isEmpty()
                ? meters
                : meters.stream().filter(meter -> meter.counts(pool, path)).toList();
    }

    private void meter(Tenure tenure, When when, int factor) {
        for (Meter meter : meters) {
            if (meter.counts(tenure.allocation().pool(), tenure.path())) {
                meter.add(when, factor * tenure.gpuMilli());
            }
        }
    }

    public Ceilings ceilings() {
        return ceilings;
    }

    /** Counts something in its pool and its trees. */
    public void add(Tenure tenure, When when) {
        Space space = spaces.get(tenure.allocation().pool());
        if (space != null) {
            space.add(tenure, when);
        } else {
            changeInUnknownPools(tenure.gpuMilli(), when);
        }
        addToTrees(tenure, when);
    }

    /** Undoes {@link #add}. */
    public void remove(Tenure tenure, When when) {
        Space space = spaces.get(tenure.allocation().pool());
        if (space != null) {
            space.remove(tenure, when);
        } else {
            changeInUnknownPools(-tenure.gpuMilli(), when);
        }
        removeFromTrees(tenure, when);
    }

    private void changeInUnknownPools(long gpuMilli, When when) {
        switch (when) {
            case NOW -> inUnknownPoolsNowGpuMilli += gpuMilli;
            case NEXT -> inUnknownPoolsNextGpuMilli += gpuMilli;
        }
    }

    /** What is held in pools that are not known any more: the tree over all pools counts it, and no capacity has it. */
    public long heldInUnknownPoolsGpuMilli() {
        return Math.max(inUnknownPoolsNowGpuMilli, inUnknownPoolsNextGpuMilli);
    }

    /** Counts something in its trees only, to see what quotas would say of it. */
    public void addToTrees(Tenure tenure, When when) {
        for (QuotaNode leaf : leaves(tenure.allocation().pool(), tenure.path())) {
            leaf.add(when, tenure.gpuMilli(), tenure.preemptible());
        }
        ceilings.count(tenure.path(), tenure.user(), when, tenure.gpuMilli(), tenure.whole(), 1);
        meter(tenure, when, 1);
    }

    /** Undoes {@link #addToTrees}. */
    public void removeFromTrees(Tenure tenure, When when) {
        for (QuotaNode leaf : leaves(tenure.allocation().pool(), tenure.path())) {
            leaf.add(when, -tenure.gpuMilli(), tenure.preemptible());
        }
        ceilings.count(tenure.path(), tenure.user(), when, tenure.gpuMilli(), tenure.whole(), -1);
        meter(tenure, when, -1);
    }
}
