package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;

/** Index of the running workloads that an eviction or a move may choose, by pool and group. */
public final class RunningWork {
    private final SortedMap<PoolId, SortedMap<QuotaPath, SortedSet<EvictionUnit>>> running = new TreeMap<>();

    private final Map<PoolId, Map<QuotaPath, CandidatesOfGroup>> ofGroups = new HashMap<>();

    /** The movable workloads of those pools for which they were requested; kept up to date from then on. */
    private final Map<PoolId, MovableCandidates> movableCandidates = new HashMap<>();

    /** The eviction units in a pool, by group, in the order of eviction. */
    public SortedMap<QuotaPath, SortedSet<EvictionUnit>> running(PoolId pool) {
        return running.getOrDefault(pool, Collections.emptySortedMap());
    }

    /** The running workloads of one group. The object stays the same while workloads start and end. */
    public CandidatesOfGroup running(PoolId pool, QuotaPath path) {
        return ofGroups.computeIfAbsent(pool, id -> new HashMap<>())
                .computeIfAbsent(path, group -> new CandidatesOfGroup());
    }

    /** The movable workloads in a pool. */
    public MovableCandidates movables(PoolId pool) {
        return movableCandidates.computeIfAbsent(pool, id -> {
            MovableCandidates all = new MovableCandidates();
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
        CandidatesOfGroup ofGroup = running(evictionCandidate.allocation().pool(), path);
        if (ofGroup.isEmpty()) {
            running.computeIfAbsent(evictionCandidate.allocation().pool(), id -> new TreeMap<>())
                    .put(path, ofGroup.units());
        }
        ofGroup.add(evictionCandidate);
        MovableCandidates ofPool =
                movableCandidates.get(evictionCandidate.allocation().pool());
        if (ofPool != null) {
            ofPool.add(evictionCandidate);
        }
    }

    /** Undoes {@link #add}. */
    public void remove(EvictionCandidate evictionCandidate) {
        QuotaPath path = evictionCandidate.booking().path();
        CandidatesOfGroup ofGroup = running(evictionCandidate.allocation().pool(), path);
        ofGroup.remove(evictionCandidate);
        if (ofGroup.isEmpty()) {
            running(evictionCandidate.allocation().pool()).remove(path);
        }
        MovableCandidates ofPool =
                movableCandidates.get(evictionCandidate.allocation().pool());
        if (ofPool != null) {
            ofPool.remove(evictionCandidate);
        }
    }
}
