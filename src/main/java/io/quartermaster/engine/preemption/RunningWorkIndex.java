package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Index of the running workloads that an eviction or a move may choose, by pool and group, and by node. */
public final class RunningWorkIndex {
    private final SortedMap<PoolId, SortedMap<QuotaPath, SortedSet<EvictionUnit>>> running = new TreeMap<>();

    private final Map<PoolId, Map<QuotaPath, CandidatesOfGroup>> ofGroups = new HashMap<>();

    /** The indexes by node of those pools for which they were requested; kept up to date from then on. */
    private final Map<PoolId, NodeIndexes> byNode = new HashMap<>();

    /** The units that may be evicted, and the workloads that may be moved as a whole. */
    private static final class NodeIndexes {
        private final UnitsByNode evictable = new UnitsByNode();
        private final UnitsByNode movable = new UnitsByNode();
        private final Map<QuotaPath, SortedSet<EvictionUnit>> movableOfGroup = new HashMap<>();

        void add(EvictionCandidate evictionCandidate) {
            EvictionUnit.of(evictionCandidate)
                    .forEach(evictionUnit -> evictable.add(evictionUnit, evictionUnit.concernedNodes()));
            EvictionUnit whole = EvictionUnit.whole(evictionCandidate);
            if (evictionCandidate.isComplete() && !whole.nodes().isEmpty()) {
                movable.add(whole, whole.nodes());
                movableOfGroup
                        .computeIfAbsent(
                                evictionCandidate.booking().path(), group -> new TreeSet<>(EvictionUnit.FIRST_TO_GO))
                        .add(whole);
            }
        }

        void remove(EvictionCandidate evictionCandidate) {
            EvictionUnit.of(evictionCandidate)
                    .forEach(evictionUnit -> evictable.remove(evictionUnit, evictionUnit.concernedNodes()));
            EvictionUnit whole = EvictionUnit.whole(evictionCandidate);
            movable.remove(whole, whole.nodes());
            SortedSet<EvictionUnit> ofGroup =
                    movableOfGroup.get(evictionCandidate.booking().path());
            if (ofGroup != null) {
                ofGroup.remove(whole);
            }
        }
    }

    /** The eviction units in a pool, by group, in the order of eviction. */
    public SortedMap<QuotaPath, SortedSet<EvictionUnit>> running(PoolId pool) {
        return running.getOrDefault(pool, Collections.emptySortedMap());
    }

    /** The running workloads of one group. The object stays the same while workloads start and end. */
    public CandidatesOfGroup running(PoolId pool, QuotaPath path) {
        return ofGroups.computeIfAbsent(pool, id -> new HashMap<>())
                .computeIfAbsent(path, group -> new CandidatesOfGroup());
    }

    /** The workloads of a pool that may be moved, each as a whole. */
    public UnitsByNode movables(PoolId pool) {
        return indexes(pool).movable;
    }

    /** The workloads of a group in a pool that may be moved, each as a whole; null if there are none. */
    public @Nullable SortedSet<EvictionUnit> movables(PoolId pool, QuotaPath path) {
        return indexes(pool).movableOfGroup.get(path);
    }

    /** The eviction units of a pool by node. */
    public UnitsByNode byNode(PoolId pool) {
        return indexes(pool).evictable;
    }

    /** Records that room has come free beside the running work on the nodes of an allocation. */
    public void recordFreed(Allocation allocation) {
        NodeIndexes ofPool = byNode.get(allocation.pool());
        if (ofPool == null) {
            return;
        }
        for (Allocation.Worker worker : allocation.workers()) {
            if (worker.place() instanceof Allocation.Place.OnNode on) {
                ofPool.evictable.on(on.node()).keySet().forEach(path -> running(allocation.pool(), path)
                        .recordFreed());
            }
        }
    }

    private NodeIndexes indexes(PoolId pool) {
        return byNode.computeIfAbsent(pool, id -> {
            NodeIndexes all = new NodeIndexes();
            for (SortedSet<EvictionUnit> ofGroup : running(pool).values()) {
                ofGroup.stream()
                        .filter(EvictionUnit::gangCore)
                        .map(EvictionUnit::candidate)
                        .forEach(all::add);
            }
            return all;
        });
    }

    public void add(EvictionCandidate evictionCandidate) {
        QuotaPath path = evictionCandidate.booking().path();
        PoolId pool = evictionCandidate.allocation().pool();
        CandidatesOfGroup ofGroup = running(pool, path);
        if (ofGroup.isEmpty()) {
            running.computeIfAbsent(pool, id -> new TreeMap<>()).put(path, ofGroup.units());
        }
        ofGroup.add(evictionCandidate);
        NodeIndexes ofPool = byNode.get(pool);
        if (ofPool != null) {
            ofPool.add(evictionCandidate);
        }
    }

    /** Undoes {@link #add}. */
    public void remove(EvictionCandidate evictionCandidate) {
        QuotaPath path = evictionCandidate.booking().path();
        PoolId pool = evictionCandidate.allocation().pool();
        CandidatesOfGroup ofGroup = running(pool, path);
        ofGroup.remove(evictionCandidate);
        if (ofGroup.isEmpty()) {
            running(pool).remove(path);
        }
        NodeIndexes ofPool = byNode.get(pool);
        if (ofPool != null) {
            ofPool.remove(evictionCandidate);
        }
    }
}
