package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.QuotaPath;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The workloads of a pool that may be moved, each as a whole, by group and by node, in the order of eviction. */
public final class MovableCandidates {
    private final SortedMap<QuotaPath, SortedSet<EvictionUnit>> byGroup = new TreeMap<>();
    private final Map<NodeId, SortedMap<QuotaPath, SortedSet<EvictionUnit>>> byNode = new HashMap<>();

    /** The movable workloads of a group; null if there are none. */
    public @Nullable SortedSet<EvictionUnit> ofGroup(QuotaPath path) {
        return byGroup.get(path);
    }

    /** The movable workloads on a node, by group, each with all its workers on any node. */
    public SortedMap<QuotaPath, SortedSet<EvictionUnit>> on(NodeId node) {
        return byNode.getOrDefault(node, Collections.emptySortedMap());
    }

    /** The movable workloads on any of the nodes, by group, each with all its workers on any node. */
    public SortedMap<QuotaPath, SortedSet<EvictionUnit>> on(Set<NodeId> nodes) {
        if (nodes.size() == 1) {
            return on(nodes.iterator().next());
        }
        SortedMap<QuotaPath, SortedSet<EvictionUnit>> together = new TreeMap<>();
        for (NodeId node : nodes) {
            on(node).forEach((path, evictionUnits) -> together.computeIfAbsent(
                            path, group -> new TreeSet<>(EvictionUnit.FIRST_TO_GO))
                    .addAll(evictionUnits));
        }
        return together;
    }

    void add(EvictionCandidate evictionCandidate) {
        EvictionUnit whole = EvictionUnit.whole(evictionCandidate);
        SortedSet<NodeId> nodes = evictionCandidate.isComplete() ? whole.nodes() : Collections.emptySortedSet();
        QuotaPath path = evictionCandidate.booking().path();
        if (!nodes.isEmpty()) {
            put(byGroup, path, whole);
        }
        nodes.forEach(node -> put(byNode.computeIfAbsent(node, id -> new TreeMap<>()), path, whole));
    }

    /** Undoes {@link #add}. */
    void remove(EvictionCandidate evictionCandidate) {
        EvictionUnit whole = EvictionUnit.whole(evictionCandidate);
        QuotaPath path = evictionCandidate.booking().path();
        take(byGroup, path, whole);
        whole.nodes().forEach(node -> take(on(node), path, whole));
    }

    private static void put(
            SortedMap<QuotaPath, SortedSet<EvictionUnit>> map, QuotaPath path, EvictionUnit evictionUnit) {
        map.computeIfAbsent(path, group -> new TreeSet<>(EvictionUnit.FIRST_TO_GO))
                .add(evictionUnit);
    }

    private static void take(
            SortedMap<QuotaPath, SortedSet<EvictionUnit>> map, QuotaPath path, EvictionUnit evictionUnit) {
        SortedSet<EvictionUnit> evictionUnits = map.get(path);
        if (evictionUnits != null && evictionUnits.remove(evictionUnit) && evictionUnits.isEmpty()) {
            map.remove(path);
        }
    }
}
