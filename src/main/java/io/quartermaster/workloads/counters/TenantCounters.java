package io.quartermaster.workloads.counters;

import io.quartermaster.platform.TenantId;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * What the leader publishes of one tenant: all counters, or those that changed.
 *
 * @param values by {@link CounterField}; absolute, zero where there is nothing any more
 * @param settled workloads that these counters carry for the first time, by queue: admission need not hold room for them any longer
 */
public record TenantCounters(
        TenantId tenant, boolean active, SortedMap<CounterField, Long> values, Map<UUID, List<UUID>> settled) {

    public TenantCounters {
        values = Collections.unmodifiableSortedMap(new TreeMap<>(values));
        settled = Map.copyOf(settled);
    }
}
