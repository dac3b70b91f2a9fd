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

/** Eviction units by the nodes that their eviction concerns, and there by group, in the order of eviction. */
public final class UnitsByNode {
    private final Map<NodeId, SortedMap<QuotaPath, SortedSet<EvictionUnit>>> byNode = new HashMap<>();

    /** The units that concern a node, by group; each may hold devices on other nodes, too. */
    public SortedMap<QuotaPath, SortedSet<EvictionUnit>> on(NodeId node) {
        return byNode.getOrDefault(node, Collections.emptySortedMap());
    }

    /** The units that concern any of the nodes, by group. */
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

    void add(EvictionUnit evictionUnit, SortedSet<NodeId> nodes) {
        QuotaPath path = evictionUnit.candidate().booking().path();
        for (NodeId node : nodes) {
            byNode.computeIfAbsent(node, id -> new TreeMap<>())
                    .computeIfAbsent(path, group -> new TreeSet<>(EvictionUnit.FIRST_TO_GO))
                    .add(evictionUnit);
        }
    }

    /** Undoes {@link #add}. */
    void remove(EvictionUnit evictionUnit, SortedSet<NodeId> nodes) {
        QuotaPath path = evictionUnit.candidate().booking().path();
        for (NodeId node : nodes) {
            SortedMap<QuotaPath, SortedSet<EvictionUnit>> there = on(node);
            SortedSet<EvictionUnit> ofGroup = there.get(path);
            if (ofGroup != null && ofGroup.remove(evictionUnit) && ofGroup.isEmpty()) {
                there.remove(path);
            }
        }
    }
}
