package io.quartermaster.workloads.counters;

import io.quartermaster.platform.TenantId;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The counters of one tenant that the leader publishes: all of them, or those that changed.
 *
 * @param values by {@link CounterField}; absolute values, including 0
 * @param settled workloads that these counters include for the first time, by queue: admission no longer needs to hold
 *     room for them
 */
public record TenantCounters(
        TenantId tenant, boolean active, SortedMap<CounterField, Long> values, Map<UUID, List<UUID>> settled) {

    public TenantCounters {
        values = Collections.unmodifiableSortedMap(new TreeMap<>(values));
        settled = Map.copyOf(settled);
    }
}
