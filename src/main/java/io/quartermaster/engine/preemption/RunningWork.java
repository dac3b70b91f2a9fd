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
    private final SortedMap<PoolId, SortedMap<QuotaPath, SortedSet<Unit>>> running = new TreeMap<>();

    private final Map<PoolId, Map<QuotaPath, Runners>> ofGroups = new HashMap<>();

    /** Of pools in which somebody was to be moved; kept from then on. */
    private final Map<PoolId, Movables> movables = new HashMap<>();

    /** Who may have to give way in a pool, by group, those first who go first. */
    public SortedMap<QuotaPath, SortedSet<Unit>> running(PoolId pool) {
        return running.getOrDefault(pool, Collections.emptySortedMap());
    }

    /** The same of one group; stays the same object whoever comes and goes. */
    public Runners running(PoolId pool, QuotaPath path) {
        return ofGroups.computeIfAbsent(pool, id -> new HashMap<>()).computeIfAbsent(path, group -> new Runners());
    }

    /** Who may be moved in a pool. */
    public Movables movables(PoolId pool) {
        return movables.computeIfAbsent(pool, id -> {
            Movables all = new Movables();
            for (SortedSet<Unit> ofGroup : running(pool).values()) {
                ofGroup.stream().filter(Unit::core).map(Unit::holder).forEach(all::add);
            }
            return all;
        });
    }

    public void add(Holder holder) {
        QuotaPath path = holder.tenure().path();
        Runners ofGroup = running(holder.allocation().pool(), path);
        if (ofGroup.isEmpty()) {
            running.computeIfAbsent(holder.allocation().pool(), id -> new TreeMap<>())
                    .put(path, ofGroup.units());
        }
        ofGroup.add(holder);
        Movables ofPool = movables.get(holder.allocation().pool());
        if (ofPool != null) {
            ofPool.add(holder);
        }
    }

    /** Undoes {@link #add}. */
    public void remove(Holder holder) {
        QuotaPath path = holder.tenure().path();
        Runners ofGroup = running(holder.allocation().pool(), path);
        ofGroup.remove(holder);
        if (ofGroup.isEmpty()) {
            running(holder.allocation().pool()).remove(path);
        }
        Movables ofPool = movables.get(holder.allocation().pool());
        if (ofPool != null) {
            ofPool.remove(holder);
        }
    }
}
