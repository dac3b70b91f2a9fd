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
 * One node of a quota tree with what counts against it. The root stands for the pool itself: it reserves nothing and
 * its limit is the capacity.
 */
public final class QuotaNode {
    private final QuotaTree tree;
    private final @Nullable QuotaNode parent;
    private final QuotaPath path;
    private final Terms terms;
    private final long most;
    private final SortedMap<Key, QuotaNode> byKey = new TreeMap<>();
    private final List<QuotaNode> belowRoot;
    private final boolean stated;
    private boolean besideAnother;
    private List<QuotaNode> children = List.of();
    private final DualAmount used = new DualAmount();
    private final DualAmount nonPreemptible = new DualAmount();
    private long weightMilli;
    private long demandGpuMilli;
    private long fairGpuMilli;
    private long pastGpuMicro;
    private long waitingGpuMilli;
    private boolean stale = true;
    private long heldBackGpuMilli;
    private long heldBackBelow;
    private long greatestAsk;
    private boolean crossedBoundsAbove;

    /**
     * What the quota grants, with the defaults filled in.
     *
     * @param named whether a quota names this very path; nothing may start under a path that none names
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
            List<Quota.Turn> turns,
            boolean implied) {}

    /** A node's own work is a child beside the groups under it, and comes first. */
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
        this.most = terms.limitGpuMilli().orElse(Long.MAX_VALUE);
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

    /** Adds an amount here and at every node above; a negative one takes it away. */
    public void add(View view, long gpuMilli, boolean preemptible) {
        crossedBoundsAbove |= !preemptible;
        for (QuotaNode node = this; node != null; node = node.parent) {
            if (node.parent == null) {
                node.crossedBoundsAbove |= node.canExceed(tree.capacityGpuMilli(), node.used.at(view), gpuMilli);
            } else if (node != this) {
                long used = node.used.at(view);
                crossedBoundsAbove |= node.canExceed(node.terms.reservedGpuMilli(), used, gpuMilli)
                        || node.canExceed(node.most, used, gpuMilli);
            }
            node.used.add(view, gpuMilli);
            node.stale |= view == View.PROJECTED;
            if (!preemptible) {
                node.nonPreemptible.add(view, gpuMilli);
            }
        }
        if (view == View.PROJECTED && !tree.lendsAll()) {
            holdBack();
        }
    }

    /** Whether a bound may be in the way of somebody's ask after a change and was not before, or the other way round. */
    private boolean canExceed(long boundGpuMilli, long usedGpuMilli, long moreGpuMilli) {
        long least = Math.min(usedGpuMilli, usedGpuMilli + moreGpuMilli);
        long most = Math.max(usedGpuMilli, usedGpuMilli + moreGpuMilli) + greatestAsk;
        return least <= boundGpuMilli && boundGpuMilli < most;
    }

    /** Something asks for so much here and above. */
    void asked(long gpuMilli) {
        for (QuotaNode node = this; node != null; node = node.parent) {
            node.greatestAsk = Math.max(node.greatestAsk, gpuMilli);
        }
    }

    /**
     * Of a leaf: whether, since it was asked last, what counts there has changed what the nodes above, without the root, have left for the asks of
     * others. Of the root: whether what anybody holds has changed what there is for asks at all.
     */
    public boolean takeCrossedBoundsAbove() {
        boolean passed = crossedBoundsAbove;
        crossedBoundsAbove = false;
        return passed;
    }

    /** Works out anew what must stay idle here and above. */
    void holdBack() {
        for (QuotaNode node = this; node != null; node = node.parent) {
            long own = node.terms.reservedGpuMilli() - node.terms.lendableGpuMilli() - node.used.projected();
            long held = Math.max(node.heldBackBelow, own);
            if (node.parent != null) {
                node.parent.heldBackBelow += held - node.heldBackGpuMilli;
            }
            node.heldBackGpuMilli = held;
        }
    }

    /** Adds to what waits at a leaf; a negative amount takes it away. */
    public void addWaiting(long gpuMilli) {
        waitingGpuMilli += gpuMilli;
        for (QuotaNode node = this; node != null && gpuMilli != 0; node = node.parent) {
            node.stale = true;
        }
    }

    long waitingGpuMilli() {
        return waitingGpuMilli;
    }

    /** Whether what is used or waited for below changed since the last division. */
    boolean stale() {
        return stale;
    }

    void stale(boolean changed) {
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

    /** Of the root: meaningless. */
    public QuotaPath path() {
        return path;
    }

    /** In order of their paths; a node's own work comes first. */
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

    List<Quota.Turn> turns() {
        return terms.turns();
    }

    /** From when on what is held beyond {@link #keptGpuMilli} is stopped. */
    public OptionalLong drainByMillis() {
        return terms.drainByMillis();
    }

    /**
     * What it may go on holding once what is beyond has to go: the limit, or what is reserved where nothing may run beyond that. Where
     * another tree may say that work is within its reservation, that is no bound.
     */
    public long keptGpuMilli() {
        return overQuota() || besideAnother ? mostGpuMilli() : Math.min(mostGpuMilli(), reservedGpuMilli());
    }

    /** What is reserved at a moment, as far as it is known; before the first turn, what is now. */
    long reservedAt(long millis) {
        long reserved = terms.reservedGpuMilli();
        for (Quota.Turn turn : terms.turns()) {
            reserved = turn.atMillis() <= millis ? turn.reservedGpuMilli() : reserved;
        }
        return reserved;
    }

    /** The most that is reserved now or at a turn to come, as far as it is known. */
    long mostReservedGpuMilli() {
        long most = terms.reservedGpuMilli();
        for (Quota.Turn turn : terms.turns()) {
            most = Math.max(most, turn.reservedGpuMilli());
        }
        return most;
    }

    /** The least that is reserved from now on for so long; for as long as it is known, where it is not said how long. */
    public long guaranteedGpuMilli(OptionalLong runtimeMillis) {
        long least = terms.reservedGpuMilli();
        for (Quota.Turn turn : terms.turns()) {
            if (runtimeMillis.isEmpty() || turn.atMillis() - tree.nowMillis() < runtimeMillis.getAsLong()) {
                least = Math.min(least, turn.reservedGpuMilli());
            }
        }
        return least;
    }

    /** From when on so much is not beyond the limit, where it is in any case now; empty where it is not, or no such time is known. */
    public OptionalLong fitsFromMillis(long gpuMilli) {
        if (mostGpuMilli() < gpuMilli) {
            for (Quota.Turn turn : terms.turns()) {
                if (turn.limitGpuMilli().orElse(Long.MAX_VALUE) >= gpuMilli) {
                    return OptionalLong.of(turn.atMillis());
                }
            }
        }
        return OptionalLong.empty();
    }

    public OptionalLong limitGpuMilli() {
        return isRoot() ? OptionalLong.of(tree.capacityGpuMilli()) : terms.limitGpuMilli();
    }

    /** The limit, or more than anybody could use. */
    long mostGpuMilli() {
        return parent == null ? tree.capacityGpuMilli() : most;
    }

    /** Whether nobody stated its quota, so that it binds nobody, gives nobody a right and protects nobody. */
    public boolean isImplied() {
        return terms.implied();
    }

    /** Whether this quota or one above it was stated. Where none was, the tree says nothing of work that counts here. */
    public boolean isStated() {
        return stated;
    }

    /** Whether another tree may say, too, that work which counts here is within its reservation. */
    void besideAnother(boolean beside) {
        besideAnother = beside;
    }

    public int rank() {
        return terms.rank();
    }

    public boolean overQuota() {
        return terms.overQuota();
    }

    /** Lower existed first. */
    long sequence() {
        return terms.sequence();
    }

    public boolean named() {
        return terms.named();
    }

    OptionalLong statedWeightMilli() {
        return terms.weightMilli();
    }

    long weightMilli() {
        return weightMilli;
    }

    void weightMilli(long milli) {
        weightMilli = milli;
    }

    /** What it held before, on average, in millionths of a GPU; 0 where the past does not count. */
    long pastGpuMicro() {
        return pastGpuMicro;
    }

    /** Compares by what was held before for the weight there is; equal where the past does not count. */
    public static int comparePast(QuotaNode a, QuotaNode b) {
        return a.pastGpuMicro == b.pastGpuMicro
                ? 0
                : Ratio.compare(a.pastGpuMicro, a.weightMilli, b.pastGpuMicro, b.weightMilli);
    }

    void past(long gpuMicro) {
        pastGpuMicro = gpuMicro;
    }

    /** More counts as held before, here and at every node above. */
    void addPast(long gpuMicro) {
        for (QuotaNode node = this; node != null; node = node.parent) {
            node.pastGpuMicro += gpuMicro;
        }
    }

    /** What is used and waited for, as far as it may ever be had; as of the last division. */
    public long demandGpuMilli() {
        return demandGpuMilli;
    }

    void demandGpuMilli(long gpuMilli) {
        demandGpuMilli = gpuMilli;
    }

    /** The fair share; as of the last division. */
    public long fairGpuMilli() {
        return fairGpuMilli;
    }

    void fairGpuMilli(long gpuMilli) {
        fairGpuMilli = gpuMilli;
    }

    /** What it may reach without being over its share: what is reserved or the fair share, if that is more. */
    public long entitledGpuMilli() {
        return Math.max(terms.reservedGpuMilli(), fairGpuMilli);
    }

    /** What is taken from others: what is used, and what must stay idle because it is not lent. */
    public long occupiedGpuMilli() {
        return used.projected() + (tree.lendsAll() ? 0 : heldBackGpuMilli());
    }

    /** What must stay idle because its owner does not lend it. */
    long heldBackGpuMilli() {
        return heldBackGpuMilli;
    }

    /** What must stay idle for the children other than the one given. */
    long heldBackBeside(QuotaNode child) {
        return heldBackBelow - child.heldBackGpuMilli;
    }

    /** What nobody else ever gets, used or not: what is not lent, as far as it stays reserved at all turns that are known. */
    private long dedicatedGpuMilli() {
        long below = 0;
        for (QuotaNode child : children) {
            below += child.dedicatedGpuMilli();
        }
        long least = terms.reservedGpuMilli();
        for (Quota.Turn turn : terms.turns()) {
            least = Math.min(least, turn.reservedGpuMilli());
        }
        return Math.max(below, least - terms.lendableGpuMilli());
    }

    /** What nobody but the children other than the one given ever gets. */
    long dedicatedBeside(QuotaNode child) {
        long beside = 0;
        for (QuotaNode other : children) {
            beside += other == child ? 0 : other.dedicatedGpuMilli();
        }
        return beside;
    }

    /** The highest limit, now or at a turn that is known. */
    long maxEverGpuMilli() {
        long ever = mostGpuMilli();
        for (Quota.Turn turn : terms.turns()) {
            ever = Math.max(ever, turn.limitGpuMilli().orElse(Long.MAX_VALUE));
        }
        return ever;
    }

    /** This node and those above it, without the root. */
    public List<QuotaNode> belowRoot() {
        return belowRoot;
    }

    /** Whether the node is this one or lies under it. */
    public boolean covers(QuotaNode node) {
        for (QuotaNode above = node; above != null; above = above.parent) {
            if (above == this) {
                return true;
            }
        }
        return false;
    }

    /** The innermost fence around this node that the other lies outside of. */
    public Optional<QuotaNode> fenceAgainst(QuotaNode other) {
        for (QuotaNode node = tree.hasFences() ? this : null; node != null && !node.covers(other); node = node.parent) {
            if (node.terms.fence()) {
                return Optional.of(node);
            }
        }
        return Optional.empty();
    }

    /** The ancestor (or this node) just below the given one; the given one must lie above. */
    public QuotaNode branchBelow(QuotaNode above) {
        QuotaNode node = this;
        while (node.parent != above) {
            if (node.parent == null) {
                throw new IllegalArgumentException(above.path + " is not above " + path);
            }
            node = node.parent;
        }
        return node;
    }

    /** The lowest node that is above both or one of them; both must be of one tree. */
    public QuotaNode commonWith(QuotaNode other) {
        for (QuotaNode node = other; node != null; node = node.parent) {
            if (node.covers(this)) {
                return node;
            }
        }
        throw new IllegalArgumentException("nodes of different trees");
    }

    /** The numbers of this node as of now, for receipts. Work that was told to leave is not counted, nominated work is. */
    public EvictionReceipt.Share share() {
        return new EvictionReceipt.Share(tree.scope(), path, used().projected(), reservedGpuMilli(), fairGpuMilli());
    }
}
