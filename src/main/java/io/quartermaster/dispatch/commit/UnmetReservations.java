package io.quartermaster.dispatch.commit;

import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemTransaction;
import io.quartermaster.workloads.WorkloadState;
import io.vertx.mutiny.sqlclient.Row;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;

/**
 * The part of the tenants' reservations that is requested and not honoured. It is caused by waiting workloads that
 * would be within their tenant's reserved amount in a pool. The pool has no room for them, because running workloads
 * cannot be stopped. A workload that only waits for its victims to stop is honoured. A workload that its own group's
 * rules keep from starting requests nothing; neither does a workload in a held queue.
 *
 * <p>Of several workloads, the first in scheduling order count, as far as they fit into the reservation together. Each
 * counts in one pool: the first in its order that owes it room. The class receives the complete state as it changes;
 * {@link #changed} returns the levels that the ledger does not have yet.
 */
public final class UnmetReservations {

    /** From now on, this amount of the tenant's reservation in the pool is requested and not honoured. */
    public record Level(TenantId tenant, UUID pool, long gpuMilli) {}

    private static final Comparator<Waiting> FIRST_IN_LINE = Comparator.<Waiting>comparingInt(
                    waiting -> -waiting.priority())
            .thenComparing(waiting -> !waiting.atHead())
            .thenComparingLong(Waiting::place)
            .thenComparingLong(Waiting::sequence)
            .thenComparing(Waiting::id);

    private record Waiting(
            UUID id, int priority, boolean atHead, long place, long sequence, WorkloadRecord.Terms terms) {}

    private record Held(UUID pool, long gpuMilli) {}

    private static final class OfTenant {
        private Map<UUID, Long> reserved = Map.of();
        /** The pools with a fence, by policy. */
        private Map<UUID, Set<UUID>> fenced = Map.of();

        private final Map<UUID, Held> held = new HashMap<>();
        private final Map<UUID, Long> used = new HashMap<>();
        private final Map<UUID, Waiting> waiting = new HashMap<>();
        /** The waiting workloads for which some pool has no room, in scheduling order. */
        private final SortedSet<Waiting> line = new TreeSet<>(FIRST_IN_LINE);

        private final SortedMap<UUID, Long> told = new TreeMap<>();
    }

    private final Function<PoolId, UUID> pools;
    private final SortedMap<TenantId, OfTenant> tenants = new TreeMap<>();
    private final Map<UUID, TenantId> tenantOf = new HashMap<>();
    /** By waiting workload: the pools without room for it, in its order; never empty. */
    private final Map<UUID, List<UUID>> roomless = new HashMap<>();

    private final SortedSet<TenantId> touched = new TreeSet<>();

    public UnmetReservations(Function<PoolId, UUID> pools) {
        this.pools = pools;
    }

    /** Reads the levels that the ledger received last. */
    public void load(SystemTransaction transaction) {
        for (Row row : transaction.run("""
                select distinct on (tenant_id, kind, pool_id, policy_id) tenant_id, pool_id, gpu_milli from usage_event
                 where kind = 'unmet' order by tenant_id, kind, pool_id, policy_id, seq desc
                """)) {
            told(new Level(new TenantId(row.getString("tenant_id")), row.getUUID("pool_id"), row.getLong("gpu_milli")));
        }
    }

    void told(Level level) {
        touch(level.tenant()).told.put(level.pool(), level.gpuMilli());
    }

    /**
     * @param gpuMilli the tenant's reserved amount, by pool
     * @param fences by policy, the pools in which a fence of the tenant itself keeps its workloads from reclaiming all
     *     that they otherwise could
     */
    public void reserved(TenantId tenant, Map<UUID, Long> gpuMilli, Map<UUID, List<PoolId>> fences) {
        OfTenant known = touch(tenant);
        known.reserved = Map.copyOf(gpuMilli);
        Map<UUID, Set<UUID>> fenced = new HashMap<>();
        fences.forEach((policy, names) -> {
            Set<UUID> ids = new TreeSet<>();
            names.forEach(name -> ids.add(pools.apply(name)));
            fenced.put(policy, ids);
        });
        known.fenced = fenced;
    }

    public void workload(WorkloadRecord record) {
        Optional<Held> held = record.attempt().map(attempt -> new Held(attempt.pool(), attempt.heldGpuMilli()));
        // A paused workload waits for its own node because its policy says so; other nodes may have room.
        boolean waits = held.isEmpty() && record.state() instanceof WorkloadState.Waiting && !record.isHeldInQueue();
        place(record, waits, held);
    }

    /** The workload holds this amount of the pool from now on. */
    public void holds(WorkloadRecord record, UUID pool, long gpuMilli) {
        place(record, false, Optional.of(new Held(pool, gpuMilli)));
    }

    private void place(WorkloadRecord record, boolean waits, Optional<Held> held) {
        OfTenant tenant = touch(record.tenant());
        Waiting before = tenant.waiting.remove(record.id());
        if (before != null) {
            tenant.line.remove(before);
        }
        Held heldBefore = tenant.held.remove(record.id());
        if (heldBefore != null) {
            tenant.used.merge(heldBefore.pool(), -heldBefore.gpuMilli(), Long::sum);
        }
        held.ifPresent(now -> {
            tenant.held.put(record.id(), now);
            tenant.used.merge(now.pool(), now.gpuMilli(), Long::sum);
        });
        if (waits) {
            Waiting now = new Waiting(
                    record.id(),
                    record.priority(),
                    record.atHead(),
                    record.place().orElse(Long.MAX_VALUE),
                    record.sequence(),
                    record.terms());
            tenant.waiting.put(now.id(), now);
            if (roomless.containsKey(now.id())) {
                tenant.line.add(now);
            }
            tenantOf.put(now.id(), record.tenant());
        } else {
            roomless.remove(record.id());
            tenantOf.remove(record.id());
        }
    }

    /**
     * Updates the reasons for waiting from a plan. If the plan has no reason for a workload, its previous reason still
     * holds.
     */
    public void reasons(List<WaitReasons> waits) {
        for (WaitReasons waitReasons : waits) {
            UUID id = UUID.fromString(waitReasons.workload().value());
            TenantId tenant = tenantOf.get(id);
            if (tenant != null) {
                List<UUID> without = waitReasons.perPool().stream()
                        .filter(reason -> isNoRoom(reason.code()))
                        .map(reason -> pools.apply(reason.pool()))
                        .toList();
                lineUp(touch(tenant), id, without);
            }
        }
    }

    private void lineUp(OfTenant tenant, UUID id, List<UUID> without) {
        Waiting waiting = tenant.waiting.get(id);
        if (waiting == null || without.isEmpty()) {
            roomless.remove(id);
            if (waiting != null) {
                tenant.line.remove(waiting);
            }
        } else {
            roomless.put(id, without);
            tenant.line.add(waiting);
        }
    }

    private static boolean isNoRoom(Reason.Code code) {
        return switch (code) {
            case NODES_CLOSED, HELD_FOR_OTHERS, BEHIND, NO_CAPACITY, FRAGMENTED -> true;
            case SUSPENDED,
                    NO_EXECUTOR,
                    CLOSED,
                    BUDGET,
                    NOMINATED,
                    NO_SUCH_NODE,
                    LIMIT,
                    OVER_QUOTA_OFF,
                    NOT_PREEMPTIBLE -> false;
        };
    }

    /** The levels that differ from those that the ledger received last; afterwards they count as received. */
    public List<Level> changed() {
        List<Level> changed = new ArrayList<>();
        for (TenantId id : touched) {
            OfTenant tenant = ofTenant(id);
            SortedMap<UUID, Long> now = unmet(tenant);
            tenant.told.keySet().forEach(pool -> now.putIfAbsent(pool, 0L));
            now.forEach((pool, gpuMilli) -> {
                if (!gpuMilli.equals(tenant.told.getOrDefault(pool, 0L))) {
                    changed.add(new Level(id, pool, gpuMilli));
                }
            });
            tenant.told.putAll(now);
        }
        touched.clear();
        return changed;
    }

    private SortedMap<UUID, Long> unmet(OfTenant tenant) {
        SortedMap<UUID, Long> owed = new TreeMap<>();
        tenant.reserved.forEach((pool, reserved) -> {
            long left = reserved - tenant.used.getOrDefault(pool, 0L);
            if (left > 0) {
                owed.put(pool, left);
            }
        });
        SortedMap<UUID, Long> unmet = new TreeMap<>();
        for (Waiting waiting : tenant.line) {
            if (owed.isEmpty()) {
                break;
            }
            for (UUID pool : roomless.getOrDefault(waiting.id(), List.of())) {
                long left = owed.getOrDefault(pool, 0L);
                long asked = waiting.terms().startGpuMilli(pool);
                boolean fenced = tenant.fenced
                        .getOrDefault(waiting.terms().policy(), Set.of())
                        .contains(pool);
                if (asked > 0 && asked <= left && !fenced) {
                    unmet.merge(pool, asked, Long::sum);
                    owed.put(pool, left - asked);
                    owed.remove(pool, 0L);
                    break;
                }
            }
        }
        return unmet;
    }

    private OfTenant touch(TenantId tenant) {
        touched.add(tenant);
        return ofTenant(tenant);
    }

    private OfTenant ofTenant(TenantId tenant) {
        return tenants.computeIfAbsent(tenant, id -> new OfTenant());
    }
}
