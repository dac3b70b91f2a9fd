package io.quartermaster.engine.quota;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The quotas of one scope as a tree of root, tenants and groups. A group lies under its nearest named ancestor. Work
 * counts at leaves only. A node with groups under it therefore has a leaf for its own work, which reserves what the
 * node reserves beyond its groups. Paths that work uses but no quota names get a leaf that reserves nothing.
 */
public final class QuotaTree {
    private static final QuotaPath ROOT = QuotaPath.of("*");

    private final Scope scope;
    private final QuotaNode root;
    private final SortedMap<QuotaPath, QuotaNode> leaves = new TreeMap<>();
    private final boolean open;
    private List<QuotaNode> drained = List.of();
    private boolean lendsAll = true;
    private boolean hasFences;
    private final long[] capacityGpuMilli = new long[UsageView.values().length];
    private final long[] plannedCapacityGpuMilli = new long[UsageView.values().length];
    private boolean pastCounts;
    private long nowMillis;

    private QuotaTree(Scope scope, boolean open) {
        this.scope = scope;
        this.open = open;
        this.root = new QuotaNode(this, null, ROOT, terms(0, OptionalLong.empty(), false, List.of(), false));
    }

    /** The tree of a scope that has quotas; {@code paths} are the paths that known work uses. */
    public static QuotaTree of(Scope scope, SortedMap<QuotaPath, Quota> quotas, SortedSet<QuotaPath> paths) {
        QuotaTree tree = new QuotaTree(scope, false);
        SortedMap<QuotaPath, QuotaNode.Terms> all = new TreeMap<>();
        for (QuotaPath path : paths) {
            all.put(path, terms(0, OptionalLong.of(0), false));
        }
        quotas.forEach((path, quota) -> all.put(path, termsOf(quota)));
        tree.build(all);
        return tree;
    }

    /** The tree of a pool without any quota: every path has weight 1 and no bound. */
    public static QuotaTree open(Scope scope, SortedSet<QuotaPath> paths) {
        QuotaTree tree = new QuotaTree(scope, true);
        SortedMap<QuotaPath, QuotaNode.Terms> all = new TreeMap<>();
        for (QuotaPath path : paths) {
            for (QuotaPath prefix : path.fromTenant()) {
                all.put(prefix, terms(0, OptionalLong.of(1000), true));
            }
        }
        tree.build(all);
        return tree;
    }

    private static QuotaNode.Terms termsOf(Quota quota) {
        long reserved = quota.reservedGpuMilli();
        return new QuotaNode.Terms(
                reserved,
                quota.limitGpuMilli(),
                quota.weightMilli(),
                Math.min(reserved, quota.lendableGpuMilli().orElse(reserved)),
                quota.rank(),
                quota.overQuota(),
                true,
                quota.sequence(),
                quota.drainByMillis(),
                quota.fence(),
                quota.transitions(),
                quota.implied());
    }

    private static QuotaNode.Terms terms(long reservedGpuMilli, OptionalLong weightMilli, boolean named) {
        return terms(reservedGpuMilli, weightMilli, named, List.of(), false);
    }

    private static QuotaNode.Terms terms(
            long reservedGpuMilli,
            OptionalLong weightMilli,
            boolean named,
            List<Quota.Transition> transitions,
            boolean implied) {
        return new QuotaNode.Terms(
                reservedGpuMilli,
                OptionalLong.empty(),
                weightMilli,
                reservedGpuMilli,
                0,
                true,
                named,
                Long.MAX_VALUE,
                OptionalLong.empty(),
                false,
                transitions,
                implied);
    }

    private void build(SortedMap<QuotaPath, QuotaNode.Terms> all) {
        SortedMap<QuotaPath, QuotaNode> nodes = new TreeMap<>();
        all.forEach((path, terms) -> {
            QuotaNode parent = nearestAbove(path, nodes);
            QuotaNode node = new QuotaNode(this, parent, path, terms);
            parent.addChild(new QuotaNode.Key(path, true), node);
            nodes.put(path, node);
            hasFences |= terms.fence();
            lendsAll &= terms.lendableGpuMilli() == terms.reservedGpuMilli();
        });
        nodes.forEach((path, node) -> leaves.put(path, node.children().isEmpty() ? node : ownLeaf(node)));
        leaves.values().forEach(QuotaNode::updateHeldBack);
        drained = nodes.values().stream()
                .filter(node -> node.drainByMillis().isPresent())
                .sorted(Comparator.comparingInt(
                                (QuotaNode node) -> -node.path().segments().size())
                        .thenComparing(QuotaNode::path))
                .toList();
        setWeights(root);
    }

    private QuotaNode nearestAbove(QuotaPath path, Map<QuotaPath, QuotaNode> nodes) {
        List<QuotaPath> prefixes = path.fromTenant();
        for (int i = prefixes.size() - 2; i >= 0; i--) {
            QuotaNode node = nodes.get(prefixes.get(i));
            if (node != null && node.isNamed()) {
                return node;
            }
        }
        return root;
    }

    private QuotaNode ownLeaf(QuotaNode node) {
        SortedSet<Long> moments = new TreeSet<>();
        node.transitions().forEach(transition -> moments.add(transition.atMillis()));
        node.children().forEach(child -> child.transitions().forEach(transition -> moments.add(transition.atMillis())));
        List<Quota.Transition> transitions = new ArrayList<>();
        for (long moment : moments) {
            transitions.add(new Quota.Transition(moment, leftOver(node, moment), OptionalLong.empty()));
        }
        long own = leftOver(node, Long.MIN_VALUE);
        QuotaNode leaf = new QuotaNode(
                this,
                node,
                node.path(),
                terms(own, OptionalLong.empty(), node.isNamed(), transitions, node.isImplied()));
        node.addChild(new QuotaNode.Key(node.path(), false), leaf);
        return leaf;
    }

    /** The amount that a node reserves at a moment beyond the reserved amounts of the groups under it. */
    private static long leftOver(QuotaNode node, long atMillis) {
        long left = node.reservedAt(atMillis);
        for (QuotaNode child : node.children()) {
            left -= child.reservedAt(atMillis);
        }
        return Math.max(0, left);
    }

    private static void setWeights(QuotaNode parent) {
        boolean anyReserves = false;
        for (QuotaNode child : parent.children()) {
            // A node's own leaf does not count as a sibling that reserves: it has only what the groups leave.
            anyReserves |= child.reservedGpuMilli() > 0 && !child.path().equals(parent.path());
        }
        for (QuotaNode child : parent.children()) {
            child.setWeightMilli(child.statedWeightMilli().orElse(anyReserves ? child.reservedGpuMilli() : 1000));
            setWeights(child);
        }
    }

    public Scope scope() {
        return scope;
    }

    /**
     * Sets for each node whether another tree also binds the work that counts there.
     *
     * @param stated the paths with a quota of their own in the other tree; the paths below and above them are bound,
     * too
     */
    public void markBoundByOtherTree(Collection<QuotaPath> stated) {
        SortedSet<QuotaPath> concerned = new TreeSet<>();
        stated.forEach(path -> concerned.addAll(path.fromTenant()));
        SortedSet<QuotaPath> own = new TreeSet<>(stated);
        setBesideAnother(
                root,
                node -> concerned.contains(node.path())
                        || node.path().fromTenant().stream().anyMatch(own::contains));
    }

    private static void setBesideAnother(QuotaNode node, Predicate<QuotaNode> concerned) {
        for (QuotaNode child : node.children()) {
            child.setBesideAnother(concerned.test(child));
            setBesideAnother(child, concerned);
        }
    }

    /** Whether use in the given pool counts in this tree. */
    public boolean counts(PoolId pool) {
        return scope.equals(Scope.ALL_POOLS) || scope.equals(Scope.of(pool));
    }

    public QuotaNode root() {
        return root;
    }

    /** Whether the tree has no quotas. */
    public boolean isOpen() {
        return open;
    }

    /** Whether the tree was built with the given path. */
    public boolean knows(QuotaPath path) {
        return leaves.containsKey(path);
    }

    /** The leaf at which work of a path counts; the tree must know the path. */
    public QuotaNode leaf(QuotaPath path) {
        QuotaNode leaf = leaves.get(path);
        if (leaf == null) {
            throw new IllegalArgumentException("the quota tree has no leaf for path " + path);
        }
        return leaf;
    }

    void forEachLeaf(BiConsumer<QuotaPath, QuotaNode> action) {
        leaves.forEach(action);
    }

    /** Adds up the past use of the leaves. From then on, past use counts in the division. */
    void sumUpPast() {
        sumUpPast(root);
        pastCounts = true;
    }

    /** Whether past use counts in the division. */
    boolean pastCounts() {
        return pastCounts;
    }

    private static long sumUpPast(QuotaNode node) {
        long sum = node.children().isEmpty() ? node.pastGpuMicro() : 0;
        for (QuotaNode child : node.children()) {
            sum += sumUpPast(child);
        }
        node.setPastGpuMicro(sum);
        return sum;
    }

    /** The nodes with a drain-by date, groups before their ancestors. */
    public List<QuotaNode> drained() {
        return drained;
    }

    /** Whether every node of the tree lends all that it reserves. */
    public boolean lendsAll() {
        return lendsAll;
    }

    /** Whether any node of the tree is fenced. */
    public boolean hasFences() {
        return hasFences;
    }

    /**
     * The greatest amount that the root may hold in a view. Work that leaves a lost node is held beside the capacity
     * only until it has left.
     */
    public long capacityGpuMilli(UsageView view) {
        return capacityGpuMilli[view.ordinal()];
    }

    /** The greatest amount that the root may hold in some view. */
    long maxCapacityGpuMilli() {
        return Math.max(capacityGpuMilli(UsageView.CURRENT), capacityGpuMilli(UsageView.PROJECTED));
    }

    /** Sets the capacity at the beginning of a plan. Returns whether it differs from that of the plan before. */
    public boolean setCapacityGpuMilli(UsageView view, long gpuMilli) {
        boolean changed = plannedCapacityGpuMilli[view.ordinal()] != gpuMilli;
        plannedCapacityGpuMilli[view.ordinal()] = gpuMilli;
        capacityGpuMilli[view.ordinal()] = gpuMilli;
        return changed;
    }

    /** Changes the capacity within a plan, because work that is held beside it leaves or arrives. */
    public void changeCapacityGpuMilli(UsageView view, long gpuMilli) {
        capacityGpuMilli[view.ordinal()] += gpuMilli;
    }

    /** The time of the plan. */
    long nowMillis() {
        return nowMillis;
    }

    public void setNowMillis(long millis) {
        nowMillis = millis;
    }

    /**
     * Fixes the demand and the fair share of every node for the coming plan. Nothing changes below a node if its own
     * share is unchanged and neither use nor waiting work below it has changed.
     *
     * @param fairCapacityGpuMilli the capacity that is up, to be divided
     * @param moved receives every node whose fair share changes
     */
    public void divide(long fairCapacityGpuMilli, Consumer<QuotaNode> moved) {
        setDemand(root);
        boolean rootMoved = root.fairGpuMilli() != fairCapacityGpuMilli;
        root.setFairGpuMilli(fairCapacityGpuMilli);
        if (rootMoved || root.isStale() || pastCounts) {
            divideBelow(root, pastCounts ? Math.max(1, fairCapacityGpuMilli * 1000) : 0, moved);
        }
    }

    private static long setDemand(QuotaNode node) {
        if (!node.isStale()) {
            return node.demandGpuMilli();
        }
        long demand = 0;
        if (node.children().isEmpty()) {
            demand = node.used().projected() + node.waitingGpuMilli();
        }
        for (QuotaNode child : node.children()) {
            demand += setDemand(child);
        }
        long uncapped = demand;
        if (!node.isRoot()) {
            demand = Math.min(demand, node.ceilingGpuMilli());
            demand = node.overQuota() ? demand : Math.min(demand, node.reservedGpuMilli());
        }
        node.setDemand(uncapped, demand);
        return demand;
    }

    /** @param pastOverGpuMicro the amount that past use is divided by; 0 = past use does not count */
    private static void divideBelow(QuotaNode parent, long pastOverGpuMicro, Consumer<QuotaNode> moved) {
        parent.setStale(false);
        List<QuotaNode> children = parent.children();
        if (children.isEmpty()) {
            return;
        }
        long[] before = new long[children.size()];
        for (int i = 0; i < before.length; i++) {
            before[i] = children.get(i).fairGpuMilli();
        }
        FairShare.divide(parent.fairGpuMilli(), children, pastOverGpuMicro);
        for (int i = 0; i < before.length; i++) {
            QuotaNode child = children.get(i);
            boolean childMoved = child.fairGpuMilli() != before[i];
            if (childMoved) {
                moved.accept(child);
            }
            if (childMoved || child.isStale() || pastOverGpuMicro > 0) {
                divideBelow(child, pastOverGpuMicro, moved);
            }
        }
    }
}
