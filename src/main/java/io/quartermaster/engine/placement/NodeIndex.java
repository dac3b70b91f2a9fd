package io.quartermaster.engine.placement;

import java.util.Collection;
import java.util.Comparator;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The nodes of a pool that take work, by how many untouched GPUs they have at one horizon, with what they have free in
 * all. A search for whole GPUs looks at fitting nodes only, and at the best first.
 */
final class NodeIndex {
    private final Horizon horizon;
    private final boolean pack;
    private final Comparator<NodeSpace> bestFirst;
    private final NavigableMap<Integer, NavigableSet<NodeSpace>> byUntouched = new TreeMap<>();
    private final NavigableSet<NodeSpace> withGpusInParts =
            new TreeSet<>(Comparator.comparing((NodeSpace node) -> node.node().id()));
    private long freeGpuMilli;

    /** @param pack whether the fullest fitting node is the best; else the emptiest */
    NodeIndex(Horizon horizon, boolean pack) {
        this.horizon = horizon;
        this.pack = pack;
        this.bestFirst = (a, b) -> {
            int byFree = Long.compare(a.freeGpuMilli(horizon), b.freeGpuMilli(horizon));
            if (byFree != 0) {
                return pack ? byFree : -byFree;
            }
            return a == b ? 0 : a.node().id().compareTo(b.node().id());
        };
    }

    void add(NodeSpace node) {
        byUntouched
                .computeIfAbsent(node.untouched(horizon), count -> new TreeSet<>(bestFirst))
                .add(node);
        if (node.hasGpuInParts(horizon)) {
            withGpusInParts.add(node);
        }
        freeGpuMilli += node.freeGpuMilli(horizon);
    }

    /** Undoes {@link #add}; to be called before the node changes. */
    void remove(NodeSpace node) {
        int count = node.untouched(horizon);
        NavigableSet<NodeSpace> alike = byUntouched.get(count);
        if (alike != null && alike.remove(node) && alike.isEmpty()) {
            byUntouched.remove(count);
        }
        withGpusInParts.remove(node);
        freeGpuMilli -= node.freeGpuMilli(horizon);
    }

    long freeGpuMilli() {
        return freeGpuMilli;
    }

    /** The nodes on which a part of a shared GPU is free, in order of their ids. */
    Collection<NodeSpace> withGpusInParts() {
        return withGpusInParts;
    }

    /** The nodes with at least so many untouched GPUs, group by group, the best first. */
    Collection<NavigableSet<NodeSpace>> withUntouched(int count) {
        NavigableMap<Integer, NavigableSet<NodeSpace>> enough = byUntouched.tailMap(count, true);
        return (pack ? enough : enough.descendingMap()).values();
    }
}
