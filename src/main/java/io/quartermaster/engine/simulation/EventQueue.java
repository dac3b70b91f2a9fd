package io.quartermaster.engine.simulation;

import io.quartermaster.engine.model.WorkloadId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** Queue of due times, with at most one per workload. */
final class EventQueue {
    private final Map<WorkloadId, Long> times = new HashMap<>();
    private final SortedMap<Long, SortedSet<WorkloadId>> inOrder = new TreeMap<>();

    void put(WorkloadId id, long atMillis) {
        remove(id);
        times.put(id, atMillis);
        inOrder.computeIfAbsent(atMillis, at -> new TreeSet<>()).add(id);
    }

    void remove(WorkloadId id) {
        Long at = times.remove(id);
        SortedSet<WorkloadId> then = at == null ? null : inOrder.get(at);
        if (then != null) {
            then.remove(id);
            if (then.isEmpty()) {
                inOrder.remove(at);
            }
        }
    }

    /** The workloads that are due, in the order of their ids. */
    List<WorkloadId> due(long nowMillis) {
        SortedSet<WorkloadId> due = new TreeSet<>();
        inOrder.headMap(nowMillis + 1).values().forEach(due::addAll);
        return new ArrayList<>(due);
    }

    /** The first due time after this moment. */
    OptionalLong next(long nowMillis) {
        SortedMap<Long, SortedSet<WorkloadId>> later = inOrder.tailMap(nowMillis + 1);
        return later.isEmpty() ? OptionalLong.empty() : OptionalLong.of(later.firstKey());
    }
}
