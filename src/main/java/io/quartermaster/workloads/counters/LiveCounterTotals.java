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

    private final SortedMap<TenantId, OfTenant> tenants = new TreeMap<>();
    private final SortedSet<TenantId> touched = new TreeSet<>();

    /** @param reservedMilli by pool, from the allotments */
    public void tenant(TenantId tenant, boolean active, Map<UUID, Long> reservedMilli) {
        OfTenant of = touch(tenant);
        of.active = active;
        of.reserved = Map.copyOf(reservedMilli);
    }

    /**
     * @param group the policy's group; a policy also counts the policies of its subgroups
     * @param reservedMilli by pool
     */
    public void policy(TenantId tenant, UUID policy, String group, Map<UUID, Long> reservedMilli) {
        touch(tenant).policies.put(policy, new OfPolicy(group, Map.copyOf(reservedMilli)));
    }

    public void workload(CountedWorkload workload) {
        OfTenant of = touch(workload.tenant());
        CountedWorkload before = workload.place() instanceof CountedWorkload.Place.Over
                ? of.workloads.remove(workload.id())
                : of.workloads.put(workload.id(), workload);
        if (before == null) {
            of.settle(workload);
        } else {
            of.add(before, -1);
        }
        of.add(workload, 1);
    }

    /** The changes since the last call, one entry per tenant. */
    List<TenantCounters> changed() {
        List<TenantCounters> changed = new ArrayList<>();
        for (TenantId tenant : touched) {
            OfTenant of = ofTenant(tenant);
            SortedMap<CounterField, Long> now = of.values();
            SortedMap<CounterField, Long> difference = difference(of.told, now);
            if (!difference.isEmpty() || of.active != of.toldActive || !of.settled.isEmpty()) {
                changed.add(new TenantCounters(tenant, of.active, difference, of.settled));
                of.told = now;
                of.toldActive = of.active;
                of.settled = new HashMap<>();
            }
        }
        touched.clear();
        return changed;
    }

    /** The complete counters of a tenant; for its settled workloads see {@link #changed()}. */
    TenantCounters whole(TenantId tenant) {
        OfTenant of = ofTenant(tenant);
        return new TenantCounters(tenant, of.active, of.values(), Map.of());
    }

    SortedSet<TenantId> tenants() {
        return new TreeSet<>(tenants.keySet());
    }

    private OfTenant touch(TenantId tenant) {
        touched.add(tenant);
        return ofTenant(tenant);
    }

    private OfTenant ofTenant(TenantId tenant) {
        return tenants.computeIfAbsent(tenant, id -> new OfTenant());
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

    private record OfPolicy(String group, Map<UUID, Long> reserved) {}

    private record PolicyPool(UUID policy, UUID pool) {}

    private static final class OfTenant {
        /** Until the tenant itself is known, no submission is admitted by these counters. */
        private boolean active;

        private Map<UUID, Long> reserved = Map.of();
        private final Map<UUID, OfPolicy> policies = new HashMap<>();
        private final Map<UUID, CountedWorkload> workloads = new HashMap<>();
        private final Map<UUID, Long> waiting = new HashMap<>();
        private final Map<PolicyPool, Long> queuedMilli = new HashMap<>();
        private final Map<PolicyPool, Long> usedMilli = new HashMap<>();

        private SortedMap<CounterField, Long> told = new TreeMap<>();
        private boolean toldActive;
        private Map<UUID, List<UUID>> settled = new HashMap<>();

        /** An older hold has expired by itself. */
        private static final long HOLD_MILLIS = Duration.ofMinutes(2).toMillis();

        void settle(CountedWorkload workload) {
            long madeMillis = workload.id().getMostSignificantBits() >>> 16;
            if (System.currentTimeMillis() - madeMillis < HOLD_MILLIS) {
                settled.computeIfAbsent(workload.queue(), queue -> new ArrayList<>())
                        .add(workload.id());
            }
        }

        void add(CountedWorkload workload, int sign) {
            switch (workload.place()) {
                case CountedWorkload.Place.Queued queued -> {
                    sum(waiting, workload.queue(), sign);
                    for (int i = 0; i < workload.pools().size(); i++) {
                        PolicyPool where = new PolicyPool(
                                workload.policy(), workload.pools().get(i));
                        sum(queuedMilli, where, sign * workload.gpuMilli().get(i));
                    }
                }
                case CountedWorkload.Place.Holding(UUID pool, long gpuMilli) ->
                    sum(usedMilli, new PolicyPool(workload.policy(), pool), sign * gpuMilli);
                case CountedWorkload.Place.Over over -> {}
            }
        }

        /** All counters that are not zero. */
        SortedMap<CounterField, Long> values() {
            SortedMap<CounterField, Long> values = new TreeMap<>();
            waiting.forEach((queue, count) -> values.put(new CounterField.Waiting(queue), count));
            queuedMilli.forEach((where, milli) -> upwards(values, Measure.QUEUED, where, milli));
            usedMilli.forEach((where, milli) -> upwards(values, Measure.USED, where, milli));
            for (Map.Entry<CounterField, Long> entry : List.copyOf(values.entrySet())) {
                if (entry.getKey() instanceof Amount(Measure measure, Optional<UUID> policy, UUID pool)
                        && measure == Measure.USED) {
                    long used = entry.getValue();
                    long covered = Math.min(used, reserved(policy).getOrDefault(pool, 0L));
                    put(values, new Amount(Measure.RESERVED_USED, policy, pool), covered);
                    put(values, new Amount(Measure.OVER_QUOTA, policy, pool), used - covered);
                }
            }
            return values;
        }

        private Map<UUID, Long> reserved(Optional<UUID> policy) {
            return policy.map(id -> policies.containsKey(id) ? policies.get(id).reserved() : Map.<UUID, Long>of())
                    .orElse(reserved);
        }

        /** Adds to the tenant, to the policy, and to every policy of a group above it. */
        private void upwards(SortedMap<CounterField, Long> values, Measure measure, PolicyPool where, long milli) {
            values.merge(new Amount(measure, Optional.empty(), where.pool()), milli, Long::sum);
            values.merge(new Amount(measure, Optional.of(where.policy()), where.pool()), milli, Long::sum);
            OfPolicy own = policies.get(where.policy());
            if (own == null) {
                return;
            }
            policies.forEach((id, policy) -> {
                if (own.group().startsWith(policy.group() + "/")) {
                    values.merge(new Amount(measure, Optional.of(id), where.pool()), milli, Long::sum);
                }
            });
        }

        private static <K> void sum(Map<K, Long> sums, K key, long amount) {
            sums.merge(key, amount, (a, b) -> a + b == 0 ? null : a + b);
        }

        private static void put(SortedMap<CounterField, Long> values, CounterField field, long value) {
            if (value != 0) {
                values.put(field, value);
            }
        }
    }
}
