package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.ConcurrencyCaps;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.RequestKey;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.quota.BudgetMeter;
import io.quartermaster.engine.quota.CapIndex;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaRequest;
import io.quartermaster.engine.quota.QuotaTree;
import io.quartermaster.engine.quota.UsageView;
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
 * The capacity of every pool and the quota trees over them. Each booking counts on its devices and in all its trees in
 * one step, so the two never differ.
 */
public final class Cluster {
    private final SortedMap<PoolId, PoolCapacity> poolCapacities = new TreeMap<>();
    private final SortedMap<Scope, QuotaTree> trees = new TreeMap<>();
    private final Map<PoolId, Map<QuotaPath, List<QuotaNode>>> leaves = new HashMap<>();
    private final Map<PoolId, Map<QuotaPath, List<QuotaNode>>> bindingLeaves = new HashMap<>();
    private final Map<RequestKey, RequestSignature> signatures = new HashMap<>();
    private final List<RequestSignature> byNumber = new ArrayList<>();

    private final CapIndex caps;

    private List<BudgetMeter> budgetMeters = List.of();

    private final MoveSearches moveSearches;

    private final Map<PoolId, Long> bookingChanges = new HashMap<>();
    private boolean holdsBesideCapacity;
    private long inUnknownPoolsNowGpuMilli;
    private long inUnknownPoolsNextGpuMilli;

    private Cluster(CapIndex capIndex, MoveSearches moveSearches) {
        this.moveSearches = moveSearches;
        this.caps = capIndex;
    }

    /**
     * An empty cluster.
     *
     * @param paths all paths that known work uses
     * @param moveSearches the searches for moves, which continue from another cluster
     */
    public static Cluster of(
            Collection<Pool> pools,
            Collection<Node> nodes,
            SortedMap<Scope, SortedMap<QuotaPath, Quota>> quotas,
            SortedMap<QuotaPath, ConcurrencyCaps> concurrencyCaps,
            SortedSet<QuotaPath> paths,
            MoveSearches moveSearches) {
        Cluster cluster = new Cluster(new CapIndex(concurrencyCaps), moveSearches);
        SortedMap<PoolId, List<Node>> byPool = new TreeMap<>();
        for (Node node : nodes) {
            byPool.computeIfAbsent(node.pool(), pool -> new ArrayList<>()).add(node);
        }
        SortedMap<QuotaPath, Quota> ofAllPools = quotas.getOrDefault(Scope.ALL_POOLS, Collections.emptySortedMap());
        boolean overAll = !ofAllPools.isEmpty();
        for (Pool pool : pools) {
            cluster.poolCapacities.put(pool.id(), createPoolCapacity(pool, byPool.getOrDefault(pool.id(), List.of())));
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
            cluster.trees.values().forEach(tree -> tree.markBoundByOtherTree(stated));
        }
        return cluster;
    }

    private static PoolCapacity createPoolCapacity(Pool pool, List<Node> nodes) {
        return switch (pool.capacity()) {
            case Pool.Capacity.Nodes capacity -> new NodePool(pool, capacity, nodes);
            case Pool.Capacity.Count capacity -> new CounterPool(pool, capacity);
        };
    }

    public Optional<PoolCapacity> poolCapacity(PoolId pool) {
        return Optional.ofNullable(poolCapacities.get(pool));
    }

    public Collection<PoolCapacity> poolCapacities() {
        return Collections.unmodifiableCollection(poolCapacities.values());
    }

    public Collection<QuotaTree> trees() {
        return Collections.unmodifiableCollection(trees.values());
    }

    /**
     * The leaves at which work of a path counts in a pool: first that of the pool's tree, then that of the tree over
     * all pools, where these trees exist.
     */
    public List<QuotaNode> leaves(PoolId pool, QuotaPath path) {
        return leaves.computeIfAbsent(pool, id -> new HashMap<>()).computeIfAbsent(path, key -> findLeaves(pool, key));
    }

    /**
     * The leaves that bind work of a path in a pool. They are those of {@link #leaves}, without the tree over all pools
     * if neither the path nor a path above it states a quota there.
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

    /** The signature of a request that may be on any node that its shape allows, with the amount that it counts as. */
    public RequestSignature signature(PoolCapacity poolCapacity, PlacementRequest placementRequest, long gpuMilli) {
        boolean tenantMatters = poolCapacity.hasNodesOfOneTenant()
                || !placementRequest.isOfWholeGpus() && poolCapacity.pool().sharing() == Pool.Sharing.TENANT;
        RequestKey key = new RequestKey(
                poolCapacity.pool().id(),
                placementRequest.shape(),
                placementRequest.workers(),
                tenantMatters ? placementRequest.tenant() : "");
        RequestSignature known = signatures.get(key);
        if (known != null) {
            return known;
        }
        List<QuotaNode> roots = new ArrayList<>(2);
        for (QuotaNode leaf : leaves(poolCapacity.pool().id(), placementRequest.path())) {
            roots.add(leaf.tree().root());
        }
        RequestSignature requestSignature = new RequestSignature(
                key, byNumber.size(), poolCapacity, placementRequest, gpuMilli, roots, moveSearches);
        signatures.put(key, requestSignature);
        byNumber.add(requestSignature);
        poolCapacity.register(requestSignature);
        return requestSignature;
    }

    /** All signatures so far, in the order of their numbers. */
    public List<RequestSignature> signatures() {
        return Collections.unmodifiableList(byNumber);
    }

    /** The quota request that a booking would make if it started now. */
    public QuotaRequest quotaRequest(Booking booking, boolean dedicatedOnly) {
        return new QuotaRequest(
                bindingLeaves(booking.allocation().pool(), booking.path()),
                caps.over(booking.path(), booking.user()),
                booking.gpuMilli(),
                booking.whole(),
                booking.preemptible(),
                dedicatedOnly,
                OptionalLong.empty());
    }

    /** Counts all future bookings against budgets, too. Nothing may be booked yet. */
    public void setBudgetMeters(List<BudgetMeter> budgets) {
        budgetMeters = List.copyOf(budgets);
    }

    public List<BudgetMeter> meters() {
        return budgetMeters;
    }

    /** The budgets that work of a path counts against in a pool. */
    public List<BudgetMeter> meters(PoolId pool, QuotaPath path) {
        return budgetMeters.isEmpty()
                ? budgetMeters
                : budgetMeters.stream()
                        .filter(budgetMeter -> budgetMeter.counts(pool, path))
                        .toList();
    }

    private void meter(Booking booking, UsageView view, int factor) {
        for (BudgetMeter budgetMeter : budgetMeters) {
            if (budgetMeter.counts(booking.allocation().pool(), booking.path())) {
                budgetMeter.add(view, factor * booking.gpuMilli());
            }
        }
    }

    public CapIndex caps() {
        return caps;
    }

    /** Sets whether any work is held beside the capacity of its pool: on lost nodes, or beyond a cap. */
    public void setHoldsBesideCapacity(boolean holds) {
        holdsBesideCapacity = holds;
    }

    /** The amount of a pool's work that is held beside its capacity; 0 if no pool has such work. */
    private long heldBesideGpuMilli(PoolId pool, UsageView view) {
        if (!holdsBesideCapacity) {
            return 0;
        }
        PoolCapacity poolCapacity = poolCapacities.get(pool);
        return poolCapacity == null ? heldInUnknownPoolsGpuMilli(view) : poolCapacity.heldBeyondCapacityGpuMilli(view);
    }

    /**
     * Changes the capacities of the trees after work of a pool has left or arrived. Work that was held beside the
     * capacity leaves no capacity to others.
     */
    private void updateCapacities(PoolId pool, UsageView view, long besideBeforeGpuMilli) {
        long more = heldBesideGpuMilli(pool, view) - besideBeforeGpuMilli;
        if (more != 0) {
            boolean known = poolCapacities.containsKey(pool);
            trees().stream()
                    .filter(tree -> known ? tree.counts(pool) : tree.scope().equals(Scope.ALL_POOLS))
                    .forEach(tree -> tree.changeCapacityGpuMilli(view, more));
        }
    }

    /** Books on devices and in the quota trees, for a what-if. */
    void book(Booking booking) {
        PoolId pool = booking.allocation().pool();
        long beside = heldBesideGpuMilli(pool, UsageView.PROJECTED);
        bookOnDevices(booking);
        updateCapacities(pool, UsageView.PROJECTED, beside);
        addToTrees(booking, UsageView.PROJECTED);
    }

    /** Undoes {@link #book}. */
    void release(Booking booking) {
        PoolId pool = booking.allocation().pool();
        long beside = heldBesideGpuMilli(pool, UsageView.PROJECTED);
        releaseOnDevices(booking);
        updateCapacities(pool, UsageView.PROJECTED, beside);
        removeFromTrees(booking, UsageView.PROJECTED);
    }

    /** Counts a booking in its pool and in its trees. */
    public void add(Booking booking, UsageView view) {
        bookingChanges.merge(booking.allocation().pool(), 1L, Long::sum);
        long beside = heldBesideGpuMilli(booking.allocation().pool(), view);
        PoolCapacity poolCapacity = poolCapacities.get(booking.allocation().pool());
        if (poolCapacity != null) {
            poolCapacity.add(booking, view);
        } else {
            changeInUnknownPools(booking.gpuMilli(), view);
        }
        updateCapacities(booking.allocation().pool(), view, beside);
        addToTrees(booking, view);
    }

    /** Undoes {@link #add}. */
    public void remove(Booking booking, UsageView view) {
        bookingChanges.merge(booking.allocation().pool(), 1L, Long::sum);
        long beside = heldBesideGpuMilli(booking.allocation().pool(), view);
        PoolCapacity poolCapacity = poolCapacities.get(booking.allocation().pool());
        if (poolCapacity != null) {
            poolCapacity.remove(booking, view);
        } else {
            changeInUnknownPools(-booking.gpuMilli(), view);
        }
        updateCapacities(booking.allocation().pool(), view, beside);
        removeFromTrees(booking, view);
        if (view == UsageView.PROJECTED) {
            moveSearches.countRelease();
        }
    }

    /** The searches for moves that failed. */
    public MoveSearches moveSearches() {
        return moveSearches;
    }

    /** How often a booking in a pool was added or removed. What-ifs do not count. */
    public long bookingChanges(PoolId pool) {
        return bookingChanges.getOrDefault(pool, 0L);
    }

    /** Begins a what-if. */
    public Transaction transaction() {
        return new Transaction(this);
    }

    void bookOnDevices(Booking booking) {
        PoolCapacity poolCapacity = poolCapacities.get(booking.allocation().pool());
        if (poolCapacity != null) {
            poolCapacity.add(booking, UsageView.PROJECTED);
        } else {
            changeInUnknownPools(booking.gpuMilli(), UsageView.PROJECTED);
        }
    }

    void releaseOnDevices(Booking booking) {
        PoolCapacity poolCapacity = poolCapacities.get(booking.allocation().pool());
        if (poolCapacity != null) {
            poolCapacity.takeBack(booking, UsageView.PROJECTED);
        } else {
            changeInUnknownPools(-booking.gpuMilli(), UsageView.PROJECTED);
        }
    }

    private void changeInUnknownPools(long gpuMilli, UsageView view) {
        switch (view) {
            case CURRENT -> inUnknownPoolsNowGpuMilli += gpuMilli;
            case PROJECTED -> inUnknownPoolsNextGpuMilli += gpuMilli;
        }
    }

    /**
     * The amount held in pools that are no longer known. The tree over all pools counts it, and no capacity contains
     * it.
     */
    public long heldInUnknownPoolsGpuMilli(UsageView view) {
        return switch (view) {
            case CURRENT -> inUnknownPoolsNowGpuMilli;
            case PROJECTED -> inUnknownPoolsNextGpuMilli;
        };
    }

    /** Counts a booking in its trees only. */
    void addToTrees(Booking booking, UsageView view) {
        for (QuotaNode leaf : leaves(booking.allocation().pool(), booking.path())) {
            leaf.add(view, booking.gpuMilli(), booking.preemptible());
        }
        caps.count(booking.path(), booking.user(), view, booking.gpuMilli(), booking.whole(), 1);
        meter(booking, view, 1);
    }

    /** Undoes {@link #addToTrees}. */
    void removeFromTrees(Booking booking, UsageView view) {
        for (QuotaNode leaf : leaves(booking.allocation().pool(), booking.path())) {
            leaf.add(view, -booking.gpuMilli(), booking.preemptible());
        }
        caps.count(booking.path(), booking.user(), view, booking.gpuMilli(), booking.whole(), -1);
        meter(booking, view, -1);
    }
}
