package io.quartermaster.workloads.counters;

import io.quartermaster.platform.TenantId;
import io.quartermaster.workloads.counters.CounterField.Amount;
import io.quartermaster.workloads.counters.CounterField.Measure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The leader's totals for the live counters. After each commit it receives the complete state of changed tenants,
 * policies and workloads. The newest state replaces the previous one, so repeating it changes nothing. Single-threaded.
 */
public final class LiveCounterTotals {

    private final SortedMap<TenantId, TenantTotals> tenants = new TreeMap<>();
    private final SortedSet<TenantId> changedTenants = new TreeSet<>();

    /** @param reservedMilli by pool, from the allotments */
    public void setTenant(TenantId tenant, boolean active, Map<UUID, Long> reservedMilli) {
        TenantTotals totals = markChanged(tenant);
        totals.active = active;
        totals.reserved = Map.copyOf(reservedMilli);
    }

    /**
     * @param group the policy's group; a policy also counts the policies of its subgroups
     * @param reservedMilli by pool
     */
    public void setPolicy(TenantId tenant, UUID policy, String group, Map<UUID, Long> reservedMilli) {
        markChanged(tenant).policies.put(policy, new PolicyTotals(group, Map.copyOf(reservedMilli)));
    }

    public void setWorkload(CountedWorkload workload) {
        TenantTotals totals = markChanged(workload.tenant());
        CountedWorkload before = workload.place() instanceof CountedWorkload.Place.Over
                ? totals.workloads.remove(workload.id())
                : totals.workloads.put(workload.id(), workload);
        if (before == null) {
            totals.addSettled(workload);
        } else {
            totals.add(before, -1);
        }
        totals.add(workload, 1);
    }

    /** The changes since the last call, one entry per tenant. */
    List<TenantCounters> drainChanges() {
        List<TenantCounters> changed = new ArrayList<>();
        for (TenantId tenant : changedTenants) {
            TenantTotals totals = totalsOf(tenant);
            SortedMap<CounterField, Long> now = totals.values();
            SortedMap<CounterField, Long> difference = difference(totals.published, now);
            if (!difference.isEmpty() || totals.active != totals.publishedActive || !totals.settled.isEmpty()) {
                changed.add(new TenantCounters(tenant, totals.active, difference, totals.settled));
                totals.published = now;
                totals.publishedActive = totals.active;
                totals.settled = new HashMap<>();
            }
        }
        changedTenants.clear();
        return changed;
    }

    /** The complete counters of a tenant; for its settled workloads see {@link #drainChanges()}. */
    TenantCounters allCountersOf(TenantId tenant) {
        TenantTotals totals = totalsOf(tenant);
        return new TenantCounters(tenant, totals.active, totals.values(), Map.of());
    }

    SortedSet<TenantId> tenants() {
        return new TreeSet<>(tenants.keySet());
    }

    private TenantTotals markChanged(TenantId tenant) {
        changedTenants.add(tenant);
        return totalsOf(tenant);
    }

    private TenantTotals totalsOf(TenantId tenant) {
        return tenants.computeIfAbsent(tenant, id -> new TenantTotals());
    }

    private static SortedMap<CounterField, Long> difference(
            SortedMap<CounterField, Long> before, SortedMap<CounterField, Long> now) {
        SortedMap<CounterField, Long> difference = new TreeMap<>();
        before.keySet().stream().filter(field -> !now.containsKey(field)).forEach(field -> difference.put(field, 0L));
        now.forEach((field, value) -> {
            if (!value.equals(before.get(field))) {
                difference.put(field, value);
            }
        });
        return difference;
    }

    private record PolicyTotals(String group, Map<UUID, Long> reserved) {}

    private record PolicyPool(UUID policy, UUID pool) {}

    private static final class TenantTotals {
        /** Until the tenant itself is known, no submission is admitted by these counters. */
        private boolean active;

        private Map<UUID, Long> reserved = Map.of();
        private final Map<UUID, PolicyTotals> policies = new HashMap<>();
        private final Map<UUID, CountedWorkload> workloads = new HashMap<>();
        private final Map<UUID, Long> waiting = new HashMap<>();
        private final Map<PolicyPool, Long> queuedMilli = new HashMap<>();
        private final Map<PolicyPool, Long> usedMilli = new HashMap<>();

        private SortedMap<CounterField, Long> published = new TreeMap<>();
        private boolean publishedActive;
        private Map<UUID, List<UUID>> settled = new HashMap<>();

        /** An older hold has expired by itself. */
        private static final long MAX_HOLD_MILLIS = Duration.ofMinutes(2).toMillis();

        void addSettled(CountedWorkload workload) {
            long createdMillis = workload.id().getMostSignificantBits() >>> 16;
            if (System.currentTimeMillis() - createdMillis < MAX_HOLD_MILLIS) {
                settled.computeIfAbsent(workload.queue(), queue -> new ArrayList<>())
                        .add(workload.id());
            }
        }

        void add(CountedWorkload workload, int sign) {
            switch (workload.place()) {
                case CountedWorkload.Place.Queued queued -> {
                    addTo(waiting, workload.queue(), sign);
                    for (int i = 0; i < workload.pools().size(); i++) {
                        PolicyPool where = new PolicyPool(
                                workload.policy(), workload.pools().get(i));
                        addTo(queuedMilli, where, sign * workload.gpuMilli().get(i));
                    }
                }
                case CountedWorkload.Place.Holding(UUID pool, long gpuMilli) ->
                    addTo(usedMilli, new PolicyPool(workload.policy(), pool), sign * gpuMilli);
                case CountedWorkload.Place.Over over -> {}
            }
        }

        /** All counters that are not zero. */
        SortedMap<CounterField, Long> values() {
            SortedMap<CounterField, Long> values = new TreeMap<>();
            waiting.forEach((queue, count) -> values.put(new CounterField.Waiting(queue), count));
            queuedMilli.forEach((where, milli) -> addWithAncestors(values, Measure.QUEUED, where, milli));
            usedMilli.forEach((where, milli) -> addWithAncestors(values, Measure.USED, where, milli));
            for (Map.Entry<CounterField, Long> entry : List.copyOf(values.entrySet())) {
                if (entry.getKey() instanceof Amount(Measure measure, Optional<UUID> policy, UUID pool)
                        && measure == Measure.USED) {
                    long used = entry.getValue();
                    long covered = Math.min(used, reserved(policy).getOrDefault(pool, 0L));
                    putNonZero(values, new Amount(Measure.RESERVED_USED, policy, pool), covered);
                    putNonZero(values, new Amount(Measure.OVER_QUOTA, policy, pool), used - covered);
                }
            }
            return values;
        }

        private Map<UUID, Long> reserved(Optional<UUID> policy) {
            return policy.map(id -> policies.containsKey(id) ? policies.get(id).reserved() : Map.<UUID, Long>of())
                    .orElse(reserved);
        }

        /** Adds to the tenant, to the policy, and to every policy of a group above it. */
        private void addWithAncestors(
                SortedMap<CounterField, Long> values, Measure measure, PolicyPool where, long milli) {
            values.merge(new Amount(measure, Optional.empty(), where.pool()), milli, Long::sum);
            values.merge(new Amount(measure, Optional.of(where.policy()), where.pool()), milli, Long::sum);
            PolicyTotals own = policies.get(where.policy());
            if (own == null) {
                return;
            }
            policies.forEach((id, policy) -> {
                if (own.group().startsWith(policy.group() + "/")) {
                    values.merge(new Amount(measure, Optional.of(id), where.pool()), milli, Long::sum);
                }
            });
        }

        private static <K> void addTo(Map<K, Long> sums, K key, long amount) {
            sums.merge(key, amount, (a, b) -> a + b == 0 ? null : a + b);
        }

        private static void putNonZero(SortedMap<CounterField, Long> values, CounterField field, long value) {
            if (value != 0) {
                values.put(field, value);
            }
        }
    }
}
