package io.quartermaster.engine.model;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * All that an engine knows, in an order that depends on nothing but what it knows.
 *
 * @param facts the changes that would build it again
 * @param waits the reasons it gave last
 * @param stops how often each workload was told to stop, and got something again, since there was news
 */
public record Snapshot(
        Settings settings, List<Change> facts, List<WaitReasons> waits, SortedMap<WorkloadId, Integer> stops) {

    public Snapshot {
        facts = List.copyOf(facts);
        waits = List.copyOf(waits);
        stops = Collections.unmodifiableSortedMap(new TreeMap<>(stops));
    }
}
