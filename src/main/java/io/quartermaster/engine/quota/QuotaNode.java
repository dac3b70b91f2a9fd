package io.quartermaster.engine.quota;

import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A node of a quota tree with the use that counts against it. The root represents the pool itself: it reserves nothing,
 * and its limit is the capacity.
 */
public final class QuotaNode {
    private final QuotaTree tree;
    private final @Nullable QuotaNode parent;
    private final QuotaPath path;
    private final Terms terms;
    private final long ceilingGpuMilli;
    private final SortedMap<Key, QuotaNode> byKey = new TreeMap<>();
    private final List<QuotaNode> belowRoot;
    private final boolean stated;
    private boolean besideAnother;
    private List<QuotaNode> children = List.of();
    private final DualAmount used = new DualAmount();
    private final DualAmount nonPreemptible = new DualAmount();
    private long weightMilli;
    private long demandGpuMilli;
    private long uncappedDemandGpuMilli;
    private long fairGpuMilli;
    private long pastGpuMicro;
    private long waitingGpuMilli;
    private boolean stale = true;
    private long heldBackGpuMilli;
    private long heldBackBelow;
    private long greatestRequestGpuMilli;
    private boolean crossedBoundsAbove;

    /**
     * The terms that the quota grants, with the defaults filled in.
     *
     * @param named whether a quota names this exact path; nothing may start under a path that no quota names
     */
    record Terms(
            long reservedGpuMilli,
            OptionalLong limitGpuMilli,
            OptionalLong weightMilli,
            long lendableGpuMilli,
            int rank,
            boolean overQuota,
            boolean named,
            long sequence,
            OptionalLong drainByMillis,
            boolean fence,
            List<Quota.Transition> transitions,
            boolean implied) {}

    /** The key of a child. A node's own work is a child beside the groups under the node, and sorts first. */
    record Key(QuotaPath path, boolean group) implements Comparable<Key> {
        @Override
        public int compareTo(Key other) {
            int byPath = path.compareTo(other.path);
            return byPath != 0 ? byPath : Boolean.compare(group, other.group);
        }
    }

    QuotaNode(QuotaTree tree, @Nullable QuotaNode parent, QuotaPath path, Terms terms) {
        this.tree = tree;
        this.parent = parent;
        this.path = path;
        this.terms = terms;
        this.ceilingGpuMilli = terms.limitGpuMilli().orElse(Long.MAX_VALUE);
        List<QuotaNode> upward = new ArrayList<>(4);
        for (QuotaNode node = this; node.parent != null; node = node.parent) {
            upward.add(node);
        }
        this.belowRoot = List.copyOf(upward);
        this.stated = belowRoot.stream().anyMatch(node -> !node.terms.implied());
    }

    void addChild(Key key, QuotaNode child) {
        byKey.put(key, child);
        children = List.copyOf(byKey.values());
    }

    /** Adds an amount here and at every node above; a negative amount is subtracted. */
    public void add(UsageView view, long gpuMilli, boolean preemptible) {
        crossedBoundsAbove |= !preemptible;
        for (QuotaNode node = this; node != null; node = node.parent) {
            if (node.parent == null) {
                node.crossedBoundsAbove |= node.canExceed(tree.capacityGpuMilli(view), node.used.at(view), gpuMilli);
            } else if (node != this) {
                long used = node.used.at(view);
                crossedBoundsAbove |= node.canExceed(node.terms.reservedGpuMilli(), used, gpuMilli)
                        || node.canExceed(node.ceilingGpuMilli, used, gpuMilli);
            }
            node.used.add(view, gpuMilli);
            node.stale |= view == UsageView.PROJECTED;
            if (!preemptible) {
                node.nonPreemptible.add(view, gpuMilli);
            }
        }
        if (view == UsageView.PROJECTED && !tree.lendsAll()) {
            updateHeldBack();
        }
    }

    /**
     * Whether a change of use crosses a bound for some request: the bound may prevent the request after the change and
     * did not before, or the other way round.
     */
    private boolean canExceed(long boundGpuMilli, long usedGpuMilli, long moreGpuMilli) {
        long least = Math.min(usedGpuMilli, usedGpuMilli + moreGpuMilli);
        long most = Math.max(usedGpuMilli, usedGpuMilli + moreGpuMilli) + greatestRequestGpuMilli;
        return least <= boundGpuMilli && boundGpuMilli < most;
    }

    /** Records a request of the given amount here and at every node above. */
    void recordRequest(long gpuMilli) {
        for (QuotaNode node = this; node != null; node = node.parent) {
            node.greatestRequestGpuMilli = Math.max(node.greatestRequestGpuMilli, gpuMilli);
        }
    }

    /**
     * For a leaf: whether a change of its use has crossed a bound of the nodes above, without the root, since the last
     * call. For the root: whether a change of use anywhere has crossed the capacity. In both cases, the requests of
     * other paths may have a different answer.
     */
    public boolean takeCrossedBoundsAbove() {
        boolean passed = crossedBoundsAbove;
        crossedBoundsAbove = false;
        return passed;
    }

    /** Recomputes the amount that must stay idle here and above. */
    void updateHeldBack() {
        for (QuotaNode node = this; node != null; node = node.parent) {
            long own = node.terms.reservedGpuMilli() - node.terms.lendableGpuMilli() - node.used.projected();
            long held = Math.max(node.heldBackBelow, own);
            if (node.parent != null) {
                node.parent.heldBackBelow += held - node.heldBackGpuMilli;
            }
            node.heldBackGpuMilli = held;
        }
    }

    /** Adds to the waiting amount of a leaf; a negative amount is subtracted. */
    public void addWaiting(long gpuMilli) {
        waitingGpuMilli += gpuMilli;
        for (QuotaNode node = this; node != null && gpuMilli != 0; node = node.parent) {
            node.stale = true;
        }
    }

    long waitingGpuMilli() {
        return waitingGpuMilli;
    }

    /** Whether the use or the waiting amount below this node has changed since the last division. */
    boolean isStale() {
        return stale;
    }

    void setStale(boolean changed) {
        stale = changed;
    }

    public QuotaTree tree() {
        return tree;
    }

    public @Nullable QuotaNode parent() {
        return parent;
    }

    public boolean isRoot() {
        return parent == null;
    }

    /** The path; meaningless for the root. */
    public QuotaPath path() {
        return path;
    }

    /** In the order of their paths; a node's own work comes first. */
    public List<QuotaNode> children() {
        return children;
    }

    public DualAmount used() {
        return used;
    }

    public DualAmount nonPreemptible() {
        return nonPreemptible;
    }

    public long reservedGpuMilli() {
        return terms.reservedGpuMilli();
    }

    List<Quota.Transition> transitions() {
        return terms.transitions();
    }

    /** The time from which use beyond {@link #keptGpuMilli} is evicted. */
    public OptionalLong drainByMillis() {
        return terms.drainByMillis();
    }

    /**
     * The amount that work may continue to hold after the drain-by date: the limit, or the reserved amount if
     * over-quota is off. The reserved amount is no bound if another tree may find the work within its reservation.
     */
    public long keptGpuMilli() {
        return overQuota() || besideAnother ? ceilingGpuMilli() : Math.min(ceilingGpuMilli(), reservedGpuMilli());
    }

    /** The reserved amount at a moment, by the known transitions. Before the first transition, it is today's amount. */
    long reservedAt(long millis) {
        long reserved = terms.reservedGpuMilli();
        for (Quota.Transition transition : terms.transitions()) {
            reserved = transition.atMillis() <= millis ? transition.reservedGpuMilli() : reserved;
        }
        return reserved;
    }

    /** The greatest reserved amount, now or at a known transition. */
    long maxReservedGpuMilli() {
        long most = terms.reservedGpuMilli();
        for (Quota.Transition transition : terms.transitions()) {
            most = Math.max(most, transition.reservedGpuMilli());
        }
        return most;
    }

    /**
     * The least reserved amount during the given run time from now. If the run time is absent, all known transitions
     * count.
     */
    public long guaranteedGpuMilli(OptionalLong runtimeMillis) {
        long least = terms.reservedGpuMilli();
        for (Quota.Transition transition : terms.transitions()) {
            if (runtimeMillis.isEmpty() || transition.atMillis() - tree.nowMillis() < runtimeMillis.getAsLong()) {
                least = Math.min(least, transition.reservedGpuMilli());
            }
        }
        return least;
    }

    /**
     * The time from which the amount no longer exceeds the limit. It is empty if the amount does not exceed the limit
     * now, or if no such time is known.
     */
    public OptionalLong fitsFromMillis(long gpuMilli) {
        if (ceilingGpuMilli() < gpuMilli) {
            for (Quota.Transition transition : terms.transitions()) {
                if (transition.limitGpuMilli().orElse(Long.MAX_VALUE) >= gpuMilli) {
                    return OptionalLong.of(transition.atMillis());
                }
            }
        }
        return OptionalLong.empty();
    }

    public OptionalLong limitGpuMilli() {
        return isRoot() ? OptionalLong.of(tree.maxCapacityGpuMilli()) : terms.limitGpuMilli();
    }

    /** The limit, or {@code Long.MAX_VALUE} if there is none; for the root, the capacity. */
    long ceilingGpuMilli() {
        return parent == null ? tree.maxCapacityGpuMilli() : ceilingGpuMilli;
    }

    /** The limit in a view, which differs only for the root. */
    long ceilingGpuMilli(UsageView view) {
        return parent == null ? tree.capacityGpuMilli(view) : ceilingGpuMilli;
    }

    /** Whether no admin stated the quota. An implied quota sets no bound, grants no right and protects no work. */
    public boolean isImplied() {
        return terms.implied();
    }

    /** Whether this quota or one above it was stated. Otherwise the tree sets no rule for work that counts here. */
    public boolean isStated() {
        return stated;
    }

    /** Sets whether another tree, too, may find work that counts here within its reservation. */
    void setBesideAnother(boolean beside) {
        besideAnother = beside;
    }

    public int rank() {
        return terms.rank();
    }

    public boolean overQuota() {
        return terms.overQuota();
    }

    /** The order of creation; a lower number is older. */
    long sequence() {
        return terms.sequence();
    }

    public boolean isNamed() {
        return terms.named();
    }

    OptionalLong statedWeightMilli() {
        return terms.weightMilli();
    }

    long weightMilli() {
        return weightMilli;
    }

    void setWeightMilli(long milli) {
        weightMilli = milli;
    }

    /** The average past use, in millionths of a GPU; 0 where past use does not count. */
    long pastGpuMicro() {
        return pastGpuMicro;
    }

    /** Compares by past use over weight; equal where past use does not count. */
    public static int comparePast(QuotaNode a, QuotaNode b) {
        return a.pastGpuMicro == b.pastGpuMicro
                ? 0
                : Ratio.compare(a.pastGpuMicro, a.weightMilli, b.pastGpuMicro, b.weightMilli);
    }

    void setPastGpuMicro(long gpuMicro) {
        pastGpuMicro = gpuMicro;
    }

    /** Adds to the past use here and at every node above. */
    void addPast(long gpuMicro) {
        for (QuotaNode node = this; node != null; node = node.parent) {
            node.pastGpuMicro += gpuMicro;
        }
    }

    /**
     * Used plus waiting GPUs, capped by the limit, and by the reserved amount if over-quota is off; as of the last
     * division.
     */
    public long demandGpuMilli() {
        return demandGpuMilli;
    }

    /** Used plus waiting GPUs, capped only by what the children may demand; as of the last division. */
    long uncappedDemandGpuMilli() {
        return uncappedDemandGpuMilli;
    }

    void setDemand(long uncappedGpuMilli, long gpuMilli) {
        uncappedDemandGpuMilli = uncappedGpuMilli;
        demandGpuMilli = gpuMilli;
    }

    /** The fair share as of the last division. */
    public long fairGpuMilli() {
        return fairGpuMilli;
    }

    void setFairGpuMilli(long gpuMilli) {
        fairGpuMilli = gpuMilli;
    }

    /** The use that the node may reach without exceeding its share: the greater of reserved amount and fair share. */
    public long entitledGpuMilli() {
        return Math.max(terms.reservedGpuMilli(), fairGpuMilli);
    }

    /** The amount that other nodes cannot use: the use of this node, and the idle amount that it does not lend. */
    public long occupiedGpuMilli() {
        return used.projected() + (tree.lendsAll() ? 0 : heldBackGpuMilli());
    }

    /** The amount that must stay idle because its owner does not lend it. */
    long heldBackGpuMilli() {
        return heldBackGpuMilli;
    }

    /** The amount that must stay idle for the children other than the given one. */
    long heldBackBeside(QuotaNode child) {
        return heldBackBelow - child.heldBackGpuMilli;
    }

    /**
     * The amount that other nodes can never use, whether it is idle or not: reserved and not lendable, now and at all
     * known transitions.
     */
    private long dedicatedGpuMilli() {
        long below = 0;
        for (QuotaNode child : children) {
            below += child.dedicatedGpuMilli();
        }
        long least = terms.reservedGpuMilli();
        for (Quota.Transition transition : terms.transitions()) {
            least = Math.min(least, transition.reservedGpuMilli());
        }
        return Math.max(below, least - terms.lendableGpuMilli());
    }

    /** The amount that only the children other than the given one can ever use. */
    long dedicatedBeside(QuotaNode child) {
        long beside = 0;
        for (QuotaNode other : children) {
            beside += other == child ? 0 : other.dedicatedGpuMilli();
        }
        return beside;
    }

    /** The highest limit, now or at a known transition. */
    long maxCeilingGpuMilli() {
        long ever = ceilingGpuMilli();
        for (Quota.Transition transition : terms.transitions()) {
            ever = Math.max(ever, transition.limitGpuMilli().orElse(Long.MAX_VALUE));
        }
        return ever;
    }

    /** This node and the nodes above it, without the root. */
    public List<QuotaNode> belowRoot() {
        return belowRoot;
    }

    /** Whether the given node is this node or lies under it. */
    public boolean covers(QuotaNode node) {
        for (QuotaNode above = node; above != null; above = above.parent) {
            if (above == this) {
                return true;
            }
        }
        return false;
    }

    /** The innermost fenced node, from this one upward, that does not cover the other node. */
    public Optional<QuotaNode> fenceAgainst(QuotaNode other) {
        for (QuotaNode node = tree.hasFences() ? this : null; node != null && !node.covers(other); node = node.parent) {
            if (node.terms.fence()) {
                return Optional.of(node);
            }
        }
        return Optional.empty();
    }

    /** The ancestor, or this node, directly below the given node. The given node must be an ancestor of this one. */
    public QuotaNode branchBelow(QuotaNode above) {
        QuotaNode node = this;
        while (node.parent != above) {
            if (node.parent == null) {
                throw new IllegalArgumentException(above.path + " is not an ancestor of " + path);
            }
            node = node.parent;
        }
        return node;
    }

    /** The lowest node that covers both nodes, which must belong to one tree. */
    public QuotaNode commonWith(QuotaNode other) {
        for (QuotaNode node = other; node != null; node = node.parent) {
            if (node.covers(this)) {
                return node;
            }
        }
        throw new IllegalArgumentException("the nodes belong to different quota trees");
    }

    /** The numbers of this node as of now, for receipts. Evicted work does not count; nominated work does. */
    public EvictionReceipt.Share share() {
        return new EvictionReceipt.Share(tree.scope(), path, used().projected(), reservedGpuMilli(), fairGpuMilli());
    }
}
