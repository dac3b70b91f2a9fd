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

/** Who of a pool may be moved, each as a whole, by group and by node; those first who go first. */
public final class Movables {
    private final SortedMap<QuotaPath, SortedSet<Unit>> byGroup = new TreeMap<>();
    private final Map<NodeId, SortedMap<QuotaPath, SortedSet<Unit>>> byNode = new HashMap<>();

    /** Those of a group; none where it has none. */
    public @Nullable SortedSet<Unit> ofGroup(QuotaPath path) {
        return byGroup.get(path);
    }

    /** Those who are on a node, by group, with all that they hold elsewhere. */
    public SortedMap<QuotaPath, SortedSet<Unit>> on(NodeId node) {
        return byNode.getOrDefault(node, Collections.emptySortedMap());
    }

    /** Those who are on any of some nodes, likewise. */
    public SortedMap<QuotaPath, SortedSet<Unit>> on(Set<NodeId> nodes) {
        if (nodes.size() == 1) {
            return on(nodes.iterator().next());
        }
        SortedMap<QuotaPath, SortedSet<Unit>> together = new TreeMap<>();
        for (NodeId node : nodes) {
            on(node).forEach((path, units) -> together.computeIfAbsent(path, group -> new TreeSet<>(Unit.FIRST_TO_GO))
                    .addAll(units));
        }
        return together;
    }

    void add(Holder holder) {
        Unit whole = Unit.whole(holder);
        SortedSet<NodeId> nodes = holder.isComplete() ? whole.nodes() : Collections.emptySortedSet();
        QuotaPath path = holder.tenure().path();
        if (!nodes.isEmpty()) {
            put(byGroup, path, whole);
        }
        nodes.forEach(node -> put(byNode.computeIfAbsent(node, id -> new TreeMap<>()), path, whole));
    }

    /** Undoes {@link #add}. */
    void remove(Holder holder) {
        Unit whole = Unit.whole(holder);
        QuotaPath path = holder.tenure().path();
        take(byGroup, path, whole);
        whole.nodes().forEach(node -> take(on(node), path, whole));
    }

    private static void put(SortedMap<QuotaPath, SortedSet<Unit>> map, QuotaPath path, Unit unit) {
        map.computeIfAbsent(path, group -> new TreeSet<>(Unit.FIRST_TO_GO)).add(unit);
    }

    private static void take(SortedMap<QuotaPath, SortedSet<Unit>> map, QuotaPath path, Unit unit) {
        SortedSet<Unit> units = map.get(path);
        if (units != null && units.remove(unit) && units.isEmpty()) {
            map.remove(path);
        }
    }
}
