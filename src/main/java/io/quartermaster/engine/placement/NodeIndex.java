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
    private long freeGpuMilli;

    /** @param pack whether the fullest fitting node is the best; else the emptiest */
    NodeIndex(Horizon horizon, boolean pack) {
        this.horizon = horizon;
        this.pack = pack;
        Comparator<NodeSpace> byFree = Comparator.comparingLong(node -> node.freeGpuMilli(horizon));
        this.bestFirst = (pack ? byFree : byFree.reversed())
                .thenComparing(node -> node.node().id());
    }

    void add(NodeSpace node) {
        byUntouched
                .computeIfAbsent(node.untouched(horizon), count -> new TreeSet<>(bestFirst))
                .add(node);
        freeGpuMilli += node.freeGpuMilli(horizon);
    }

    /** Undoes {@link #add}; to be called before the node changes. */
    void remove(NodeSpace node) {
        int count = node.untouched(horizon);
        NavigableSet<NodeSpace> alike = byUntouched.get(count);
        if (alike != null && alike.remove(node) && alike.isEmpty()) {
            byUntouched.remove(count);
        }
        freeGpuMilli -= node.freeGpuMilli(horizon);
    }

    long freeGpuMilli() {
        return freeGpuMilli;
    }

    /** The nodes with at least so many untouched GPUs, group by group, the best first. */
    Collection<NavigableSet<NodeSpace>> withUntouched(int count) {
        NavigableMap<Integer, NavigableSet<NodeSpace>> enough = byUntouched.tailMap(count, true);
        return (pack ? enough : enough.descendingMap()).values();
    }
}
