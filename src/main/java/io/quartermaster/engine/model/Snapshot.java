package io.quartermaster.engine.model;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Snapshot of an engine's complete state; its order depends only on that state.
 *
 * @param facts the changes that rebuild the engine
 * @param waits the reasons that the engine reported last
 * @param stops how often each workload was evicted and gained devices again, counted together, since an input last
 *     changed
 * @param searches the position of searches that continue from plan to plan
 */
public record Snapshot(
        Settings settings,
        List<Change> facts,
        List<WaitReasons> waits,
        SortedMap<WorkloadId, Integer> stops,
        SearchPosition searches) {

    public Snapshot {
        facts = List.copyOf(facts);
        waits = List.copyOf(waits);
        stops = Collections.unmodifiableSortedMap(new TreeMap<>(stops));
    }
}
